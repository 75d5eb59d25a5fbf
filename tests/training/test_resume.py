"""A run that is stopped, or killed, at any step and goes on ends as one that was not: byte for byte. Ctrl-C: the first
asks, the second acts, and afterwards everything is as it was."""

import contextlib
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from npbert import Batch
from npbert.io import ALONE, METRICS_FILE, FileError, read_json_lines
from npbert.training import (
    MODEL_FOLDER,
    SETTINGS_FILE,
    STATE_FILE,
    TrainerSettings,
    evaluate_losses,
    load_settings,
)
from npbert.training.session import stop_when_asked
from tests.models.own import TwoTower
from tests.tables import one_in
from tests.training.parallel import program
from tests.training.tiny import TINY, examples, make_trainer, results, values

STEPS = 8
SETTINGS = {"steps": STEPS, "save_every": 3, "evaluate_every": 4, "log_every": 3, "parts": 2}


def kill():
    """Stands for a kill: nothing is saved."""
    raise ConnectionAbortedError


STOPS = {"stopped": lambda: signal.raise_signal(signal.SIGINT), "killed": kill}


def make(folder, step=0, how="stopped", **changes):
    """A run, perhaps stopped before a step; an epoch has 5 of them."""
    return program.make(folder, ALONE, step=step, act=STOPS[how], **SETTINGS | changes)


def train_and_stop(trainer):
    with contextlib.suppress(ConnectionAbortedError, KeyboardInterrupt):
        trainer.train()


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """The files of a run that was never stopped, in which an epoch ends."""
    folder = tmp_path_factory.mktemp("whole")
    make(folder).train()
    assert [row["step"] for row in read_json_lines(folder / METRICS_FILE)] == [3, 4, 6, 8]
    return results(folder)


@pytest.mark.parametrize(
    ("how", "step"),
    one_in(3, [*(("stopped", step) for step in (1, 3, 5, 8)), *(("killed", step) for step in (2, 4, 6))]),
)
def test_a_run_goes_on_where_it_was(wanted, tmp_path, how, step):
    trainer = make(tmp_path, step, how)
    train_and_stop(trainer)
    assert trainer.step == (step if how == "stopped" else step - 1), "the step in progress is finished, and no other"
    is_saved = (tmp_path / STATE_FILE).is_file()
    assert is_saved == (how == "stopped" or step > 3)
    again = make(tmp_path)
    if is_saved:
        again.progress.seed = 7  # the state holds the seed: what a resumed run was made with does not matter
    again.train()
    assert results(tmp_path) == wanted


@pytest.mark.parametrize("begin", one_in(2, [3, 0]))
def test_a_longer_run_is_the_same_however_often_it_is_stopped(tmp_path, begin, capsys):
    """It goes on from its end, or from where it was stopped; it is not made shorter than it is."""
    short, first = tmp_path / "short", begin or STEPS
    train_and_stop(make(short, begin))
    before = {file: file.read_bytes() for file in short.rglob("*.*")}
    with pytest.raises(FileError, match="is already at step"):
        make(short, steps=begin or STEPS - 1).train()
    assert {file: file.read_bytes() for file in before} == before
    shutil.copytree(short, tmp_path / "wanted")
    capsys.readouterr()
    make(tmp_path / "wanted", steps=12).train()
    assert capsys.readouterr().out.startswith(f"continuing from step {first} of 12\n")
    *_, last = read_json_lines(tmp_path / "wanted" / METRICS_FILE)
    assert (last["step"], load_settings(TrainerSettings, tmp_path / "wanted" / SETTINGS_FILE).steps) == (12, 12)
    train_and_stop(make(short, 2, "killed", steps=12))
    make(short, steps=12).train()
    assert results(short) == results(tmp_path / "wanted")


def pairs(rows):
    """A sequence and itself without its last token; the label is a number."""
    ids = np.array([[ids, ids] for ids, _ in rows])
    mask = np.ones_like(ids)
    mask[:, 1, -1] = 0
    return Batch(ids, attention_mask=mask, labels=np.array([label + 0.5 for _, label in rows]))


