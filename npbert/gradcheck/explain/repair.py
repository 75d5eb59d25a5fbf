"""Mending: the small edit of the author's own code that makes its gradients right, found by trying.

Each wrong output is mended for itself: an edit counts when one more is right and none newly wrong, on every sample, and
on a second call.

It works the other way round, too: a right code is "mended" until its numbers are the author's. What that takes is what
the author's code lacks, though not a line of the two is alike.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, finding_of, where
from npbert.gradcheck.explain.places import places_in
from npbert.gradcheck.explain.reasons import KINDS
from npbert.gradcheck.explain.search import Search
from npbert.gradcheck.explain.trace import Trace, watched
from npbert.gradcheck.explain.trial import (
    Oracle,
    Trial,
    has_failed,
    is_worse,
    quiet,
    wrong_in,
)

TRIES = 8000
"""So often the code is run at most, with one edit or another."""


@dataclass(frozen=True)
class EditStep:
    """One edit. finding: what it says, and its `wanted` is the edit.   outputs: those that are right by it.
    before, after: the code without the edit and with it"""

    finding: Finding
    outputs: tuple[str, ...]
    before: Code
    after: Code


class Mending:
    """A code on its way to be right.

    forward: its source, for what may be missing.   right: a right code, whose numbers show where none is wrong yet
    """

    def __init__(self, code: Code, oracle: Oracle, *, forward: str = "", right: Code | None = None) -> None:
        self.trial, self.forward = Trial(oracle), forward
        self._runs = functools.cache(lambda k: Trace(watched(self.trial, places_in(right), k))) if right else None
        self._made: list[EditStep] = []
        with quiet():
            self._states = [self.trial.first(code)]
            self._search = self._next(code)

    def _next(self, code: Code) -> Search | None:
        now, made = self._states[-1], {step.finding.kind for step in self._made}
        return Search(code, self.trial, self.forward, now, self._runs, made) if wrong_in(now) else None

    @property
    def _told(self) -> int:
        """The number of edits that are told: not those after which something that is left is worse than it was; and
        none where they only make code run that is wrong then, which explains nothing."""
        first, *others = self._states
        if has_failed(first) and wrong_in(self._states[-1]):
            return 0
        return max((n for n, state in enumerate(others, 1) if not any(map(is_worse, first, state))), default=0)

    @property
    def steps(self) -> list[EditStep]:
        """The edits so far, in order."""
        return self._made[: self._told]

    @property
    def left(self) -> set[str]:
        """The outputs that are wrong after them."""
        return wrong_in(self._states[self._told])

    def run(self, tries: int = TRIES, most: float = math.inf) -> Mending:
        """Look for edits up to a cost of `most`, in so many tries at most. It goes on where it was when it ended."""
        self.trial.left = tries
        with quiet():
            while self._search and (best := self._search.best(most)):
                edit, code, after = best
                outputs = tuple(sorted(wrong_in(self._states[-1]) - wrong_in(after)))
                finding = finding_of(edit, self._search.code, ", ".join(outputs))
                self._made.append(EditStep(finding, outputs, self._search.code, code))
                self._states.append(after)
                self._search = self._next(code)
        return self

    def suspect(self) -> Mapping[str, Any]:
        """line, place and marked of a finding, for the first numbers that are in no right run; {} where none is."""
        if not self._search or not self._runs or has_failed(self._states[0]):
            return {}
        with quiet():
            place = self._search.suspect()
        return where(place, self._search.code) if place else {}

    def told_of(self, wrong: Code) -> list[Finding]:
        """The edits told of another code, whose numbers the oracle wants: found is what that seems to compute, wanted
        what it should. Each has the line of `wrong` whose numbers are the first that the edit explains."""
        trial, found = self.trial, []
        with quiet():
            k = next((k for k, look in enumerate(self._states[0]) if look.wrong), 0) % (len(self._states[0]) - 1)
            for step in self.steps:
                looks = trial.look(trial.compiled(step.before), k).arrays
                outputs, calls = [looks[name][::-1] for name in step.outputs if name in looks], trial.calls
                codes = wrong, step.before, step.after
                events, *runs = (watched(trial, places_in(code), k, calls) for code in codes)
                before, after = map(Trace, runs)
                found.append(replace(_turned(step.finding), **where(before.first_of(events, after, outputs), wrong)))
        return found


def _turned(finding: Finding) -> Finding:
    """The edit seen from the author's code: what was taken away is missing there."""
    kind, found, wanted = KINDS[finding.kind].mirror, finding.wanted, finding.found
    if "\n" in wanted:  # of several statements, which are no piece of the author's
        found = wanted = ""
    cause = f"From here on, your numbers are those of a right backward with one mistake in it: {kind}."
    place = finding.place.replace(wanted, found, 1)
    return replace(finding, kind=kind, place=place, found=found, wanted=wanted, cause=cause, line=0)
