"""mending: the small edit of a learner's code that makes its numbers right; or of a right one that gives them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain import FAILED, Code, Finding, Mending, Outlook
from npbert.gradcheck.explain.reasons import CHEAP
from npbert.learn.attempt import Failure
from npbert.learn.compared import ComparedPart

_FAR, _FEW = 1200, 250
"""Tries for what writes something new: in the learner's code, and in a right one; and in the learner's, where an edit
of a right one gives the same numbers already."""

Numbers = Mapping[str, Array]


class Explained(NamedTuple):
    """findings: what is to be said of the learner's code, the most telling first.   left: the names of what is left
    unexplained.   suspect: line, place and marked of a finding: where that begins; or {}"""

    findings: list[Finding]
    left: set[str]
    suspect: Mapping[str, Any]


def findings_of(part: ComparedPart, thing: Any, given: Sequence[Any], right: Sequence[Numbers]) -> Explained:
    """Those of the learner's wrong numbers, by name, that an edit explains, and those that it does not.

    given: what `thing` gave at each seed of the part: numbers, or the Failure in which it ended
    """
    names = set(right[0])
    if not part.mends:
        return Explained([], names, {})
    written = getattr(thing, part.method) if part.method else thing
    try:
        code = Code.of(written)
    except (OSError, TypeError, ValueError, SyntaxError):  # no file, or no function: a lambda, say
        return Explained([], names, {})
    others = [each for each in vars(thing).values() if inspect.isfunction(each) and each is not written]
    forward = "".join(map(inspect.getsource, others)) if part.method else ""
    plain = Code.parsed(part.plain.strip("\n"), code.scope) if part.plain else None
    pairs = [pair for pair in zip(given, right, strict=True) if not isinstance(pair[0], Failure)]
    wrong = {name for pair in pairs for name in part.wrong_names(*pair)} if len(pairs) == len(given) else names
    fitting = {
        name
        for name in wrong
        if len(pairs) == len(given) and all(_fits(one.get(name), other[name]) for one, other in pairs)
    }
    own = Mending(code, _Oracle(part, thing, right, names), forward=forward, right=plain)
    other = Mending(plain, _Oracle(part, thing, given, fitting)) if plain and fitting else None
    own.run(most=CHEAP)
    if other and own.left:
        other.run(most=CHEAP)
    own.run(_FEW if other and not other.left else _FAR)
    if other and own.left:
        other.run(_FAR)
    left = own.left
    broken = other.told_of(code) if other and left else []
    found = [step.finding for step in own.steps]
    found += [each for each in broken if left & set(each.subject.split(", "))]
    left -= {name for each in broken for name in each.subject.split(", ")}
    told = [_without_echoes(each, wrong, found[:n]) for n, each in enumerate(found)]
    return Explained(list(dict.fromkeys(told)), left, own.suspect())


def _without_echoes(finding: Finding, wrong: set[str], before: Sequence[Finding]) -> Finding:
    """Of `dx, dx after two backwards`, dx alone, and nothing if dx was mended before; of the gradients inside a part,
    `the gradients of attention`."""
    names = without_echoes([name for name in finding.subject.split(", ") if name in wrong] or [finding.subject])
    mended = [name for each in before for name in each.subject.split(", ")]
    names = [name for name in names if not any(name.startswith(f"{other} ") for other in mended)] or names
    inside = [name for name in names if "." in name]
    parts = [f"the gradients of {part}" for part in sorted({name.partition(".")[0].split()[-1] for name in inside})]
    return replace(finding, subject=", ".join([name for name in names if name not in inside] or parts))


def without_echoes(names: Sequence[str]) -> list[str]:
    """The names, without `dx after …` where `dx` is among them."""
    return [name for name in names if not any(name.startswith(f"{other} ") for other in names)]


class _Oracle:
    """Runs an edited function in the place of the learner's, and compares its numbers with those that are wanted, call
    by call: while one is not right, none after it is."""

    def __init__(self, part: ComparedPart, thing: Any, wanted: Sequence[Numbers], names: Set[str]) -> None:
        self.part, self.thing, self.wanted, self.names = part, thing, wanted, names
        self.samples: Sequence[Any] = part.seeds
        self.least = list(map(part.least, wanted))

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """Which of the numbers are wrong at this seed."""
        candidate: Any = function
        if self.part.method:
            candidate = type(self.thing.__name__, (self.thing,), {self.part.method: function})
        wanted, wrong = self.wanted[k], set(self.names)
        arrays: dict[str, tuple[Array, Array]] = {}
        try:
            for given in self.part.numbers(candidate, self.samples[k]):
                names = [name for name in given if name in self.names]
                off = [name for name in names if not self.part.is_same(given[name], wanted[name], self.least[k])]
                fitting = [name for name in names if _fits(given[name], wanted[name])]
                arrays |= {name: (np.asarray(given[name], float), np.asarray(wanted[name], float)) for name in fitting}
                wrong -= set(names) - set(off)
                if off:
                    break
        except Exception:  # of what the edited code returned
            return FAILED
        return Outlook(wrong, self.names - wrong, arrays) if arrays.keys() >= set(off) else FAILED


def _fits(given: Any, right: Array) -> bool:
    return given is not None and np.shape(given) == np.shape(right) and np.asarray(given).dtype.kind in "fiub"
