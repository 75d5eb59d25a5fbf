"""The number of processes changes nothing: three steps on 1, 2, 3 and 4 are one and the same, and mistakes show."""

import json
import sys

import numpy as np
import pytest

from npbert import IGNORED, AdamW, Batch, BertForPreTraining, Parameter, clip_factor, global_norm
from npbert.training.accumulate import accumulate
from npbert.training.parallel import Shares
from tests.training.parallel.together import Threads, together
from tests.training.tiny import TINY, VOCABULARY

SAME, PARTS, LIMIT = 1e-12, 4, 0.5
SIZES = [1, 2, 3, 4]


def make_model(dtype=np.float64):
    return BertForPreTraining(TINY, rng=np.random.default_rng(1), dtype=dtype)


def make_batch(step):
    """Seven sequences, of which the first has one target, the second two, and so on; two have none."""
    rng = np.random.default_rng([5, step])
    ids = rng.integers(5, len(VOCABULARY), (7, 8))
    counts = np.array([1, 2, 3, 4, 5, 0, 0])[:, None]
    labels = np.where(np.arange(8) < counts, ids, IGNORED)
    return Batch(ids, labels=labels, next_sentence_label=rng.integers(0, 2, 7))


def by_hand():
    """Three steps of one process, with what the chapters say and nothing else."""
    model = make_model()
    optimizer, said = AdamW(model.parameters(), lr=0.01), []
    for step in range(3):
        model.zero_grad()
        losses = accumulate(model, make_batch(step), [9, step], parts=PARTS)
        norm = global_norm(model.parameters())
        optimizer.step(clip_factor(norm, LIMIT))
        said.append((*losses.losses, *losses.counts, *losses.right, norm))
    arrays = {f"value.{name}": parameter.value for name, parameter in model.named_parameters()}
    names = [name for name, _ in model.named_parameters()]
    for kind, moments in optimizer.moments().items():
        arrays |= {f"{kind}.{name}": array for name, array in zip(names, moments, strict=True)}
    return said, arrays


def on_many(communicator, *, shared_out=True, dtype=np.float64, steps=3, parts=PARTS):
    """The same with what a Trainer does; the last are the gradients of the last step, everywhere."""
    model = make_model(dtype)
    shares = Shares(model, communicator, shared_out=shared_out)
    optimizer, said = AdamW(shares.parameters, lr=0.01), []
    for step in range(steps):
        shares.zero_gradients()
        losses = accumulate(model, make_batch(step), [9, step], parts=parts, communicator=communicator)
        shares.sum_gradients()
        norm = shares.global_norm()
        shares.spread_gradients()
        optimizer.step(clip_factor(norm, LIMIT))
        shares.spread_values()
        said.append((*losses.losses, *losses.counts, *losses.right, norm))
    moments = shares.moments(optimizer)
    arrays = {f"value.{name}": parameter.value for name, parameter in model.named_parameters()}
    return said, arrays | (moments or {}), [parameter.grad for parameter in model.parameters()]


def check(wanted, results):
    """All processes have the same numbers, and the first has all of them."""
    (said, arrays), (first, found, gradients) = wanted, results[0]
    assert found.keys() == arrays.keys()
    for kind in ("value", "first_moments", "second_moments"):
        names = [name for name in arrays if name.startswith(kind)]
        ours, exact = (np.concatenate([these[name].reshape(-1) for name in names]) for these in (found, arrays))
        np.testing.assert_allclose(ours, exact, rtol=0, atol=SAME * np.abs(exact).max(), err_msg=kind)
    np.testing.assert_allclose(first, said, rtol=SAME)
    for other, values, theirs in results[1:]:
        assert json.dumps(other) == json.dumps(first)
        assert all((values[name] == found[name]).all() for name in values)
        assert all((one == another).all() for one, another in zip(theirs, gradients, strict=True))


@pytest.fixture(scope="module")
def wanted():
    return by_hand()


@pytest.mark.parametrize("shared_out", [True, False])
@pytest.mark.parametrize("size", [0, *SIZES])
def test_any_number_of_processes(wanted, size, shared_out):
    check(wanted, together(size, lambda communicator: on_many(communicator, shared_out=shared_out)))
    assert wanted[0][0][-1] > LIMIT, "it should clip"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_number_gives_the_same_bits(dtype):
    first, second = (together(3, lambda c: on_many(c, dtype=dtype))[0] for _ in range(2))
    assert first[0] == second[0]
    assert all((first[1][name] == second[1][name]).all() for name in first[1])


# -- mistakes


def divided_by_the_number(patch):
    scatter_sum = Threads.scatter_sum

    def mean(self, array, edges):
        scatter_sum(self, array, edges)
        array /= self.size

    patch.setattr(Threads, "scatter_sum", mean)


def one_dropout_for_all(patch):
    patch.setattr(sys.modules["npbert.training.accumulate"], "part_rng", lambda seed, _: np.random.default_rng(seed))


def dropout_that_starts_anew_in_each_process(patch):
    """The second part of one process has what the first of the next has."""
    patch.setattr(
        sys.modules["npbert.training.accumulate"],
        "part_rng",
        lambda seed, number: np.random.default_rng([*seed, number % 2]),
    )


def clipped_before_the_sum(patch):
    sum_gradients = Shares.sum_gradients

    def clipped(self):
        parameters = list(self._all.values())
        factor = clip_factor(global_norm(parameters), LIMIT)
        for parameter in parameters:
            parameter.grad[...] *= factor
        sum_gradients(self)

    patch.setattr(Shares, "sum_gradients", clipped)
    patch.setattr(Shares, "global_norm", lambda self: 0.0)


def each_its_own_norm(patch):
    patch.setattr(Shares, "global_norm", lambda self: global_norm(self.parameters))


def the_tied_tables_second_share_lost(patch):
    """The gradient is sent off when the first of the two uses has come back."""
    add_grad = Parameter.add_grad

    def first_only(self, grad):
        if self.value.shape != (len(VOCABULARY), TINY.hidden_size) or self._grad is None:
            add_grad(self, grad)

    patch.setattr(Parameter, "add_grad", first_only)


def a_mean_of_means(patch):
    patch.setattr(BertForPreTraining, "target_counts", lambda self, batch: (1, 1))


def the_same_parts_for_all(patch):
    patch.setattr(Threads, "own", lambda self, items: items[:2])


def values_that_stay_at_home(patch):
    patch.setattr(Shares, "spread_values", lambda self: None)


MISTAKES = [
    divided_by_the_number,
    one_dropout_for_all,
    dropout_that_starts_anew_in_each_process,
    clipped_before_the_sum,
    each_its_own_norm,
    the_tied_tables_second_share_lost,
    a_mean_of_means,
    the_same_parts_for_all,
    values_that_stay_at_home,
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_shows(wanted, mistake, monkeypatch):
    mistake(monkeypatch)
    with pytest.raises(AssertionError, match=r"(?s)tolerance.*(value|moments)"):
        check(wanted, together(2, on_many))
