"""Roads: what a gradient is the sum of, so that an answer that is no known mistake can be told by its parts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.factors import constant_factor
from npbert.gradcheck.diagnosis.finding import Case
from npbert.gradcheck.diagnosis.ledger import ledger
from npbert.learn.exercise import Finding


@dataclass(frozen=True)
class Roads:
    """things: by the name of a road, the right class or function with that road alone; the numbers of all of them add
    up to the right ones. why: what the roads are. sizes, numbers: what a factor on a road may be made of, as of
    npbert.gradcheck.explain. by_place: whether the places at which a road brings nothing tell which one is wrong.
    """

    things: Mapping[str, Any]
    why: str
    sizes: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    by_place: bool = False

    def told(self, name: str, given: Array, right: Array, of_roads: dict[str, Array]) -> Finding | None:
        """How often each road is in this array, if that explains it; else which of two roads it must be."""
        case = Case(given, right, name, self.sizes, self.numbers, roads=of_roads, called=name)
        found = next(constant_factor(case), None) or next(ledger(case), None)
        text = found.text if found else self.told_finely(case) or (_place(case) if self.by_place else "")
        is_split = all(map(np.any, of_roads.values())) and np.allclose(sum(of_roads.values()), right)
        return Finding(text, self.why if is_split else "") if text else None

    def told_finely(self, case: Case) -> str:
        """What a finer cut says, where there is one."""
        return ""


def _place(case: Case) -> str:
    """Whether the error is only, or also, where one of two roads brings nothing."""
    if len(case.roads) != 2 or np.abs(sum(case.roads.values()) - case.right).max() > case.allowed:
        return ""
    for (name, road), (other, _) in itertools.permutations(case.roads.items(), 2):
        silent = road == 0
        if not silent.any() or silent.all():
            continue
        if not case.is_wrong[silent].any():
            where = f"{case.d} is right wherever its use {name} has no say"
            return f"{where}: so look at the places where it has, and at what is added or overwritten there"
        where = f"{case.d} is wrong even where only its use {other} counts"
        return f"{where}: look at what comes back {other}, and whether the rest goes to the right rows"
    return ""
