"""NumbersPart: an answer is judged by the numbers that it gives, beside those of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import explain
from npbert.gradcheck.explain import Finding, shown
from npbert.learn.attempt import Failure, attempt, sentence
from npbert.learn.exercise import Message, Part, numbered
from npbert.learn.mending import findings_of
from npbert.learn.wrong_arrays import described, first_number, what_is_right, without_echoes

Numbers = dict[str, Array]
SEEDS = (0, 1, 2)
_SMALLEST_SCALE = 1e-2

_DRAWN = (
    "Something is drawn here that nobody can repeat, with np.random or a generator of your own. What forward drew is "
    "kept, and is given to backward; backward itself draws nothing."
)


@dataclass(frozen=True)
class NumbersPart(Part):
    """numbers(thing, seed) -> what `thing` computes, by names that a learner understands.

    method: which method of the class is the learner's; "" where it is a function. plain: a right one in plain steps, as
    source. reasons: why the right formula is as it is, by the name of what it gives: {"dW": …}.
    prove(thing): what else is wrong with something whose numbers are right. first(given, right): what has to be put
    right before anything else. advise(failure): what may help where the learner's code stops. remarks(thing): what may
    be said of a right answer. tolerance: relative to the largest number of an array.
    """

    name: str
    right: Any
    numbers: Callable[[Any, int], Numbers]
    method: str = ""
    plain: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    prove: Callable[[Any], Message | None] = lambda thing: None
    tolerance: float = 1e-9
    seeds: tuple[int, ...] = SEEDS
    first: Callable[[Numbers, Numbers], Message | None] = lambda given, right: None
    advise: Callable[[Failure], str] = lambda failure: ""
    remarks: Callable[[Any], str] = lambda thing: ""

    def judge(self, thing: Any) -> Message | None:
        file = _file_of(thing)
        given = [self._numbers_of(thing, seed, file) for seed in self.seeds]
        right = [_known(self.numbers, self.right, seed) for seed in self.seeds]
        failure = next((answer for answer in given if isinstance(answer, Failure)), None)
        if failure is not None and failure.is_blank:
            raise NotImplementedError(failure.line)
        if failure is not None:
            return self._stopped(thing, failure, right)
        if any(map(self.wrong_names, given, right)):
            return self.first(given[0], right[0]) or self._told(thing, given, right)
        return self.prove(thing)

    def remark(self, thing: Any) -> str:
        return self.remarks(thing)

    def wrong_names(self, given: Any, right: Mapping[str, Array]) -> list[str]:
        """The arrays that are not what they should be."""
        least = _SMALLEST_SCALE * max(map(_size, right.values()), default=0)
        return [name for name in right if not self._same(given.get(name), right[name], least)]

    def _numbers_of(self, thing: Any, seed: int, file: str | None) -> Any:
        """What it computes, or where it stops."""
        there = frozenset(vars(self.right)) - {self.method} if self.method else frozenset()
        return attempt(lambda: self.numbers(thing, seed), file, given=there)

    def _same(self, one: Array | None, other: Array, least: float) -> bool:
        if one is None or np.shape(one) != np.shape(other) or np.asarray(one).dtype.kind not in "fiub":
            return False
        scale = max(_size(other), least)
        return bool(np.allclose(one, other, rtol=0, atol=self.tolerance * scale, equal_nan=True))

    def _stopped(self, thing: Any, failure: Failure, right: Sequence[Numbers]) -> Message:
        """What is said of code that stops: where, why, and the edit that lets it run and be right, if there is one."""
        message = failure._replace(help=self.advise(failure) or failure.help).finding
        findings, _ = findings_of(self, thing, right)
        return message._replace(findings=tuple(findings))

    def _told(self, thing: Any, given: list[Numbers], right: list[Numbers]) -> Message:
        """What is said of wrong numbers: of the code, if an edit explains them; else of the numbers themselves."""
        drawn = self._drawn(thing, given)
        if drawn is not None:
            return drawn
        findings, left = findings_of(self, thing, right)
        findings.sort(key=lambda finding: (not finding.line, finding.line))  # those without a line come last
        messages = [self._message(finding) for finding in findings]
        names = {name for one, other in zip(given, right, strict=True) for name in self.wrong_names(one, other)}
        unexplained = without_echoes([name for name in right[0] if name in (names & left if messages else names)])
        if unexplained:
            messages.append(self._of_numbers(given, right, unexplained))
        return numbered(messages)._replace(findings=tuple(findings))

    def _drawn(self, thing: Any, given: list[Numbers]) -> Message | None:
        again = self._numbers_of(thing, self.seeds[0], None)
        other = [
            name for name in given[0] if isinstance(again, Failure) or not self._same(again[name], given[0][name], 0)
        ]
        if not other:
            return None
        return Message(sentence(f"{other[0]} is another one each time, though all that is given is the same"), _DRAWN)

    def _message(self, finding: Finding) -> Message:
        """In words: the line, the kind and the cause; and why the right formula is as it is."""
        says, _, rest = shown(finding).partition("\n")
        names = [name for name in self.reasons if name in finding.subject.split(", ")]
        names = [finding.subject] if finding.subject in self.reasons else names
        return Message(says, "\n\n".join(filter(None, [rest, self.reasons[names[0]] if len(names) == 1 else ""])))

    def _of_numbers(self, given: list[Numbers], right: list[Numbers], wrong: list[str]) -> Message:
        """What is true of the numbers of the first of these arrays."""
        name = wrong[0]
        at = next(k for k, answer in enumerate(given) if name in self.wrong_names(answer, right[k]))
        one, wanted = given[at].get(name), right[at][name]
        if one is None:
            return Message(f"There is no {name}.")
        says = sentence(what_is_right(wrong, self.wrong_names(given[at], right[at]), list(right[at])))
        if np.shape(one) == np.shape(wanted) and np.any(wanted) and not np.any(one):
            nothing = "As if nothing is ever added to it, or returned for it; or as if it is cleared later."
            return Message(sentence(f"{name} is 0 throughout"), f"{nothing} {first_number(wanted)}")
        found = explain(one, wanted, name=name.removeprefix("d"))
        if not found:
            return Message(says, described(name, one, wanted))
        return Message(sentence(found[0].cause), says, (found[0],))


@cache
def _known(numbers: Callable[[Any, int], Numbers], thing: Any, seed: int) -> Numbers:
    """The numbers of what is in the library."""
    return numbers(thing, seed)


def _size(array: Array) -> float:
    """The largest number of it that is finite."""
    return float(np.abs(array, where=np.isfinite(array), out=np.zeros(np.shape(array))).max(initial=0))


def _file_of(thing: Any) -> str | None:
    """Where the learner's class or function was written."""
    code = getattr(thing, "__code__", None)
    if code is None:
        functions = (vars(thing).get(name) for name in vars(thing))
        code = next((f.__code__ for f in functions if hasattr(f, "__code__")), None)
    return code.co_filename if code is not None else None
