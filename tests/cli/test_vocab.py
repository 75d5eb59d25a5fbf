"""`npbert vocab`."""

import re

import pytest

from npbert import Tokenizer
from npbert.cli import main

pytest.importorskip("tokenizers", reason="tokenizers is not installed: in npbert's folder, pip install '.[hf]'")

TEXT = "The Café sat on the mat.\nthe café ran\n" * 5


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    paths[0].write_text(TEXT, encoding="utf-8")
    paths[1].write_text("dog dog\r\ndog once\r\n", encoding="utf-8", newline="")
    return paths


def tokens(folder):
    tokenizer = Tokenizer.from_pretrained(folder)
    return tokenizer.decode(range(len(tokenizer)))


def test_vocab(npbert, files, tmp_path):
    folder = tmp_path / "new" / "folder"
    status, out, err = npbert("vocab", *files, "--output", folder)
    learned = tokens(folder)
    assert (status, out.decode(), err) == (0, f"{len(learned)} tokens, from 2 files, in {folder}\n", "")
    assert {"the", "cafe", "dog"} <= set(learned)
    assert not {"The", "Café", "once"} & set(learned)
    assert (folder / "vocab.txt").read_text(encoding="utf-8").splitlines() == learned


def test_a_folder(npbert, files, tmp_path):
    (tmp_path / "notes.md").write_text("zebra zebra\n", encoding="utf-8")
    status, out, _ = npbert("vocab", tmp_path, "--output", tmp_path / "a")
    assert status == 0
    assert b"from 2 files" in out
    assert npbert("vocab", *files, "--output", tmp_path / "b").status == 0
    assert tokens(tmp_path / "a") == tokens(tmp_path / "b")
    (tmp_path / "empty").mkdir()
    status, _, err = npbert("vocab", tmp_path / "empty", "--output", tmp_path / "c")
    assert (status, err) == (1, f"npbert: error: {tmp_path}/empty is a folder without .txt files\n")


def test_options(npbert, files, tmp_path):
    assert npbert("vocab", *files, "--output", tmp_path / "cased", "--cased", "--min-frequency", 1).status == 0
    assert {"The", "the", "Café", "once"} <= set(tokens(tmp_path / "cased"))
    assert Tokenizer.from_pretrained(tmp_path / "cased").encode(["The"])[0].tokens == ["[CLS]", "The", "[SEP]"]
    assert npbert("vocab", *files, "--output", tmp_path / "small", "--size", 36).status == 0
    assert len(tokens(tmp_path / "small")) == 36


def test_twice_the_same(npbert, files, tmp_path):
    for name in ("a", "b"):
        npbert("vocab", *files, "--output", tmp_path / name)
    for file in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_what_is_written_can_be_used(npbert, files, tmp_path):
    """A new tokenizer takes the place of an old one, without a rest of it."""
    for size in (60, 40):
        assert npbert("vocab", *files, "--output", tmp_path, "--size", size).status == 0
    assert len(tokens(tmp_path)) == 40
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".txt") == [
        "tokenizer.json", "tokenizer_config.json"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", " is empty: there is nothing to learn from"),
        (b"cat\n\xff", ", line 2: byte 4 (0xff) is not UTF-8"),
        (None, ": No such file or directory"),
    ],
)
def test_a_bad_file(npbert, files, tmp_path, content, message):
    bad = tmp_path / "bad.txt"
    if content is not None:
        bad.write_bytes(content)
    result = npbert("vocab", files[0], bad, "--output", tmp_path / "out")
    assert result == (1, b"", f"npbert: error: {bad}{message}\n")
    assert not (tmp_path / "out").exists()


def test_other_errors(npbert, files, tmp_path):
    result = npbert("vocab", *files, "--output", tmp_path / "out", "--size", 20)
    assert re.fullmatch(r"npbert: error: vocab_size is 20, wanted at least \d\d: 5 special tokens.*\n", result.err)
    assert (result.status, result.out) == (1, b"")
    result = npbert("vocab", *files, "--output", files[0])
    assert result == (1, b"", f"npbert: error: {files[0]}: File exists\n")
    assert files[0].read_text(encoding="utf-8") == TEXT
    result = npbert("vocab", *files, "--output", files[0] / "folder")
    assert result == (1, b"", f"npbert: error: {files[0] / 'folder'}: Not a directory\n")


def test_the_vocabulary_of_a_checkpoint_is_not_replaced(tmp_path, capsys):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "text").write_text("some words")
    assert main(["vocab", str(tmp_path / "text"), "--output", str(tmp_path)]) == 1
    assert "holds a checkpoint, whose vocabulary must stay as it is" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "text"]
