"""Exercise 11: what goes wrong with one table at two places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.learn.exercise import Mistakes


class TiedTable(Layer):
    """logits = a h Eᵀ + c  with  h = E[ids].

    ids (N,)   table E (V, D)   bias c (V,)   scale a: a fixed number   logits (N, V)

    E is read at the beginning, where it turns ids into vectors, and multiplied at the end, where it turns vectors into
    scores. In BERT all encoder layers stand between the two; here there is a number.
    """

    def __init__(self, num_embeddings: int, features: int, init: Init) -> None:
        self.table = init.normal(num_embeddings, features)
        self.bias = init.zeros(num_embeddings)
        self.scale = 0.7

    def forward(self, ids: Array, tape: Tape = NO_TAPE) -> Array:
        h = self.table.value[ids]  # (N, D)
        tape.keep(self, ids, h)
        return self.scale * h @ self.table.value.T + self.bias.value

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """dE has two parts: a dlogitsᵀ h, as the decoder, and the rows of dh = a dlogits E, as the embedding."""
        ids, h = tape.take(self)
        if dlogits.shape != (len(ids), len(self.bias.value)):
            raise ValueError(f"dlogits is {dlogits.shape}, wanted {(len(ids), len(self.bias.value))}")
        self.table.add_grad(self.scale * dlogits.T @ h)
        self.bias.add_grad(dlogits.sum(axis=0))
        np.add.at(self.table.grad, ids, self.scale * dlogits @ self.table.value)


SETTING = Setting(TiedTable, lambda cls, init: cls(7, 3, init), lambda rng: (rng.permutation([4, 1, 4, 6, 4]),))
WRONG = Mistakes(TiedTable, "backward")

Change = Callable[[TiedTable, Array, Array, Array], Any]


def decoder_share(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
    """a dlogitsᵀ h"""
    return layer.scale * dlogits.T @ h


def _embedding(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
    dtable = np.zeros_like(layer.table.value)
    np.add.at(dtable, ids, layer.scale * dlogits @ layer.table.value)
    return dtable


def nothing_shared(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
    """0"""
    return np.zeros_like(layer.table.value)


def changed(
    layer: TiedTable,
    dlogits: Array,
    tape: Tape,
    decoder: Change = decoder_share,
    embedding: Change = _embedding,
    bias: Callable[[Array], Array] = lambda dlogits: dlogits.sum(axis=0),
) -> None:
    """The right backward, but for what is given in another way."""
    ids, h = tape.take(layer)
    layer.table.add_grad(decoder(layer, dlogits, ids, h) + embedding(layer, dlogits, ids, h))
    layer.bias.add_grad(bias(dlogits))


@WRONG(
    "The decoder's share of the table is lost: only the rows that were read learn.",
    "The table is multiplied at the end, too, and there every row has a say, those of words that were never read as "
    "well: a dlogitsᵀ h belongs to dE.",
)
def decoder_forgets_the_table(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape, decoder=nothing_shared)


@WRONG(
    "The embedding's share of the table is lost: only its use as the decoder learns.",
    "h was read from the table. What comes back to h, dh = a dlogits E, goes to the rows that were read: "
    "np.add.at(self.table.grad, ids, dh).",
)
def embedding_forgets_the_table(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape, embedding=nothing_shared)


@WRONG(
    "The embedding's share overwrites the decoder's, in the rows that were read.",
    "`[ids] = dh` sets what should be added. Both uses add to one gradient: np.add.at(self.table.grad, ids, dh).",
)
def embedding_overwrites(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    ids, h = tape.take(self)
    dtable = decoder_share(self, dlogits, ids, h)
    dtable[ids] = self.scale * dlogits @ self.table.value
    self.table.add_grad(dtable)
    self.bias.add_grad(dlogits.sum(axis=0))


@WRONG(
    "The embedding's share overwrites all that was in the gradient, in the rows that were read.",
    "`self.table.grad[ids] = dh`, or a loop with `=`, sets what should be added: np.add.at(self.table.grad, ids, dh).",
)
def embedding_overwrites_the_gradient(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    ids, h = tape.take(self)
    self.table.add_grad(decoder_share(self, dlogits, ids, h))
    self.table.grad[ids] = self.scale * dlogits @ self.table.value
    self.bias.add_grad(dlogits.sum(axis=0))


@WRONG(
    "The decoder's share overwrites all that was in the gradient, the embedding's share with it.",
    "`self.table.grad[...] = …` sets what should be added: self.table.add_grad(…) adds, whichever comes first.",
)
def decoder_overwrites_the_gradient(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    ids, h = tape.take(self)
    self.table.grad[...] = decoder_share(self, dlogits, ids, h)
    self.bias.add_grad(dlogits.sum(axis=0))


@WRONG(
    "The gradient of the bias is set, but it should be added to what is there.",
    "A batch may come in parts, and each adds its own: self.bias.add_grad(dlogits.sum(axis=0)).",
)
def bias_set(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape)
    self.bias.grad[...] = dlogits.sum(axis=0)


@WRONG(
    "The decoder's share is lost in the rows that were read: only the embedding's is there.",
    "Something sets these rows, to 0 say, before the embedding's share is added. Both uses add to one gradient: "
    "self.table.add_grad(a * dlogits.T @ h), and np.add.at(self.table.grad, ids, dh).",
)
def decoder_lost_in_the_rows_read(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    ids, h = tape.take(self)
    dtable = decoder_share(self, dlogits, ids, h)
    dtable[ids] = 0
    self.table.add_grad(dtable + _embedding(self, dlogits, ids, h))
    self.bias.add_grad(dlogits.sum(axis=0))


@WRONG(
    "dE is divided by a, and should be multiplied by it.",
    "The scores were multiplied by self.scale, so what comes back through them, on both roads, is, too.",
)
def scale_upside_down(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(
        self,
        dlogits,
        tape,
        decoder=lambda layer, *given: decoder_share(layer, *given) / layer.scale**2,
        embedding=lambda layer, *given: _embedding(layer, *given) / layer.scale**2,
    )


@WRONG(
    "The two shares are averaged, but they have to be added.",
    "Each use moves the loss by itself, and both effects happen at once: the gradient is their sum, not their mean.",
)
def shares_averaged(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(
        self,
        dlogits,
        tape,
        decoder=lambda *given: decoder_share(*given) / 2,
        embedding=lambda *given: _embedding(*given) / 2,
    )


@WRONG(
    "The factor a is missing in dE.",
    "The scores were multiplied by self.scale, so what comes back through them, on both roads, is, too.",
)
def scale_forgotten(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(
        self,
        dlogits,
        tape,
        decoder=lambda layer, *given: decoder_share(layer, *given) / layer.scale,
        embedding=lambda layer, *given: _embedding(layer, *given) / layer.scale,
    )


@WRONG(
    "The gradient of the table is set, but it should be added to what is there.",
    "Even alone the table is used twice, and a batch may come in parts: everybody adds, and zero_grad is called by "
    "whoever trains.",
)
def table_set(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    self.table.zero_grad()
    changed(self, dlogits, tape)


@WRONG(
    "dc is multiplied by a, but the bias is added after the scale.",
    "logits = a h Eᵀ + c: a step in c is a step of the same size in the logits of every row. dc = Σₙ dlogitsₙ.",
)
def bias_scaled(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape, bias=lambda dlogits: self.scale * dlogits.sum(axis=0))


@WRONG(
    "dE is averaged over the rows, but it is a sum over them, on both roads.",
    "Each of the N rows moves the loss by itself, and the effects add up. A mean belongs where forward took one.",
)
def table_averaged(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(
        self,
        dlogits,
        tape,
        decoder=lambda *given: decoder_share(*given) / len(dlogits),
        embedding=lambda *given: _embedding(*given) / len(dlogits),
    )
