"""`npbert examples`: what the commands of docs/commands.md read."""

from pathlib import Path

import pytest

pytest.importorskip("tomlkit", reason="tomlkit is not installed: pip install -e '.[train]'")
BLOCK = "--steps 1 --batch-size 4 --log-every 1"


def test_a_model_learns_from_them(npbert, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("npbert.training.session.draw_curves", lambda *_: None)
    Path("dev.tsv").write_text("question\tWho?\nstatement\tI.\n", encoding="utf-8")
    written = npbert("examples", ".")
    assert (written.status, set(written.out.decode().split())) == (
        0, {"books/one.txt", "books/two.txt", "held-out.txt", "train.tsv", "dev.tsv", "sentences.txt"},
    )  # fmt: skip
    assert Path("dev.tsv").read_text(encoding="utf-8").startswith("question\tWho?"), "it stays as it is"
    assert npbert("vocab", "books", "--output", "vocabulary").status == 0
    pretrain = f"pretrain run --corpus books --held-out held-out.txt --vocabulary vocabulary --model bert-tiny {BLOCK}"
    assert npbert(*pretrain.split()).err == "", "no passage is in both"
    finetune = f"finetune classifier --model run/model --train train.tsv --held-out dev.tsv --text 1 --label 0 {BLOCK}"
    assert "labels: question, statement" in npbert(*finetune.split()).out.decode()


def test_a_vocabulary_that_knows_no_word_of_the_corpus(npbert, here):
    Path("corpus.txt").write_text("zebras graze\n\nzebras run\n", encoding="utf-8")
    options = "--model checkpoint --max-length 20"
    result = npbert(*f"pretrain run --corpus corpus.txt --vocabulary checkpoint {options}".split())
    assert result.error.startswith("--vocabulary is 'checkpoint', wanted a vocabulary with words of the corpus")
    assert not Path("run").exists()


def test_of_a_checkpoint_that_takes_less_than_is_usual_all_is_taken(npbert, here):
    """The smaller length is taken, and said, unless a length was asked for."""
    finetune = ("finetune", "run", "--model", "checkpoint", "--train", "train.tsv", "--steps", 1)
    assert "--max-length is 99, wanted at most" in npbert(*finetune, "--max-length", 99).err
    result = npbert(*finetune)
    assert (result.status, "the most tokens that the model takes" in result.err) == (0, True)
