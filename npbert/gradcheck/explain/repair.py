"""Mending: the search for a small edit of the author's code that makes its gradients right.

Each wrong output is mended separately: an edit counts if one more is right and none newly wrong, on every sample, and
on a second call.

It also works in reverse: a right code is "mended" until its numbers are the author's. The reverse of that edit is
missing in the author's code, even if the two share no line.
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
from npbert.gradcheck.explain.trace import Event, Trace, watched
from npbert.gradcheck.explain.trial import (
    RAISES,
    Oracle,
    Outlook,
    Trial,
    first_wrong,
    has_failed,
    mended_by,
    quiet,
    wrong_in,
)

TRIES = 8000
"""The most runs of the code, with any edits."""


@dataclass(frozen=True)
class EditStep:
    """One edit. finding: its message, with the edit as `wanted`. outputs: those it makes right. before, after: the code
    without and with the edit"""

    finding: Finding
    outputs: tuple[str, ...]
    before: Code
    after: Code


class Mending:
    """A code under repair. forward: its source, for missing parts. right: a right code, whose numbers show where the
    code is still right
    """

    def __init__(self, code: Code, oracle: Oracle, *, forward: str = "", right: Code | None = None) -> None:
        self.trial, self.forward = Trial(oracle), forward
        self._runs = functools.cache(lambda k: Trace(self._watched(right, k))) if right else None
        self._made: list[EditStep] = []
        with quiet():
            self._first = self._now = self.trial.first(code)
            self._search = self._next(code)

    def _watched(self, code: Code, k: int, calls: float = math.inf) -> list[Event]:
        return watched(self.trial, code, places_in(code), k, calls)

    def _next(self, code: Code) -> Search | None:
        made = {step.finding.kind for step in self._made}
        return Search(code, self.trial, self.forward, self._now, self._runs, made) if self.left else None

    @property
    def steps(self) -> list[EditStep]:
        """The edits so far, in order; none if they only make the code run, with wrong results."""
        return [] if has_failed(self._first) and self.left else self._made

    @property
    def left(self) -> set[str]:
        """The outputs that are wrong after the edits."""
        return wrong_in(self._now)

    def run(self, tries: int = TRIES, most: float = math.inf) -> Mending:
        """Search for edits up to the cost `most`, with at most `tries` runs. Another call continues the search."""
        self.trial.left = tries
        with quiet():
            while self._search and (best := self._search.best(most)):
                edit, code, after = best
                outputs = _outputs(self._now, after)
                finding = finding_of(edit, self._search.code, ", ".join(outputs))
                self._made.append(EditStep(finding, outputs, self._search.code, code))
                self._now = after
                self._search = self._next(code)
        return self

    def suspect(self) -> Mapping[str, Any]:
        """Return line, place and marked of a finding, for the first numbers that are in no right run; {} without
        any."""
        if not self._search or not self._runs or has_failed(self._first):
            return {}
        with quiet():
            place = self._search.suspect()
        return where(place, self._search.code) if place else {}

    def told_of(self, wrong: Code) -> list[Finding]:
        """Return the edits as findings about another code, whose numbers the oracle wants: found is its apparent
        expression, wanted the right one. Each has the line of `wrong` with the first numbers that the edit explains."""
        trial, found = self.trial, []
        with quiet():
            k = first_wrong(self._first)
            for step in self.steps:
                looks = trial.look(trial.compiled(step.before), k).arrays
                outputs, calls = [looks[name][1] for name in step.outputs if name in looks], trial.calls
                codes = wrong, step.before, step.after
                events, *runs = (self._watched(code, k, calls) for code in codes)
                before, after = map(Trace, runs)
                found.append(replace(_turned(step.finding), **where(before.first_of(events, after, outputs), wrong)))
        return found


def _outputs(before: list[Outlook], after: list[Outlook]) -> tuple[str, ...]:
    """Return the outputs that an edit makes right, without those that were only not reached before; or RAISES."""
    mended = mended_by(before, after) - {RAISES}
    reached = {name for then in after for name in then.right} if any(now.right for now in before) else set()
    return tuple(sorted(mended or reached - {name for now in before for name in now.right})) or (RAISES,)


def _turned(finding: Finding) -> Finding:
    """Return the edit from the side of the author's code: a removed part is missing there."""
    kind, found, wanted = KINDS[finding.kind].mirror, finding.wanted, finding.found
    if "\n" in wanted:  # of several statements, which are no piece of the author's
        found = wanted = ""
    cause = f"From here on, your numbers are those of a right backward with one mistake in it: {kind}."
    place = finding.place.replace(wanted, found, 1)
    return replace(finding, kind=kind, place=place, found=found, wanted=wanted, cause=cause, line=0)
