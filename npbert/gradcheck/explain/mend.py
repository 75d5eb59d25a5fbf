"""mend: the small edit of the author's own code that makes its gradients right, found by trying.

Each wrong output is mended for itself: an edit counts when one more is right and none newly wrong, on every sample, and
on a second call. Cheap edits come first, then what is looked up (a factor, a term).

broken_from is the same the other way round: a right code is "mended" until its numbers are the author's. What that
takes is what the author's code lacks, though not a line of the two is alike.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, finding_of, where
from npbert.gradcheck.explain.places import places_in
from npbert.gradcheck.explain.reasons import KINDS
from npbert.gradcheck.explain.search import Search
from npbert.gradcheck.explain.trace import Run, watched
from npbert.gradcheck.explain.trial import (
    FAILED,
    Oracle,
    Outlook,
    Trial,
    has_failed,
    is_equal,
    quiet,
    wrong_in,
)


@dataclass(frozen=True)
class Step:
    """One edit. finding: what it says, and its `wanted` is the edit.   outputs: those that are right by it.
    before, after: the code without the edit and with it"""

    finding: Finding
    outputs: tuple[str, ...]
    before: Code
    after: Code


@dataclass(frozen=True)
class Mended:
    """The result: the steps, in order, and the outputs that are still wrong after them.   suspect: line, place and
    marked of a finding, for the first numbers that are in no right run; {} where none is known"""

    steps: tuple[Step, ...]
    left: tuple[str, ...]
    suspect: Mapping[str, Any] = field(default_factory=dict)


def mend(code: Code, oracle: Oracle, *, forward: str = "", right: Code | None = None, limit: float = 3.0) -> Mended:
    """The edits that make the code right, as far as they are found in `limit` seconds of CPU.

    forward: its source, for what may be missing.   right: a right code, whose numbers show where none is wrong yet
    """
    trial = Trial(oracle, limit)
    runs = functools.cache(lambda k: Run(watched(trial, places_in(right), k))) if right else None
    steps: list[Step] = []
    with quiet():
        start = now = trial.looks(code)
        while wrong_in(now) and not trial.is_over:
            best = Search(code, trial, forward, now, runs).best()
            if not best:
                break
            edit, edited, after = best
            outputs = tuple(sorted(wrong_in(now) - wrong_in(after)))
            steps.append(Step(finding_of(edit, code, ", ".join(outputs)), outputs, code, edited))
            code, now = edited, after
        left = tuple(sorted(wrong_in(now)))
        if has_failed(start) and left:  # to make code run that then is wrong explains nothing
            return Mended((), left)
        place = Search(code, trial, forward, now, runs).suspect() if left and runs else None
    return Mended(tuple(steps), left, where(place, code) if place else {})


def broken_from(right: Code, oracle: Oracle, wrong: Code, *, limit: float = 2.5) -> list[Finding]:
    """The edits of `right`, told of `wrong`: found is what it seems to compute, wanted what it should.

    Each has the line of `wrong` whose numbers are the first that the edit explains. Each output that is wrong may be
    explained by itself. right: a backward in plain steps, of the same arguments.
    """
    trial = Trial(oracle, limit)
    with quiet():
        looks = trial.looks(wrong)[:-1]
    imitated = _Imitated(oracle, looks)
    if not imitated.names:
        return []
    steps = mend(right, imitated, limit=limit).steps
    k = next(k for k, look in enumerate(looks) if look.wrong)
    found = []
    with quiet():
        events = watched(trial, places_in(wrong), k)
        for step in steps:
            broken = Run(watched(trial, places_in(step.after), k))
            outputs = [looks[k].arrays[name] for name in step.outputs]
            place = Run(watched(trial, places_in(step.before), k)).first_of(events, broken, outputs)
            found.append(replace(_turned(step.finding), **where(place, wrong)))
    return found


class _Imitated:
    """An oracle to whom the author's wrong numbers are the right ones; it looks at nothing else. An edit has to explain
    all calls: while dx is not the author's, `dx of a later call` is not believed to be."""

    def __init__(self, oracle: Oracle, looks: Sequence[Outlook]) -> None:
        self.oracle, self.samples = oracle, oracle.samples
        self._wanted: list[Mapping[str, Array]] = [
            {name: given.copy() for name, (given, _) in look.arrays.items()} for look in looks
        ]
        wrong = {name for look in looks for name in look.wrong if all(name in each.arrays for each in looks)}
        self.names = sorted(name for name in wrong if not all(is_equal(*look.arrays[name]) for look in looks))

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        seen, wanted = self.oracle.look(function, k), self._wanted[k]
        if not set(self.names) <= set(seen.arrays):
            return FAILED
        arrays = {name: (seen.arrays[name][0], wanted[name]) for name in self.names}
        wrong = {name for name, pair in arrays.items() if not is_equal(*pair)}
        wrong |= {name for name in arrays if any(name.startswith(f"{cause} ") for cause in wrong)}
        return Outlook(wrong, set(self.names) - wrong, arrays)


def _turned(finding: Finding) -> Finding:
    """The edit seen from the author's code: what was taken away is missing there."""
    kind = KINDS[finding.kind].mirror
    found, wanted = finding.wanted, finding.found
    place = finding.place.replace(wanted, found, 1)
    return replace(finding, kind=kind, place=place, found=found, wanted=wanted, cause=KINDS[kind].cause, line=0)
