"""A run that is stopped, or killed, at any step and goes on ends as one that was not: byte for byte."""

import contextlib
import signal

import numpy as np
import pytest

from npbert import BertForPreTraining, Tokenizer
from npbert.data.corpus import Corpus
from npbert.data.pretraining_data import PretrainingData
from npbert.training.log import METRICS_FILE, read_metrics
from npbert.training.pretrain import evaluate_losses
from npbert.training.state import STATE_FILE
from npbert.training.trainer import Goal
from tests.training.tiny import TINY, classifier, collate, examples, make_trainer, results, task_data
from tests.training.tiny import write_checkpoint, write_corpus

STEPS = 8
SETTINGS = {"steps": STEPS, "save_every": 3, "evaluate_every": 4, "log_every": 2, "parts": 2}


class KilledError(Exception):
    """Stands for a kill: nothing is saved."""


class StopsAt:
    """The batches of `data`, until number `step` of this process, from 1 on: there it is asked to stop, or killed."""

    def __init__(self, data, step, how):
        self.data, self.left, self.how = data, step, how

    def batches(self, *where):
        for place, batch in self.data.batches(*where):
            self.left -= 1
            if self.left == 0 and self.how == "killed":
                raise KilledError
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)
            yield place, batch


@pytest.fixture(scope="module", params=["pre-training", "fine-tuning"])
def make(request, tmp_path_factory):
    """A run, perhaps one that is stopped: with a fresh model, dropout, an evaluation, and epochs of 5 or 6 steps."""
    if request.param == "pre-training":
        folder = tmp_path_factory.mktemp("data")
        tokenizer = Tokenizer.from_pretrained(write_checkpoint(folder / "checkpoint"))
        corpus = Corpus([write_corpus(folder / "corpus.txt", documents=5)])
        data = PretrainingData(corpus, tokenizer, batch_size=3, max_length=20, pieces_at_once=2)
        kinds, held_out = ("mlm", "nsp"), [batch for _, batch in data.batches(9)][:2]
    else:
        data, kinds, held_out = task_data(), ("",), [collate(examples(8, seed=9))]

    def make(folder, *stop):
        is_two = len(kinds) == 2
        model = BertForPreTraining(TINY, rng=np.random.default_rng(2)) if is_two else classifier()
        return make_trainer(
            folder,
            data=StopsAt(data, *stop) if stop else data,
            model=model,
            kinds=kinds,
            evaluate=lambda: evaluate_losses(model, held_out, kinds),
            goal=Goal("loss", more_is_better=False),
            **SETTINGS,
        )

    return make


@pytest.fixture(scope="module")
def wanted(make, tmp_path_factory):
    """The files of a run that was never stopped, in which an epoch ends."""
    folder = tmp_path_factory.mktemp("whole")
    trainer = make(folder)
    trainer.train()
    assert trainer.progress.epoch == 1
    assert [row["step"] for row in read_metrics(folder / METRICS_FILE)] == [2, 4, 4, 6, 8, 8]
    return results(folder)


def train_and_stop(trainer):
    with contextlib.suppress(KilledError, KeyboardInterrupt):
        trainer.train()


@pytest.mark.parametrize("step", range(1, STEPS + 1))
@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_run_goes_on_where_it_was(make, wanted, tmp_path, how, step):
    trainer = make(tmp_path, step, how)
    train_and_stop(trainer)
    assert trainer.step == (step if how == "stopped" else step - 1), "the step in progress is finished, and no other"
    assert (tmp_path / STATE_FILE).is_file() == (how == "stopped" or step > 3)
    make(tmp_path).train()
    assert results(tmp_path) == wanted


def test_stopped_again_and_again(make, wanted, tmp_path):
    for stop in range(STEPS):
        train_and_stop(make(tmp_path, 1, "stopped"))
        assert make(tmp_path).step == 0, "making a Trainer loads nothing"
        steps = [row["step"] for row in read_metrics(tmp_path / METRICS_FILE)]
        assert max(steps, default=0) <= stop + 1
    assert results(tmp_path) == wanted


def test_the_state_holds_the_generator(make, wanted, tmp_path):
    """What a resumed run was made with does not matter, and without the state, it would."""
    train_and_stop(make(tmp_path / "a", 5, "stopped"))
    for folder, is_the_same in (("a", True), ("b", False)):
        trainer = make(tmp_path / folder)
        trainer.rng.random(7)
        trainer.train()
        assert (results(tmp_path / folder) == wanted) == is_the_same


def test_the_state_of_another_model_stops_it(tmp_path):
    make_trainer(tmp_path, **SETTINGS).train()
    with pytest.raises(ValueError, match=r"state.safetensors is the state of another model or optimiser"):
        make_trainer(tmp_path, model=classifier(intermediate_size=16), **SETTINGS).train()
