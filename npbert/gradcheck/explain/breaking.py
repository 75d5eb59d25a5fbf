"""broken_from: the small edit of a right backward that gives the wrong numbers, however they were computed.

It is `mend` the other way round: the right code is "mended" until its numbers are the author's. What that takes is what
the author's code lacks, though not a line of the two is alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.mend import mend
from npbert.gradcheck.explain.reasons import KINDS
from npbert.gradcheck.explain.trial import Oracle, Outlook, Trial, quiet

_SAME = 1e-9


def broken_from(right: Code, oracle: Oracle, wrong: Code, *, limit: float = 2.5) -> list[Finding]:
    """The edits of `right`, told of `wrong`: found is what it seems to compute, wanted what it should; line is 0.

    Each output that is wrong may be explained by itself. right: a backward in plain steps, of the same arguments.
    """
    with quiet():
        looks = Trial(oracle, limit).looks(wrong)
    imitated = _Imitated(oracle, looks[:-1])
    if not imitated.names:
        return []
    return [_turned(step.finding) for step in mend(right, imitated, limit=limit).steps]


class _Imitated:
    """An oracle to whom the author's wrong numbers are the right ones; it looks at nothing else."""

    def __init__(self, oracle: Oracle, looks: Sequence[Outlook]) -> None:
        self.oracle, self.samples = oracle, oracle.samples
        self._wanted: list[Mapping[str, Array]] = [
            {name: given.copy() for name, (given, _) in look.arrays.items()} for look in looks
        ]
        wrong = {name for look in looks for name in look.wrong}
        self.names = sorted(name for name in wrong if all(name in wanted for wanted in self._wanted))

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        seen, wanted = self.oracle.look(function, k), self._wanted[k]
        if not set(self.names) <= set(seen.arrays):
            return Outlook({"raises": 0.0})
        arrays = {name: (seen.arrays[name][0], wanted[name]) for name in self.names}
        wrong = {name: nearness(*pair) for name, pair in arrays.items() if not _same(*pair)}
        return Outlook(wrong, frozenset(self.names) - set(wrong), arrays)


def _same(given: Array, wanted: Array) -> bool:
    if given.shape != wanted.shape:
        return False
    largest = float(np.abs(wanted).max(initial=0))
    return bool(np.abs(given - wanted).max(initial=0) <= _SAME * max(largest, _SAME))


def nearness(given: Array, wanted: Array) -> float:
    """From 0 to 1: the cosine between them, or the share of numbers that are equal, if that is more."""
    if given.shape != wanted.shape or not np.isfinite(given).all():
        return 0.0
    lengths = float(np.linalg.norm(given) * np.linalg.norm(wanted))
    cosine = abs(float((given * wanted).sum())) / lengths if lengths else 0.0
    equal = float((np.abs(given - wanted) <= _SAME * np.abs(wanted).max(initial=0)).mean())
    return min(max(cosine, equal), 0.999999)


def _turned(finding: Finding) -> Finding:
    """The edit seen from the author's code: what was taken away is missing there."""
    kind = KINDS[finding.kind].mirror
    found, wanted = finding.wanted, finding.found
    place = finding.place.replace(wanted, found, 1)
    return replace(finding, kind=kind, place=place, found=found, wanted=wanted, cause=KINDS[kind].cause, line=0)
