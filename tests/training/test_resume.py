"""A run that is stopped, or killed, at any step and goes on ends as one that was not: byte for byte."""

import contextlib
import itertools
import shutil
import signal

import pytest

from npbert.files import FileError
from npbert.json_lines import METRICS_FILE, read_json_lines
from npbert.optim import linear_warmup_decay
from npbert.training.judge import Goal
from npbert.training.pretrain import evaluate_losses
from npbert.training.settings import SETTINGS_FILE, TrainerSettings, load_settings
from npbert.training.state import STATE_FILE
from tests.training.tiny import classifier, collate, examples, make_trainer, results, task_data

STEPS = 8
SETTINGS = {"steps": STEPS, "save_every": 3, "evaluate_every": 4, "log_every": 3, "parts": 2}


def kill():
    """Stands for a kill: nothing is saved."""
    raise ConnectionAbortedError


STOPS = {"stopped": lambda: signal.raise_signal(signal.SIGINT), "killed": kill}


def make(folder, step=0, how="stopped", **changes):
    """A run with a fresh model, dropout and an evaluation, perhaps stopped before a step; an epoch has 5 of them."""
    model, held_out = classifier(), [collate(examples(8, seed=9))]
    options = {"evaluate": lambda: evaluate_losses(model, held_out, ("",)), "goal": Goal("loss"), **SETTINGS, **changes}
    return make_trainer(folder, data=task_data(step, STOPS[how]), model=model, **options)


def train_and_stop(trainer):
    with contextlib.suppress(ConnectionAbortedError, KeyboardInterrupt):
        trainer.train()


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """The files of a run that was never stopped, in which an epoch ends."""
    folder = tmp_path_factory.mktemp("whole")
    make(folder).train()
    assert [row["step"] for row in read_json_lines(folder / METRICS_FILE)] == [3, 4, 6, 8, 8]
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


def test_the_state_holds_the_generator(wanted, tmp_path):
    """What a resumed run was made with does not matter, and without the state, it would."""
    train_and_stop(make(tmp_path / "a", 5, "stopped"))
    for folder, is_the_same in (("a", True), ("b", False)):
        trainer = make(tmp_path / folder)
        trainer.rng.random(7)
        trainer.train()
        assert (results(tmp_path / folder) == wanted) == is_the_same


@pytest.mark.parametrize("begin", [0, 3])
def test_a_longer_run_is_the_same_however_often_it_is_stopped(tmp_path, begin, capsys):
    """It goes on from its end, or from where it was stopped, with the learning rate of its new length."""
    train_and_stop(make(tmp_path / "short", begin))
    longer = {"steps": STEPS + 4}
    shutil.copytree(tmp_path / "short", tmp_path / "wanted")
    capsys.readouterr()
    make(tmp_path / "wanted", **longer).train()
    first = begin or STEPS
    rates = [linear_warmup_decay(first, lr=1e-2, warmup_steps=w, total_steps=n) for w, n in ((0, 8), (1, 12))]
    said = capsys.readouterr().out.splitlines()[0]
    assert said == (
        f"going on from step {first}, up to step 12 instead of 8: the next learning rate is {rates[1]:.3g} instead of "
        f"{rates[0]:.3g}, and falls to 0 at the new end; the model is judged every 4 steps"
    )
    wanted = results(tmp_path / "wanted")
    last = read_json_lines(tmp_path / "wanted" / METRICS_FILE)[-1]
    assert (last["step"], load_settings(TrainerSettings, tmp_path / "wanted" / SETTINGS_FILE).steps) == (12, 12)
    for how, step in itertools.product(STOPS, (1, 2, 4)):
        folder = shutil.copytree(tmp_path / "short", tmp_path / f"{how} {step}")
        train_and_stop(make(folder, step, how, **longer))
        make(folder, **longer).train()
        assert results(folder) == wanted, (how, step)


def test_a_run_is_not_made_shorter_than_it_is_and_stays_as_it_was(wanted, tmp_path):
    train_and_stop(make(tmp_path, 5))
    files = [tmp_path / name for name in (SETTINGS_FILE, STATE_FILE, METRICS_FILE)]
    before = [file.read_bytes() for file in files]
    for steps in (3, 5):
        with pytest.raises(FileError, match=f"holds a run that is at step 5 already: wanted more steps, not {steps}"):
            make(tmp_path, steps=steps).train()
    assert [file.read_bytes() for file in files] == before
    make(tmp_path).train()
    assert results(tmp_path) == wanted
