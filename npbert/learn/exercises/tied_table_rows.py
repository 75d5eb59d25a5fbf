"""Exercise 11: what goes wrong with the rows that were read, and with the bias."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.learn.exercises.tied_table_mistakes import WRONG, Change, TiedTable, changed


def _of_each_row(how: Callable[[Array], Array]) -> Change:
    """The embedding's share, where how(those of its dh) goes to each row that was read."""

    def embedding(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
        dtable, dh = np.zeros_like(layer.table.value), layer.scale * dlogits @ layer.table.value
        for row in np.unique(ids):
            dtable[row] = how(dh[ids == row])
        return dtable

    return embedding


@WRONG(
    "Where an id is repeated, only the first of its gradients counts.",
    "Each time that a row is read, it moves the loss: np.add.at(self.table.grad, ids, dh) adds them all.",
)
def first_of_repeated_ids_wins(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape, embedding=_of_each_row(lambda dh: dh[0]))


@WRONG(
    "Where an id is repeated, the mean of its gradients is taken, and should be their sum.",
    "Each time that a row is read, it moves the loss, and the effects add up: np.add.at(self.table.grad, ids, dh).",
)
def mean_of_repeated_ids(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape, embedding=_of_each_row(lambda dh: dh.mean(axis=0)))


@WRONG(
    "dh goes to the first rows of the table, and should go to the rows that ids names.",
    "h[n] was read from row ids[n], so dh[n] goes back there: self.table.grad[ids[n]] += dh[n], or np.add.at for all.",
)
def rows_by_place(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    def embedding(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
        dtable = np.zeros_like(layer.table.value)
        dtable[: len(ids)] = layer.scale * dlogits @ layer.table.value
        return dtable

    changed(self, dlogits, tape, embedding=embedding)


@WRONG(
    "What is added to the rows that were read is h itself, and should be its gradient, dh.",
    "dh (N, D) is what comes back to h: dh = a dlogits E.",
)
def h_for_dh(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    def embedding(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
        dtable = np.zeros_like(layer.table.value)
        np.add.at(dtable, ids, h)
        return dtable

    changed(self, dlogits, tape, embedding=embedding)


@WRONG(
    "dc is divided by the number of rows, but it is a plain sum over them.",
    "c is added to the logits of every row: dc = Σₙ dlogitsₙ.",
)
def bias_averaged(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape, bias=lambda dlogits: dlogits.mean(axis=0))


__all__ = ["WRONG"]
