"""mending: the small edit of a learner's code that makes its numbers right; or of a right one that gives them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain import FAILED, Code, Finding, Outlook, broken_from, mend

if TYPE_CHECKING:
    from npbert.learn.numbers import NumbersPart

LIMIT = 2.6
"""Seconds for each of the two searches."""

Numbers = Mapping[str, Array]


class Explained(NamedTuple):
    """findings: what is to be said of the learner's code, the most telling first.   left: the names of what is left
    unexplained.   suspect: line, place and marked of a finding: where that begins; or {}"""

    findings: list[Finding]
    left: set[str]
    suspect: Mapping[str, Any]


def findings_of(part: NumbersPart, thing: Any, right: Sequence[Numbers], wrong: set[str]) -> Explained:
    """Those of the learner's wrong numbers, by name, that an edit explains, and those that it does not."""
    if not part.mends:
        return Explained([], set(right[0]), {})
    oracle, written = _Oracle(part, thing, right), getattr(thing, part.method) if part.method else thing
    try:
        code = Code.of(written)
    except (OSError, TypeError, ValueError, SyntaxError):  # no file, or no function: a lambda, say
        return Explained([], set(right[0]), {})
    others = [each for each in vars(thing).values() if inspect.isfunction(each) and each is not written]
    forward = "".join(map(inspect.getsource, others)) if part.method else ""
    plain = Code.parsed(part.plain.strip("\n"), code.scope) if part.plain else None
    mended = mend(code, oracle, forward=forward, right=plain, limit=LIMIT)
    left = set(mended.left)
    broken = broken_from(plain, oracle, code, limit=LIMIT) if plain and left else []
    found = [step.finding for step in mended.steps]
    found += [each for each in broken if left & set(each.subject.split(", "))]
    left -= {name for each in broken for name in each.subject.split(", ")}
    return Explained(list(dict.fromkeys(_without_echoes(each, wrong) for each in found)), left, mended.suspect)


def _without_echoes(finding: Finding, wrong: set[str]) -> Finding:
    """Of `dx, dx after two backwards`, dx alone; of the gradients inside a part, `the gradients of attention`."""
    names = without_echoes([name for name in finding.subject.split(", ") if name in wrong] or [finding.subject])
    inside = [name for name in names if "." in name]
    parts = [f"the gradients of {part}" for part in sorted({name.partition(".")[0].split()[-1] for name in inside})]
    return replace(finding, subject=", ".join([name for name in names if name not in inside] or parts))


def without_echoes(names: Sequence[str]) -> list[str]:
    """The names, without `dx after …` where `dx` is among them."""
    return [name for name in names if not any(name.startswith(f"{other} ") for other in names)]


class _Oracle:
    """Runs an edited function in the place of the learner's, and compares its numbers with the right ones."""

    def __init__(self, part: NumbersPart, thing: Any, right: Sequence[Numbers]) -> None:
        self.part, self.thing, self.right = part, thing, right
        self.samples: Sequence[Any] = part.seeds

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """Which of the numbers are wrong at this seed."""
        candidate: Any = function
        if self.part.method:
            candidate = type(self.thing.__name__, (self.thing,), {self.part.method: function})
        right = self.right[k]
        try:
            given = self.part.numbers(candidate, self.samples[k])
        except Exception:  # of what the edited code returned
            return FAILED
        wrong = set(self._with_consequences(self.part.wrong_names(given, right)))
        fitting = [name for name in right if _fits(given.get(name), right[name])]
        arrays = {name: (np.asarray(given[name], float), np.asarray(right[name], float)) for name in fitting}
        if any(name not in arrays for name in wrong):
            return FAILED
        return Outlook(wrong, set(right) - wrong, arrays)

    def _with_consequences(self, wrong: list[str]) -> list[str]:
        """While a thing is wrong, what is made of it is not believed: of a wrong dx, `dx when nothing is dropped`."""
        is_caused = bool(set(self.part.causes) & set(wrong))
        return [
            name
            for name in self.right[0]
            if name in wrong
            or (is_caused and name not in self.part.causes)
            or any(name.startswith(f"{cause} ") for cause in wrong)
        ]


def _fits(given: Any, right: Array) -> bool:
    return given is not None and np.shape(given) == np.shape(right) and np.asarray(given).dtype.kind in "fiub"
