"""The README's examples, run as they stand there."""

import re
from pathlib import Path

import numpy as np
import pytest

from npbert import BertConfig, BertForPreTraining, BertForQuestionAnswering
from npbert.data import Tokenizer

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "npbert"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run_example(kind):
    (code,) = re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})


def test_the_example_trains(capsys):
    run_example("python")
    losses = [float(loss) for loss in re.findall(r"MLM loss (\d+\.\d+)", capsys.readouterr().out)]
    assert len(losses) == 10
    assert losses[-1] < losses[0] - 1


def test_the_example_with_checkpoints(tmp_path, monkeypatch, capsys):
    for library in ("safetensors", "tokenizers"):
        pytest.importorskip(library, reason="pip install 'npbert[hf]'")
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("the man went to the store. it was written by ada in 1843. or a pair of texts.\n" * 3)
    tokenizer = Tokenizer.train(["text"], vocab_size=200)
    config = BertConfig.preset("bert-tiny", vocab_size=len(tokenizer))
    for folder, model_class in (("bert-folder", BertForPreTraining), ("squad-folder", BertForQuestionAnswering)):
        tokenizer.save_pretrained(folder)
        model_class(config, rng=np.random.default_rng(0)).save_pretrained(folder)
    with pytest.warns(UserWarning, match=r"new: classifier\.weight, classifier\.bias"):
        run_example("python hf")
    assert "score" in capsys.readouterr().out
    assert Path("new-folder", "model.safetensors").is_file()


def test_the_example_that_trains_a_classifier(tmp_path, monkeypatch, capsys):
    for library in ("safetensors", "tokenizers", "tensorboard", "matplotlib", "tomlkit"):
        pytest.importorskip(library, reason="pip install 'npbert[train]'")
    monkeypatch.chdir(tmp_path)
    Path("train.tsv").write_text("good\tthe man went to the store .\nbad\tstore the to went .\n" * 4)
    Path("dev.tsv").write_text("bad\tto man the .\ngood\tthe man went .\n")
    tokenizer = Tokenizer.train(["train.tsv"], vocab_size=100)
    tokenizer.save_pretrained("run/model")
    config = BertConfig.preset("bert-tiny", vocab_size=len(tokenizer))
    BertForPreTraining(config, rng=np.random.default_rng(0)).save_pretrained("run/model")
    with pytest.warns(UserWarning, match="new: classifier"):
        run_example("python train")
    assert "'accuracy'" in capsys.readouterr().out
    assert Path("another-classifier", "model", "model.safetensors").is_file()


@pytest.mark.parametrize("folder", ["layers", "models", "optim", "data", "inference", "gradcheck"])
def test_the_reading_order_has_every_file(folder):
    (entry,) = re.findall(rf"├── {folder}/(.*?)├──", README, re.DOTALL)
    files = {path.stem for path in PACKAGE.joinpath(folder).glob("*.py")} - {"__init__"}
    assert files and files <= set(re.findall(r"\w+", entry))


def test_it_is_short():
    assert len(README.splitlines()) < 140
