"""mend: the small edit of the author's own code that makes its gradients right, found by trying.

    found = mend(Code.of(MyLayer.backward), oracle, forward=source_of_forward)
    for step in found.steps:
        print(shown(step.finding, edit=True))

Each wrong output is mended for itself: an edit counts when one more is right and none newly wrong, on every sample, and
on a second call. Cheap edits come first, then what is looked up (a factor, a term), then two edits at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.search import Search
from npbert.gradcheck.explain.told import finding_of
from npbert.gradcheck.explain.trial import Oracle, Trial, has_failed, quiet, wrong_in

LIMIT, LONGEST = 3.0, 5.0


@dataclass(frozen=True)
class Step:
    """One edit. finding: what it says, and its `wanted` is the edit.   outputs: those that are right by it
    others: what is as good, the nearest first."""

    finding: Finding
    outputs: tuple[str, ...]
    others: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Mended:
    """What was found: the steps, in order, and the outputs that are still wrong after them."""

    steps: tuple[Step, ...]
    left: tuple[str, ...]


def mend(
    code: Code, oracle: Oracle, *, forward: str = "", offers: tuple[str, ...] = (), limit: float = LIMIT
) -> Mended:
    """The edits that make the code right, as far as they are found in `limit` seconds of CPU (LONGEST at most).

    forward: its source, for what may be missing.   offers: names of helpers of one argument that may be missing, too.
    No step where the code is right. Nothing is printed.
    """
    trial = Trial(oracle, min(limit, LONGEST))
    steps: list[Step] = []
    with quiet():
        start = now = trial.looks(code)
        while wrong_in(now) and not trial.is_over:
            search = Search(code, trial, forward, offers, now)
            made = search.nearest()
            if not made:
                break
            outputs = tuple(sorted(wrong_in(now) - wrong_in(search.after)))
            for edit, others, before in made:
                findings = tuple(finding_of(each, before, ", ".join(outputs)) for each in others)
                steps.append(Step(finding_of(edit, before, ", ".join(outputs)), outputs, findings))
            now, code = search.after, search.made
    left = tuple(sorted(wrong_in(now)))
    if has_failed(start) and left:  # to make code run that then is wrong explains nothing
        return Mended((), left)
    return Mended(tuple(steps), left)
