"""A run that is stopped, or killed, at any step and goes on ends as one that was not: byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npbert import BertForPreTraining, Tokenizer
from npbert.data.corpus import Corpus
from npbert.data.pretraining_data import PretrainingData
from npbert.training.log import METRICS_FILE, read_metrics
from npbert.training.pretrain import evaluate_losses
from npbert.training.state import STATE_FILE
from npbert.training.trainer import Goal, Trainer
from tests.training.tiny import (
    StopsAt,
    classifier,
    collate,
    examples,
    make_trainer,
    results,
    task_data,
    tiny_config,
    train_and_stop,
    write_checkpoint,
    write_corpus,
)

STEPS = 12
SETTINGS = {"steps": STEPS, "save_every": 3, "evaluate_every": 4, "log_every": 2, "parts": 2}


@pytest.fixture(autouse=True)
def no_picture(monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)


class Kind:
    """A kind of run: with a fresh model each time, dropout, an evaluation, and an epoch of five batches."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.data = name, task_data()
        if name == "pre-training":
            tokenizer = Tokenizer.from_pretrained(write_checkpoint(folder / "checkpoint"))
            corpus = Corpus([write_corpus(folder / "corpus.txt", documents=5)])
            self.data = PretrainingData(corpus, tokenizer, batch_size=4, max_length=20, pieces_at_once=2)

    def trainer(self, folder: Path, data: Any = None) -> Trainer:
        if self.name == "pre-training":
            model: Any = BertForPreTraining(tiny_config(), rng=np.random.default_rng(2))
            kinds: tuple[str, ...] = ("mlm", "nsp")
            held_out = [batch for _, batch in self.data.batches(9)][:2]
        else:
            model, kinds, held_out = classifier(), ("",), [collate(examples(8, seed=9))]
        return make_trainer(
            folder,
            data=data or self.data,
            model=model,
            kinds=kinds,
            evaluate=lambda: evaluate_losses(model, held_out, kinds),
            goal=Goal("loss", more_is_better=False),
            **SETTINGS,
        )


@pytest.fixture(scope="module", params=["pre-training", "fine-tuning"])
def kind(request, tmp_path_factory):
    return Kind(request.param, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def wanted(kind, tmp_path_factory):
    """The files of a run that was never stopped, in which an epoch ends and a new best model is found twice."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)
        trainer = kind.trainer(folder)
        trainer.train()
    assert 1 <= trainer.progress.epoch <= 4
    assert [row["step"] for row in read_metrics(folder / METRICS_FILE)] == [2, 4, 4, 6, 8, 8, 10, 12, 12]
    return results(folder)


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_stopped_at_a_step(kind, wanted, tmp_path, step):
    trainer = kind.trainer(tmp_path, StopsAt(kind.data, step, kill=False))
    train_and_stop(trainer)
    assert trainer.step == step, "the step in progress is finished, and no other is begun"
    assert (tmp_path / STATE_FILE).is_file()
    resumed = kind.trainer(tmp_path)
    resumed.train()
    assert results(tmp_path) == wanted


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_killed_in_a_step(kind, wanted, tmp_path, step):
    trainer = kind.trainer(tmp_path, StopsAt(kind.data, step, kill=True))
    train_and_stop(trainer)
    assert (tmp_path / STATE_FILE).is_file() == (step > 3)
    kind.trainer(tmp_path).train()
    assert results(tmp_path) == wanted


def test_stopped_again_and_again(kind, wanted, tmp_path):
    for stop in range(STEPS):
        train_and_stop(kind.trainer(tmp_path, StopsAt(kind.data, 1, kill=False)))
        assert kind.trainer(tmp_path).step == 0, "making a Trainer loads nothing"
        steps = [row["step"] for row in read_metrics(tmp_path / METRICS_FILE)]
        assert max(steps, default=0) <= stop + 1
    assert results(tmp_path) == wanted


def test_another_seed_ends_elsewhere(kind, wanted, tmp_path):
    """The state holds the generator: what a resumed run was made with does not matter, and without it, it would."""
    trainer = kind.trainer(tmp_path / "a", StopsAt(kind.data, 5, kill=False))
    train_and_stop(trainer)
    resumed = kind.trainer(tmp_path / "a")
    resumed.rng.random(7)
    resumed.train()
    assert results(tmp_path / "a") == wanted
    other = kind.trainer(tmp_path / "b")
    other.rng.random(7)
    other.train()
    assert results(tmp_path / "b") != wanted


def test_the_state_of_another_model_stops_it(kind, wanted, tmp_path):
    train_and_stop(kind.trainer(tmp_path, StopsAt(kind.data, 4, kill=False)))
    other = make_trainer(tmp_path, model=classifier(intermediate_size=16), **SETTINGS)
    with pytest.raises(ValueError, match=r"state.safetensors is the state of another model or optimiser"):
        other.train()
