"""A run that is stopped, or killed, at any step and goes on ends as one that was not: byte for byte."""

import contextlib
import signal

import pytest

from npbert.rows import METRICS_FILE, read_rows
from npbert.training.goal import Goal
from npbert.training.pretrain import evaluate_losses
from npbert.training.state import STATE_FILE
from tests.training.tiny import classifier, collate, examples, make_trainer, results, task_data

STEPS = 8
SETTINGS = {"steps": STEPS, "save_every": 3, "evaluate_every": 4, "log_every": 3, "parts": 2}


def kill():
    """Stands for a kill: nothing is saved."""
    raise ConnectionAbortedError


STOPS = {"stopped": lambda: signal.raise_signal(signal.SIGINT), "killed": kill}


def make(folder, step=0, how="stopped"):
    """A run with a fresh model, dropout and an evaluation, perhaps stopped before a step; an epoch has 5 of them."""
    model, held_out = classifier(), [collate(examples(8, seed=9))]
    data, goal = task_data(step, STOPS[how]), Goal("loss")
    options = {"data": data, "model": model, "evaluate": lambda: evaluate_losses(model, held_out, ("",)), "goal": goal}
    return make_trainer(folder, **options, **SETTINGS)


def train_and_stop(trainer):
    with contextlib.suppress(ConnectionAbortedError, KeyboardInterrupt):
        trainer.train()


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """The files of a run that was never stopped, in which an epoch ends."""
    folder = tmp_path_factory.mktemp("whole")
    make(folder).train()
    assert [row["step"] for row in read_rows(folder / METRICS_FILE)] == [3, 4, 6, 8, 8]
    return results(folder)


@pytest.mark.parametrize("step", range(1, STEPS + 1))
@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_run_goes_on_where_it_was(wanted, tmp_path, how, step):
    trainer = make(tmp_path, step, how)
    train_and_stop(trainer)
    assert trainer.step == (step if how == "stopped" else step - 1), "the step in progress is finished, and no other"
    assert (tmp_path / STATE_FILE).is_file() == (how == "stopped" or step > 3)
    make(tmp_path).train()
    assert results(tmp_path) == wanted


def test_stopped_again_and_again(wanted, tmp_path, capsys):
    for stop in range(STEPS):
        train_and_stop(make(tmp_path, 1, "stopped"))
        assert make(tmp_path).step == 0, "making a Trainer loads nothing"
        steps = [row["step"] for row in read_rows(tmp_path / METRICS_FILE)]
        assert max(steps, default=0) <= stop + 1
    assert "step 8 of 8: loss" in capsys.readouterr().out
    assert results(tmp_path) == wanted


def test_the_state_holds_the_generator(wanted, tmp_path):
    """What a resumed run was made with does not matter, and without the state, it would."""
    train_and_stop(make(tmp_path / "a", 5, "stopped"))
    for folder, is_the_same in (("a", True), ("b", False)):
        trainer = make(tmp_path / folder)
        trainer.rng.random(7)
        trainer.train()
        assert (results(tmp_path / folder) == wanted) == is_the_same
