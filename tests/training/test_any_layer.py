"""Whatever its layers do, a batch in parts, on any threads and by any processes, has the gradient of the whole."""

from dataclasses import replace

import numpy as np
import pytest

from npbert import (
    NO_TAPE,
    Batch,
    BertForSentenceVectors,
    Checkpointed,
    Init,
    Layer,
    Linear,
    Parameter,
    global_norm,
)
from npbert.training.accumulate import gradients_of
from npbert.training.shares import Shares
from tests.computing import on_threads
from tests.training.parallel.together import together
from tests.training.test_accumulate import check_parts
from tests.training.tiny import TINY, classifier

LENGTHS = [3, 9, 4, 1, 12, 6, 5, 2]


class Odd(Layer):
    """An encoder layer, and all that users' layers may do to parameters, without a look at how a batch is cut.

    h = y W + bias of long sequences + table[length] + direct   z = h A + b, twice for long sequences   y + s γ z
    """

    def __init__(self, inner, init):
        d = TINY.hidden_size
        self.inner, self.linear = inner, Linear(d, d, init)
        self.weight = inner.attention.query.weight  # of the layer inside
        self.bias = init.normal(d)  # has no gradient where there is no long sequence
        self.table, self.unused, self.direct = init.normal(16, d), init.normal(3, d), init.normal(d)
        self.scale = Parameter(np.asarray(0.3, init.dtype))  # without an axis
        gamma = inner.output_norm.gamma  # which only functions hold
        self.gamma, self.add = (lambda: gamma.value), (lambda grad: gamma.add_grad(grad))

    def forward(self, x, z, sequences=None, tape=NO_TAPE):
        y = self.inner(x, z, sequences, tape)
        lengths = np.repeat(sequences.lengths, sequences.query_lengths)
        is_long = lengths > 5
        h = y @ self.weight.value + is_long[:, None].astype(y.dtype) * self.bias.value
        h += self.table.value[lengths] + self.direct.value
        z = self.linear(h, tape)
        if is_long.any():
            z[is_long] += self.linear(h[is_long], tape)
        tape.keep(self, y=y, lengths=lengths, z=z)
        return y + self.scale.value * self.gamma() * z

    def backward(self, dy, tape):
        y, lengths, z = tape.take(self)
        is_long, gamma = lengths > 5, self.gamma()
        self.scale.add_grad((dy * gamma * z).sum())
        self.add((dy * self.scale.value * z).sum(axis=0))
        dz = dy * self.scale.value * gamma
        again = self.linear.backward(dz[is_long], tape) if is_long.any() else 0
        dh = self.linear.backward(dz, tape)
        dh[is_long] += again
        if is_long.any():
            self.bias.add_grad(dh[is_long].sum(axis=0))
        self.table.add_grad(dh, rows=lengths)
        self.direct.grad[...] += dh.sum(axis=0)  # as old code does
        self.weight.add_grad((dh.T @ y).T)  # not contiguous
        return self.inner.backward(dy + dh @ self.weight.value.T, tape)


def make(dtype=np.float64, dropout=0.0):
    """An odd layer that is computed again, and one layer twice."""
    model = classifier(dtype, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    first, second = model.bert.encoder.layers
    odd = Odd(second, Init(np.random.default_rng(3), 0.5, dtype))
    model.bert.encoder.layers[:] = [Checkpointed(odd), first, first]
    return model


def batch_of():
    rng, lengths = np.random.default_rng(2), np.array(LENGTHS)
    ids, labels = rng.integers(5, 30, (len(lengths), 12)), rng.integers(0, 2, len(lengths))
    return Batch(ids, attention_mask=(np.arange(12) < lengths[:, None]).astype(int), labels=labels)


def test_parts_add_up_to_the_whole():
    check_parts(make(), batch_of())


def vectors(dtype, dropout):
    """A model whose loss compares all texts of a batch."""
    chances = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    return BertForSentenceVectors(replace(TINY, **chances), rng=np.random.default_rng(1), dtype=dtype)


def pairs():
    batch = batch_of()
    mask, numbers = batch.attention_mask.reshape(4, 2, 12), np.arange(8).reshape(4, 2)
    return Batch(batch.input_ids.reshape(4, 2, 12), attention_mask=mask, labels=numbers)


@pytest.mark.parametrize(("model_of", "batch"), [(make, batch_of()), (vectors, pairs())], ids=["odd", "vectors"])
def test_threads_and_processes_change_no_bit(model_of, batch, monkeypatch):
    """In float32, with dropout, and for vectors in pieces of about ten tokens."""
    monkeypatch.setattr("npbert.compute.cut.LARGEST", 10 * TINY.hidden_size)

    def work(communicator):
        model = model_of(np.float32, 0.2)
        shares = Shares(model, communicator)
        losses, sums = gradients_of(model, batch, [3], shares, parts=4)
        norm = shares.add_up(sums)
        shares.spread_gradients()
        gradients = b"".join(parameter.grad.tobytes() for parameter in model.parameters())
        if communicator.size == 1:
            assert norm == pytest.approx(global_norm(model.parameters()), rel=1e-6)
        return losses, norm, gradients

    found = set()
    for size, threads in [(0, 1), (0, 3), (2, 2), (3, 1)]:
        with on_threads(threads):
            found |= set(together(size, work))
    assert len(found) == 1
