"""Layers that add to parameters now and then, twice, or to those of others: as users write them, without a look at
how a batch is cut."""

import numpy as np

from npbert import NO_TAPE, Checkpointed, Init, Layer, Linear, Parameter
from tests.training.tiny import TINY

D = TINY.hidden_size


class Wrapped(Layer):
    """An encoder layer, and after it y + own(y); `own` is what a subclass has of its own."""

    def __init__(self, inner, init):
        self.inner = inner
        self.build(init)

    def build(self, init):
        self.bias = init.normal(D)

    def forward(self, x, z, sequences=None, tape=NO_TAPE):
        y = self.inner(x, z, sequences, tape)
        lengths = np.repeat(sequences.lengths, sequences.query_lengths)
        return y + self.own(y, lengths, tape)

    def backward(self, dy, tape):
        return self.inner.backward(dy + self.own_backward(dy, tape), tape)


class Sometimes(Wrapped):
    """Rows of long sequences get a bias, which gets no gradient where there are none."""

    def own(self, y, lengths, tape):
        tape.keep(self, is_long=lengths > 5)
        return np.where(lengths > 5, 1, 0)[:, None].astype(y.dtype) * self.bias.value

    def own_backward(self, dy, tape):
        is_long = tape.take(self)
        if is_long.any():
            self.bias.add_grad(dy[is_long].sum(axis=0))
        return 0 * dy


class Times(Wrapped):
    """y W"""

    def build(self, init):
        self.weight = init.normal(D, D)

    def own(self, y, lengths, tape):
        tape.keep(self, y=y)
        return y @ self.weight.value

    def own_backward(self, dy, tape):
        self.weight.add_grad(tape.take(self).T @ dy)
        return dy @ self.weight.value.T


class OfTheInner(Times):
    """With the W of the layer inside."""

    def build(self, init):
        self.weight = self.inner.attention.query.weight


class TwiceForLong(Wrapped):
    """The same Linear: once for all rows, and once more for those of long sequences, where there are any."""

    def build(self, init):
        self.linear = Linear(D, D, init)

    def own(self, y, lengths, tape):
        y, is_long = self.linear(y, tape), lengths > 5
        if is_long.any():
            again = self.linear(y[is_long], tape)
            y = y.copy()
            y[is_long] = again
        tape.keep(self, is_long=is_long)
        return y

    def own_backward(self, dy, tape):
        is_long = tape.take(self)
        if is_long.any():
            again = self.linear.backward(dy[is_long], tape)
            dy = dy.copy()
            dy[is_long] = again
        return self.linear.backward(dy, tape)


class ByLength(Wrapped):
    """A row of a table for each length, of which most get no gradient; one of the tables is never used."""

    def build(self, init):
        self.table, self.unused = init.normal(16, D), init.normal(3, D)

    def own(self, y, lengths, tape):
        tape.keep(self, lengths=lengths)
        return self.table.value[lengths]

    def own_backward(self, dy, tape):
        self.table.add_grad(dy, rows=tape.take(self))
        return 0 * dy


class OneNumber(Wrapped):
    """s y, with one number s without an axis; its gradient is a NumPy scalar."""

    def build(self, init):
        self.scale = Parameter(np.asarray(0.3, init.dtype))

    def own(self, y, lengths, tape):
        tape.keep(self, y=y)
        return self.scale.value * y

    def own_backward(self, dy, tape):
        self.scale.add_grad((tape.take(self) * dy).sum())
        return self.scale.value * dy


class Transposed(Times):
    """With a gradient that is no contiguous array."""

    def own_backward(self, dy, tape):
        self.weight.add_grad((dy.T @ tape.take(self)).T)
        return dy @ self.weight.value.T


class InClosure(Wrapped):
    """y · γ, with a γ that only functions hold; and a list of layers, of which each sequence takes one."""

    def build(self, init):
        self.parts = [Linear(D, D, init) for _ in range(3)]
        gamma = self.inner.output_norm.gamma
        self.scale, self.add = (lambda: gamma.value), (lambda grad: gamma.add_grad(grad))

    def own(self, y, lengths, tape):
        h, taken = np.zeros_like(y), [np.flatnonzero(lengths % 3 == number) for number in range(3)]
        for part, rows in zip(self.parts, taken, strict=True):
            if len(rows):
                h[rows] = part(y[rows], tape)
        tape.keep(self, h=h, taken=taken)
        return h * self.scale()

    def own_backward(self, dy, tape):
        h, taken = tape.take(self)
        self.add((dy * h).sum(axis=0))
        dh, dx = dy * self.scale(), np.zeros_like(dy)
        for part, rows in reversed([*zip(self.parts, taken, strict=True)]):
            if len(rows):
                dx[rows] = part.backward(dh[rows], tape)
        return dx


class ThroughGrad(Wrapped):
    """Adds into `grad` itself, as old code does."""

    def own(self, y, lengths, tape):
        tape.keep(self)
        return np.broadcast_to(self.bias.value, y.shape)

    def own_backward(self, dy, tape):
        tape.take(self)
        self.bias.grad[...] += dy.sum(axis=0)
        return 0 * dy


LAYERS = [Sometimes, OfTheInner, TwiceForLong, ByLength, OneNumber, Transposed, InClosure, ThroughGrad]


def albert(layers):
    """One layer, three times."""
    return [layers[0]] * 3


def with_one(wrapped):
    return lambda layers: [layers[0], wrapped(layers[1], Init(np.random.default_rng(3), 0.5, np.float64))]


ENCODERS = {layer.__name__: with_one(layer) for layer in LAYERS} | {
    "one layer, three times": albert,
    "computed again, twice": lambda layers: [Checkpointed(with_one(Sometimes)(layers)[1]), layers[0], layers[0]],
}
"""By name, what makes the layers of an encoder of those that it has."""
