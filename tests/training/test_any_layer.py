"""Whatever its layers do, and although its loss compares all texts of a batch: a batch in parts, on any threads and by
any processes, has the gradient of the whole."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from npbert import (
    NO_TAPE,
    Batch,
    BertForSentenceVectors,
    Checkpointed,
    CoSENT,
    InBatchNegatives,
    Init,
    Layer,
    Parameter,
    global_norm,
)
from npbert.training.accumulate import accumulate, gradients_of
from npbert.training.parallel import Shares
from tests.computing import on_threads
from tests.training.parallel.together import together
from tests.training.test_accumulate import check_parts
from tests.training.tiny import TINY, classifier

LENGTHS = np.array([3, 9, 4, 1, 12, 6, 5, 2])


class Odd(Layer):
    """An encoder layer, and what users' layers may do to parameters, without a look at how a batch is cut.

    y + s h   with h = y W + bias of long sequences + table[length]
    """

    def __init__(self, inner, init):
        d = TINY.hidden_size
        self.inner = inner
        self.weight = inner.attention.query.weight  # of the layer inside
        self.bias = init.normal(d)  # has no gradient where there is no long sequence
        self.table, self.unused = init.normal(16, d), init.normal(3, d)
        self.scale = Parameter(np.asarray(0.3, init.dtype))  # without an axis

    def forward(self, x, z, sequences=None, tape=NO_TAPE):
        y = self.inner(x, z, sequences, tape)
        lengths = np.repeat(sequences.lengths, sequences.query_lengths)
        h = y @ self.weight.value + self.table.value[lengths]
        h[lengths > 5] += self.bias.value
        tape.keep(self, y=y, lengths=lengths, h=h)
        return y + self.scale.value * h

    def backward(self, dy, tape):
        y, lengths, h = tape.take(self)
        dh, is_long = self.scale.value * dy, lengths > 5
        self.scale.add_grad((dy * h).sum())
        if is_long.any():
            self.bias.add_grad(dh[is_long].sum(axis=0))
        self.table.add_grad(dh, rows=lengths)
        self.weight.add_grad(np.asfortranarray(y.T @ dh))  # not contiguous
        return self.inner.backward(dy + dh @ self.weight.value.T, tape)


def make(dropout=0.0, dtype=np.float64):
    """An odd layer that is computed again, and one layer twice."""
    model = classifier(dtype, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    first, second = model.bert.encoder.layers
    odd = Odd(second, Init(np.random.default_rng(3), 0.5, dtype))
    model.bert.encoder.layers[:] = [Checkpointed(odd), first, first]
    return model


def batch_of():
    rng = np.random.default_rng(2)
    ids, labels = rng.integers(5, 30, (len(LENGTHS), 12)), rng.integers(0, 2, len(LENGTHS))
    return Batch(ids, attention_mask=(np.arange(12) < LENGTHS[:, None]).astype(int), labels=labels)


def make_vectors(loss_function, dropout=0.0, dtype=np.float64):
    config = replace(TINY, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    rng = np.random.default_rng(1)
    return BertForSentenceVectors(config, rng=rng, dtype=dtype, loss_function=loss_function)


def groups(labels):
    lengths = np.array([[3, 7], [2, 2], [9, 4], [5, 5], [6, 3], [2, 8]])
    ids = np.random.default_rng(2).integers(0, 30, (*lengths.shape, 9))
    return Batch(ids, attention_mask=np.arange(9) < lengths[..., None], labels=labels)


NUMBERS = groups(np.arange(12).reshape(6, 2))
SCORES = groups(np.array([0.3, 0.9, -0.2, 0.3, 0.5, 0.1]))
ANY = {
    "odd": (make, batch_of()),
    "vectors": (partial(make_vectors, InBatchNegatives(both_ways=True)), NUMBERS),
    "scores": (partial(make_vectors, CoSENT()), SCORES),
}


@pytest.fixture
def small_pieces(monkeypatch):
    """Of vectors: of about ten tokens."""
    monkeypatch.setattr("npbert.compute.cut.LARGEST", 10 * TINY.hidden_size)


@pytest.mark.parametrize("name", ANY)
def test_parts_add_up_to_the_whole(name):
    model_of, batch = ANY[name]
    check_parts(model_of(), batch)


@pytest.mark.usefixtures("small_pieces")
def test_a_part_in_pieces_has_the_gradient_of_the_whole():
    test_parts_add_up_to_the_whole("vectors")


@pytest.mark.usefixtures("small_pieces")
def test_both_passes_have_the_same_dropout_and_nothing_else_is_kept():
    """The second forward of each piece gives the vectors of the first."""
    model, found = make_vectors(InBatchNegatives(), dropout=0.4), {False: [], True: []}

    def forward(packed, tape):
        found[tape.keeps].append(type(model).forward(model, packed, tape))
        return found[tape.keeps][-1]

    model.forward = forward
    with on_threads(1):  # in the order of the parts
        accumulate(model, NUMBERS, [3, 4], parts=2)
    first, second = found.values()
    assert len(first) == len(second) > 2
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("name", ANY)
def test_threads_and_processes_change_no_bit(name):
    """In float32, with dropout."""
    model_of, batch = ANY[name]

    def work(communicator):
        model = model_of(dropout=0.2, dtype=np.float32)
        shares = Shares(model, communicator)
        losses, sums = gradients_of(model, batch, [3], shares, parts=5)
        norm = shares.add_up(sums)
        shares.spread("grad")
        gradients = b"".join(parameter.grad.tobytes() for parameter in model.parameters())
        if communicator.size == 1:
            assert norm == pytest.approx(global_norm(model.parameters()), rel=1e-6)
        return losses, norm, gradients

    found = set()
    for size, threads in [(0, 1), (0, 3), (2, 2), (3, 1)]:
        with on_threads(threads):
            found |= set(together(size, work))
    assert len(found) == 1
