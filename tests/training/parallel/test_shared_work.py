"""What several processes share: evaluation, state and decisions."""

import importlib
import itertools
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from npbert import Adam, Layer, Parameter
from npbert.training.finite import NotFiniteError
from npbert.training.parallel import ALONE, Shares, TreeSum, shared_out
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


def stop():
    raise KeyError("stop")


def train(folder, **options):
    return lambda communicator: make(folder, communicator, **options).train()


@pytest.mark.parametrize("count", range(1, 8))
def test_each_computes_its_share_once_and_all_get_everything_in_order(count):
    asked = []

    def compute(items):
        asked.extend(items)
        return [np.full((2, item), item, np.float32) for item in items]

    groups = [range(start, min(start + 2, count)) for start in range(0, count, 2)]
    for found in together(3, lambda communicator: shared_out(communicator, range(count), groups, compute)):
        assert [array.shape for array in found] == [(2, item) for item in range(count)]
        assert all((array == item).all() and array.dtype == np.float32 for item, array in enumerate(found))
    assert sorted(asked) == list(range(count))


def test_what_the_first_process_says_decides(tmp_path):
    """An evaluation that draws numbers, say, gives each process others; still all stop at the same step."""

    def work(communicator):
        trainer = make(tmp_path, communicator, patience=1, evaluate_every=2)
        values = iter([1.0, 0.5, 0.7] if communicator.is_first else [9.0, 9.9, 1.0])
        trainer.evaluate = lambda: {"loss": next(values)}
        return trainer.train(), trainer.step

    assert together(2, work) == [({"loss": 0.5}, 6)] * 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run of one process by itself."""
    make(folder := tmp_path_factory.mktemp("whole"), ALONE).train()
    return folder


@pytest.mark.parametrize(
    ("before", "shared", "after", "shared_then"), [(3, 1, 2, 0), (2, 0, 3, 1), (0, 1, 3, 1), (4, 1, 1, 0), (2, 1, 0, 0)]
)
def test_a_state_of_any_number_is_gone_on_from_by_any_other(tmp_path, whole, before, shared, after, shared_then):
    """The number of processes, and whether the state is shared out, change nothing."""
    with pytest.raises(KeyError, match="stop"):
        together(before, train(tmp_path, share_state=bool(shared), step=7, act=stop))
    together(after, train(tmp_path, share_state=bool(shared_then)))
    assert results(tmp_path) == results(whole), "the same files, to the last bit"


@pytest.mark.parametrize("size", [2, 3, 7])
def test_each_process_remembers_its_share_alone_and_a_piece_of_a_matrix_is_one_so_that_its_decay_stays(size):
    def share(communicator):
        shares = Shares(classifier(), communicator)
        moments = [array for arrays in Adam(shares.parameters).moments().values() for array in arrays]
        return sum(array.size for array in moments), [(piece.name, piece.parameter.value.shape) for piece in shares.own]

    counts, pieces = zip(*together(size, share), strict=True)
    total = sum(2 * value.size for value in values(classifier()))
    assert sum(counts) == total
    assert max(counts) <= total / size + 2 * BLOCK
    shapes = {name: parameter.value.shape for name, parameter in classifier().named_parameters()}
    assert all(len(shape) == len(shapes[name]) for name, shape in itertools.chain(*pieces))


def test_more_processes_than_blocks(tmp_path, monkeypatch):
    """Some have nothing to update then."""
    monkeypatch.setattr(ROWWISE, "BLOCK", 10**6)
    together(4, train(tmp_path / "4"))
    train(tmp_path / "1")(ALONE)
    assert results(tmp_path / "4") == results(tmp_path / "1")


def test_what_no_backward_reaches_has_the_gradient_0():
    class Two(Layer):
        def __init__(self):
            self.used, self.unused = Parameter(np.zeros((2, 3))), Parameter(np.zeros(4))

    def two_steps(communicator):
        model = Two()
        shares = Shares(model, communicator)
        for step in (1, 2):
            shares.zero_gradients()
            model.used.add_grad(np.full((2, 3), 10.0 * step))
            if step == 1:
                model.unused.add_grad(np.full(4, 7.0))
            sums = TreeSum(communicator.size)
            sums.add((0, communicator.rank), shares.gradients())
            shares.hold(sums)
            shares.sum_gradients()
        return shares.global_norm(), [number for own in shares.parameters for number in own.grad.flat]

    for size in (1, 2, 3):
        norms, gradients = zip(*together(size, two_steps), strict=True)
        assert list(itertools.chain(*gradients)) == [20.0 * size] * 6 + [0.0] * 4
        np.testing.assert_allclose(norms, [20 * size * 6**0.5] * size, rtol=1e-15)


def test_one_that_is_asked_to_stop_stops_all_at_the_same_step(tmp_path, monkeypatch):
    asked = set()

    @contextmanager
    def of_one():
        yield lambda: threading.get_ident() in asked

    def work(communicator):
        step = 3 if communicator.rank == 1 else 0
        trainer = make(tmp_path, communicator, step=step, act=lambda: asked.add(threading.get_ident()))
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
            model.loss = lambda batch, *tape: loss(batch, *tape)._replace(loss=np.nan)
        with pytest.raises(NotFiniteError) as caught:
            trainer.train()
        return str(caught.value)

    first, second = together(2, work)
    assert first == second
    assert first.startswith("step 1: the loss is nan")
