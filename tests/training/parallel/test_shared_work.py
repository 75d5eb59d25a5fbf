"""What several processes share: sums, evaluation, state and decisions. (Bits: tests/training/test_any_layer.py.)"""

import importlib
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from npbert import Adam
from npbert.io import ALONE
from npbert.training.parallel import Shares, add_up
from npbert.training.state import NotFiniteError
from tests.training.parallel.program import make
from tests.training.parallel.together import together
from tests.training.tiny import classifier, needs_the_extra_train, results, values

BLOCK = 50  # numbers
ROWWISE = importlib.import_module("npbert.compute.rowwise")  # the name in the package is the function


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So shares end within a matrix, and within a row of it."""
    needs_the_extra_train()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ROWWISE, "BLOCK", BLOCK)
        yield


def test_neighbours_are_added_up_before_they_are_sent():
    """So a process sends one gradient for its parts."""
    assert add_up({range(each, each + 1): [np.ones(1)] for each in (2, 3)}, range(4)) == {range(2, 4): [2]}


def stop():
    raise KeyError("stop")


def train(folder, **options):
    return lambda communicator: make(folder, communicator, **options).train()


def test_what_the_first_process_says_decides(tmp_path):
    """An evaluation that draws numbers, say, gives each process others; still all stop at the same step."""

    def work(communicator):
        trainer = make(tmp_path, communicator, patience=1, evaluate_every=2)
        values = iter([1.0, 0.5, 0.7] if communicator.is_first else [9.0, 9.9, 1.0])
        trainer.evaluation.evaluate = lambda: {"loss": next(values)}
        return trainer.train(), trainer.step

    assert together(2, work) == [({"loss": 0.5}, 6)] * 2


def test_a_state_of_any_number_is_gone_on_from_by_any_other(tmp_path):
    for size, step in ((3, 5), (0, 3)):
        with pytest.raises(KeyError, match="stop"):
            together(size, train(tmp_path / "run", step=step, act=stop))
    together(2, train(tmp_path / "run"))
    train(tmp_path / "whole")(ALONE)
    assert results(tmp_path / "run") == results(tmp_path / "whole"), "the same files, to the last bit"


@pytest.mark.parametrize("size", [2, 7])
def test_each_process_remembers_its_share_alone_and_a_stretch_of_a_matrix_is_one_so_that_its_decay_stays(size):
    def share(communicator):
        shares = Shares(classifier(), communicator)
        pairs = zip(shares.parameters, shares.all, strict=True)
        assert all(stretch.value.ndim == whole.value.ndim for stretch, whole in pairs)
        return sum(array.size for arrays in Adam(shares.parameters).moments().values() for array in arrays)

    counts, total = together(size, share), sum(2 * value.size for value in values(classifier()))
    assert sum(counts) == total and max(counts) <= total / size + 2 * BLOCK


def test_one_that_is_asked_to_stop_stops_all_at_the_same_step(tmp_path, monkeypatch):
    asked = {}

    @contextmanager
    def of_one():
        yield asked.setdefault(threading.get_ident(), [])

    def work(communicator):
        step = 3 if communicator.rank == 1 else 0
        trainer = make(tmp_path, communicator, step=step, act=lambda: asked[threading.get_ident()].append("stop"))
        with pytest.raises(KeyboardInterrupt):
            trainer.train()
        return trainer.step

    monkeypatch.setattr("npbert.training.session.stop_when_asked", of_one)
    assert together(3, work) == [3, 3, 3]


def test_what_is_not_finite_on_one_process_ends_all_with_the_same_words(tmp_path):
    def work(communicator):
        trainer = make(tmp_path, communicator)
        if communicator.rank == 1:
            loss, model = trainer.model.loss, trainer.model
            model.loss = lambda batch, *tape: loss(batch, *tape)._replace(means=(np.nan,))
        with pytest.raises(NotFiniteError) as caught:
            trainer.train()
        return str(caught.value)

    first, second = together(2, work)
    assert first == second
    assert first.startswith("step 1: the loss is nan")
