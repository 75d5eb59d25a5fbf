"""Formula: what is known of a gradient whose formula is known. Surroundings: what formulas are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import Term

Roads = dict[str, Array]


class Formula(NamedTuple):
    """The roads whose sum is a gradient; wrong gradients that people write, by the words that tell of them; the arrays
    that the formula is made of; its terms, as people write them; and other ways to cut it into roads."""

    roads: Roads
    mistakes: dict[str, Array]
    known: dict[str, Array]
    terms: Callable[[], tuple[Term, ...]] = tuple
    cuts: tuple[Roads, ...] = ()


NO_FORMULA = Formula({}, {}, {})


class Surroundings(NamedTuple):
    """What the formulas are made of: an input, dy, y, the vectors and small numbers of the layer, ids and labels."""

    x: Array
    dy: Array
    y: Array
    vectors: list[Array]
    eps: list[float]
    ids: list[Array]
    is_elementwise: bool
