"""Exercise 11: what goes wrong with the rows that were read: what comes back to them, and to which it goes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.learn.exercise import Mistake, both
from npbert.learn.exercises.tied_table_mistakes import WRONG, Change, TiedTable, changed, decoder_share

Placed = Callable[[Array, Array, Array], None]


def _dh(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
    return layer.scale * dlogits @ layer.table.value


def _own_row(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
    return layer.scale * dlogits[np.arange(len(ids)), ids][:, None] * h


def _added(dtable: Array, ids: Array, dh: Array) -> None:
    np.add.at(dtable, ids, dh)


def _of_each_row(how: Callable[[Array], Array]) -> Placed:
    """how(those of dh that belong to it) goes to each row that was read."""

    def placed(dtable: Array, ids: Array, dh: Array) -> None:
        for row in np.unique(ids):
            dtable[row] = how(dh[ids == row])

    return placed


def _at_the_first_rows(dtable: Array, ids: Array, dh: Array) -> None:
    dtable[: len(ids)] = dh


def _at_every_row(dtable: Array, ids: Array, dh: Array) -> None:
    dtable += dh.sum(axis=0)


def _at_the_next_rows(dtable: Array, ids: Array, dh: Array) -> None:
    np.add.at(dtable, (ids + 1) % len(dtable), dh)


_CAME_BACK: dict[str, tuple[str, str, Change]] = {
    "scale_forgotten_in_the_embedding": (
        "The factor a is missing in the embedding's share of dE; the decoder's has it.",
        "The scores were multiplied by self.scale, so what comes back through them, on both roads, is, too.",
        lambda layer, dlogits, ids, h: dlogits @ layer.table.value,
    ),
    "rows_for_the_table": (
        "What goes back to the rows that were read is dlogits times those rows, and not times the whole table.",
        "dh (N, D) is the gradient of h, and h met every row of E in the product: dh = a dlogits E.",
        lambda layer, dlogits, ids, h: layer.scale * dlogits[:, ids] @ h,
    ),
    "own_row_alone": (
        "What goes back to a row that was read is its own score's part alone, a · dlogits[n, ids[n]] · h[n].",
        "h[n] was compared with every row of E, and each of these scores moves the loss: dh = a dlogits E.",
        _own_row,
    ),
    "embedding_averaged": (
        "The embedding's share of dE is divided by the number of rows, but it is a plain sum over them.",
        "Each row that is read moves the loss by itself, and the effects add up: dh = a dlogits E.",
        lambda *given: _dh(*given) / len(given[1]),
    ),
    "dh_times_h": (
        "What goes back to the rows that were read is multiplied by h, and should be dh alone.",
        "h was read as it is: a step in a row of the table is the same step in h, so dh goes back as it is.",
        lambda *given: _dh(*given) * given[3],
    ),
    "h_for_dh": (
        "What is added to the rows that were read is h itself, and should be its gradient, dh.",
        "dh (N, D) is what comes back to h: dh = a dlogits E.",
        lambda layer, dlogits, ids, h: h,
    ),
}
_PLACED: dict[str, tuple[str, str, Placed]] = {
    "last_of_repeated_ids_wins": (
        "Where an id is repeated, only the last of its gradients counts.",
        "`grad[ids] += dh` writes each row once. np.add.at(self.table.grad, ids, dh) adds them all.",
        _of_each_row(lambda dh: dh[-1]),
    ),
    "first_of_repeated_ids_wins": (
        "Where an id is repeated, only the first of its gradients counts.",
        "Each time that a row is read, it moves the loss: np.add.at(self.table.grad, ids, dh) adds them all.",
        _of_each_row(lambda dh: dh[0]),
    ),
    "mean_of_repeated_ids": (
        "Where an id is repeated, the mean of its gradients is taken, and should be their sum.",
        "Each time that a row is read, it moves the loss, and the effects add up: np.add.at(self.table.grad, ids, dh).",
        _of_each_row(lambda dh: dh.mean(axis=0)),
    ),
    "rows_by_place": (
        "dh goes to the first rows of the table, and should go to the rows that ids names.",
        "h[n] was read from row ids[n], so dh[n] goes back there: self.table.grad[ids[n]] += dh[n], or np.add.at for "
        "all.",
        _at_the_first_rows,
    ),
    "every_row": (
        "dh is added up over its rows, and goes to every row of the table.",
        "h[n] was read from row ids[n], so dh[n] goes back there: self.table.grad[ids[n]] += dh[n], or np.add.at for "
        "all.",
        _at_every_row,
    ),
    "next_rows": (
        "dh goes to the row after the one that was read.",
        "h[n] was read from row ids[n], counted from 0, so dh[n] goes back to row ids[n].",
        _at_the_next_rows,
    ),
}
_IN_THE_DECODER: dict[str, tuple[str, str, Change]] = {
    "scale_forgotten_in_the_decoder": (
        "The factor a is missing in the decoder's share of dE; the embedding's has it.",
        "The scores were multiplied by self.scale, so what comes back through them, on both roads, is, too.",
        lambda *given: decoder_share(*given) / given[0].scale,
    ),
    "decoder_averaged": (
        "The decoder's share of dE is divided by the number of rows, but it is a plain sum over them.",
        "Each row of dlogits moves the loss by itself, and the effects add up: dE = a dlogitsᵀ h.",
        lambda *given: decoder_share(*given) / len(given[1]),
    ),
    "decoder_with_dh": (
        "The decoder's share is made with dh, and should be made with h: a dlogitsᵀ h.",
        "The scores are a h Eᵀ. Each factor gets dlogits times the other factor, and not times its gradient.",
        lambda layer, dlogits, ids, h: layer.scale * dlogits.T @ _dh(layer, dlogits, ids, h),
    ),
    "scale_squared_in_the_decoder": (
        "The factor a is in the decoder's share of dE twice.",
        "dE = a dlogitsᵀ h: h was read from the table as it is, and multiplied by a once.",
        lambda *given: decoder_share(*given) * given[0].scale,
    ),
}


def _share(came_back: Change, placed: Placed) -> Change:
    """The embedding's share."""

    def embedding(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
        dtable = np.zeros_like(layer.table.value)
        placed(dtable, ids, came_back(layer, dlogits, ids, h))
        return dtable

    return embedding


def _method(decoder: Change, embedding: Change) -> Callable[[TiedTable, Array, Tape], None]:
    return lambda self, dlogits, tape: changed(self, dlogits, tape, decoder=decoder, embedding=embedding)


def _known(name: str, says: str, because: str, decoder: Change, embedding: Change) -> None:
    method = _method(decoder, embedding)
    method.__name__ = name
    WRONG(says, because)(method)


for _name, (_says, _because, _came_back) in _CAME_BACK.items():
    _known(_name, _says, _because, decoder_share, _share(_came_back, _added))
for _name, (_says, _because, _placed) in _PLACED.items():
    _known(_name, _says, _because, decoder_share, _share(_dh, _placed))
for _name, (_says, _because, _decoder) in _IN_THE_DECODER.items():
    _known(_name, _says, _because, _decoder, _share(_dh, _added))


def two_at_once() -> Iterator[Mistake]:
    """Two of: a wrong decoder's share, a wrong dh, and wrong rows for it."""
    known = {mistake.name: mistake for mistake in WRONG}
    came_back = {name: of for name, (_, _, of) in _CAME_BACK.items()}
    placed = {name: of for name, (_, _, of) in _PLACED.items()}
    decoders = {name: of for name, (_, _, of) in _IN_THE_DECODER.items()}
    two = itertools.product
    found = [
        *((one, other, decoder_share, _share(came_back[one], placed[other])) for one, other in two(came_back, placed)),
        *((one, other, decoders[one], _share(came_back[other], _added)) for one, other in two(decoders, came_back)),
        *((one, other, decoders[one], _share(_dh, placed[other])) for one, other in two(decoders, placed)),
    ]
    for one, other, decoder, embedding in found:
        thing = type("two", (TiedTable,), {"backward": _method(decoder, embedding), "__module__": "mistakes"})
        yield both(known[one], known[other], thing)


@WRONG(
    "dc is divided by the number of rows, but it is a plain sum over them.",
    "c is added to the logits of every row: dc = Σₙ dlogitsₙ.",
)
def bias_averaged(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape, bias=lambda dlogits: dlogits.mean(axis=0))


@WRONG(
    "dc is one number for all rows of the table: dlogits is summed over both of its axes.",
    "Each column of dlogits belongs to one number of c: dlogits.sum(axis=0).",
)
def bias_of_everything(self: TiedTable, dlogits: Array, tape: Tape) -> None:
    changed(self, dlogits, tape, bias=lambda dlogits: np.full(dlogits.shape[1], dlogits.sum()))


__all__ = ["WRONG"]