def test_a_model_of_ones_own_is_trained_and_saved_and_goes_on_bit_for_bit(tmp_path):
    def make_own(*given):
        model = TwoTower(TINY, rng=np.random.default_rng(2))
        return make(*given, model=model, collate=pairs, gradient_checkpointing=True)

    trainer = make_own(tmp_path / "whole")
    before = values(trainer.model)
    assert trainer.model.bert.encoder.gradient_checkpointing
    best = trainer.train()["loss"]
    assert all((one != another).any() for one, another in zip(before, values(trainer.model), strict=True))
    loaded = TwoTower.from_pretrained(tmp_path / "whole" / MODEL_FOLDER)
    assert evaluate_losses(loaded, [pairs(examples(8, seed=number)) for number in (8, 9, 10)], ("",))["loss"] == best
    train_and_stop(make_own(tmp_path / "cut", 5, "killed"))
    make_own(tmp_path / "cut").train()
    assert results(tmp_path / "cut") == results(tmp_path / "whole")


PEOPLE = (signal.SIGINT, signal.SIGTERM)
SYSTEM = tuple(getattr(signal, name) for name in ("SIGHUP",) if hasattr(signal, name))  # Windows has none


def came_through(*_):
    raise InterruptedError


@pytest.fixture(autouse=True)
def before():
    """A signal that nobody holds back raises, also where the tests as a whole ignore it or would end by it."""
    old = {number: signal.signal(number, came_through) for number in PEOPLE + SYSTEM}
    yield handlers()
    for number, handler in old.items():
        signal.signal(number, handler)


def handlers():
    return [signal.getsignal(number) for number in PEOPLE + SYSTEM]


@pytest.mark.parametrize("number", PEOPLE + SYSTEM)
def test_the_first_only_asks_and_a_persons_second_acts_as_ever(before, number):
    with pytest.raises(RuntimeError), stop_when_asked() as asked:
        assert not asked
        signal.raise_signal(number)
        assert asked
        if number in PEOPLE:
            with pytest.raises(InterruptedError):
                signal.raise_signal(number)
        else:
            signal.raise_signal(number)  # a shell and the system each send one when a terminal is closed
        raise RuntimeError
    assert handlers() == before
    signal.signal(number, signal.SIG_IGN)
    with stop_when_asked() as asked:
        assert not asked and signal.getsignal(number) == signal.SIG_IGN, "as SIGHUP under nohup"


def test_in_another_thread_nothing_is_set(before):
    def work():
        with stop_when_asked() as asked:
            return handlers(), asked

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == (before, [])


def test_what_a_run_has_read_is_compared_when_it_goes_on(tmp_path):
    """With other data, no number that was measured before is the best any more."""
    (tmp_path / "dev").write_text("a")

    def make_run(said, steps=6):
        options = {"evaluate": lambda: {"loss": said}, "goal": "loss", "evaluate_every": 2}
        return make_trainer(tmp_path / "run", steps=steps, inputs={"held-out file": tmp_path / "dev"}, **options)

    assert make_run(0.5).train() == {"loss": 0.5}
    (tmp_path / "dev").write_text("b")
    with pytest.raises(FileError, match=r"has a run with other data: held-out file was 1 bytes, .*; to continue"):
        make_run(0.5).train()
    with pytest.raises(FileError, match="is already at step 6; to continue it, give more steps"):
        make_run(0.5).train(changed_data=True)
    assert make_run(0.7, 8).train(changed_data=True) == {"loss": 0.7}
    assert make_run(0.9).train(overwrite=True) == {"loss": 0.9}
    assert [row["step"] for row in read_json_lines(tmp_path / "run" / METRICS_FILE) if "loss" in row] == [*range(1, 7)]
    with contextlib.suppress(ConnectionAbortedError):
        make(tmp_path / "run", 1, "killed").train(overwrite=True)
    assert not (tmp_path / "run" / STATE_FILE).exists(), "the run that was replaced is not gone on with"
