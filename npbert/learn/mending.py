"""mending: the small edit of a learner's code that makes its numbers right; or of a right one that gives them."""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain import FAILED, Code, Finding, Outlook, broken_from, mend, nearness
from npbert.learn.wrong_arrays import without_echoes

LIMIT = 3.0
"""Seconds for each of the two searches."""

Numbers = Mapping[str, Array]


_mends = contextvars.ContextVar("mends", default=True)


@contextmanager
def left_out() -> Iterator[None]:
    """While it lasts, nothing is mended: the verdict alone is wanted."""
    token = _mends.set(False)
    try:
        yield
    finally:
        _mends.reset(token)


class Judged(Protocol):
    """The part of an exercise: see `NumbersPart`."""

    @property
    def method(self) -> str: ...

    @property
    def plain(self) -> str: ...

    @property
    def seeds(self) -> tuple[int, ...]: ...

    @property
    def numbers(self) -> Callable[[Any, int], dict[str, Array]]: ...

    def wrong_names(self, given: Any, right: Numbers) -> list[str]: ...


def findings_of(part: Judged, thing: Any, right: Sequence[Numbers]) -> tuple[list[Finding], set[str]]:
    """What is to be said of the learner's code, the most telling first, and the names of what is left unexplained."""
    if not _mends.get():
        return [], set(right[0])
    oracle, written = _Oracle(part, thing, right), getattr(thing, part.method) if part.method else thing
    try:
        code = Code.of(written)
    except (OSError, TypeError, ValueError, SyntaxError):  # no file, or no function: a lambda, say
        return [], set(right[0])
    forward = inspect.getsource(thing.forward) if hasattr(thing, "forward") else ""
    mended = mend(code, oracle, forward=forward, limit=LIMIT)
    findings, left = [_without_echoes(step.finding) for step in mended.steps], set(mended.left)
    if left and part.plain:
        for finding in broken_from(Code.parsed(part.plain.strip("\n"), code.scope), oracle, code, limit=LIMIT):
            explained = set(finding.subject.split(", ")) & left
            if explained:
                findings.append(_without_echoes(finding))
                left -= explained
    return findings, left


def _without_echoes(finding: Finding) -> Finding:
    """Of `dx, dx after two backwards`, dx alone; of the gradients inside a part, `the gradients of attention`."""
    names = without_echoes(finding.subject.split(", "))
    inside = [name for name in names if "." in name]
    parts = [f"the gradients of {part}" for part in sorted({name.partition(".")[0].split()[-1] for name in inside})]
    return replace(finding, subject=", ".join([name for name in names if name not in inside] or parts))


class _Oracle:
    """Runs an edited function in the place of the learner's, and compares its numbers with the right ones."""

    def __init__(self, part: Judged, thing: Any, right: Sequence[Numbers]) -> None:
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
        wrong = self.part.wrong_names(given, right)
        arrays = {name: (np.asarray(given[name]), right[name]) for name in right if _fits(given.get(name), right[name])}
        if any(name not in arrays for name in wrong):
            return FAILED
        # of a wrong dx, that `dx when nothing is dropped` is right must not protect what both are made of
        fine = {name for name in right if name not in wrong and not any(name.startswith(f"{of} ") for of in wrong)}
        return Outlook({name: nearness(*arrays[name]) for name in wrong}, fine, arrays)


def _fits(given: Any, right: Array) -> bool:
    return given is not None and np.shape(given) == np.shape(right) and np.asarray(given).dtype.kind in "fiub"
