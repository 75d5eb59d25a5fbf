"""Exercise 11: what dE is the sum of, so that an answer that is no known mistake can be told by its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.gradcheck.diagnosis.finding import Case
from npbert.gradcheck.diagnosis.ledger import ledger
from npbert.learn.exercise import Finding
from npbert.learn.exercises.tied_table_mistakes import WRONG, TiedTable, changed, nothing_shared
from npbert.learn.roads import Roads


def _of(name: str) -> type[Any]:
    """The class with the known mistake of this name."""
    return next(mistake.thing for mistake in WRONG if mistake.name == name)


class TableRoads(Roads):
    """Two uses, and of the second one what each row of dh brings."""

    def told(self, name: str, given: Array, right: Array, of_roads: dict[str, Array]) -> Finding | None:
        rough = {use: of_roads[use] for use in USES}
        found = Roads(self.things, self.why, self.sizes, self.numbers).told(name, given, right, rough)
        for use, begin in zip(USES, ("dlogits[", "dh["), strict=True) if found is None else ():
            other = next(each for each in USES if each != use)
            fine = {road: array for road, array in of_roads.items() if road == other or road.startswith(begin)}
            in_fine = next(ledger(Case(given, right, name, roads=fine, called=name)), None)
            if in_fine is not None:
                return Finding(in_fine.text, self.why)
        return found or super().told(name, given, right, rough)


def _one_row_of_the_decoder(number: int) -> type[Any]:
    """The class with what one row of dlogits and h brings."""

    def backward(self: TiedTable, dlogits: Array, tape: Tape) -> None:
        def decoder(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
            return layer.scale * np.outer(dlogits[number], h[number])

        changed(self, dlogits, tape, decoder=decoder, embedding=nothing_shared)

    return type("one_row", (TiedTable,), {"backward": backward, "__module__": "mistakes"})


def _one_row(number: int) -> type[Any]:
    """The class with what one row of dh brings."""

    def backward(self: TiedTable, dlogits: Array, tape: Tape) -> None:
        def embedding(layer: TiedTable, dlogits: Array, ids: Array, h: Array) -> Array:
            dtable = np.zeros_like(layer.table.value)
            dtable[ids[number]] = layer.scale * dlogits[number] @ layer.table.value
            return dtable

        changed(self, dlogits, tape, decoder=nothing_shared, embedding=embedding)

    return type("one_row", (TiedTable,), {"backward": backward, "__module__": "mistakes"})


USES = ("as the decoder", "as the embedding")
ROADS = TableRoads(
    {f"dh[{number}] at row ids[{number}]": _one_row(number) for number in range(5)}
    | {f"dlogits[{number}] times h[{number}]": _one_row_of_the_decoder(number) for number in range(5)}
    | {"as the decoder": _of("embedding_forgets_the_table"), "as the embedding": _of("decoder_forgets_the_table")},
    "E is used twice, and dE is the sum of what both uses bring back, each once: as the decoder a dlogitsᵀ h, (V, D), "
    "and as the embedding the rows of dh = a dlogits E, added at ids: np.add.at(self.table.grad, ids, dh).",
    {"the number of rows of dlogits": 5},
    {"a": 0.7},
    by_place=True,
)
