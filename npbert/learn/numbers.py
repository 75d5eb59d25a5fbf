"""NumbersPart: an answer is judged by the numbers that it gives, beside those of the library."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import explain
from npbert.gradcheck.explain import MANNERS, Finding, describe, describe_place
from npbert.io.files import read_text
from npbert.learn.attempt import Failure, attempt, file_of, load, sentence
from npbert.learn.compared import ComparedPart, Numbers
from npbert.learn.exception_help import advised
from npbert.learn.exercise import Message, numbered
from npbert.learn.mending import findings_of, without_echoes

MOST_NAMES = 5

_DRAWN = (
    "Something is drawn here that nobody can repeat, with np.random or a generator of your own. What forward drew is "
    "kept, and is given to backward; backward itself draws nothing."
)
_KEPT = (
    "Whenever the file is loaded anew, its first call gives the same. So the second one uses something of the first: "
    "what is kept in a default argument, in a global or on the class is still there."
)


@dataclass(frozen=True, kw_only=True)
class NumbersPart(ComparedPart):
    """A part that is judged by its numbers, as ComparedPart has them.

    reasons: why the right formula is as it is, by the name of what it gives: {"dW": …}.
    prove(thing): what else is wrong with something whose numbers are right. first(given, right): what has to be put
    right before anything else. advice: where the learner's code stops, what may help, as `advised` chooses it.
    """

    reasons: Mapping[str, str] = field(default_factory=dict)
    prove: Callable[[Any], Message | None] = lambda thing: None
    first: Callable[[Numbers, Numbers], Message | None] = lambda given, right: None
    advice: Mapping[str, str] = field(default_factory=dict)

    def judge(self, thing: Any) -> Message | None:
        file = file_of(thing)
        given = [self._numbers_of(thing, seed, file) for seed in self.seeds]
        right = [_known(self.numbers, self.right, seed) for seed in self.seeds]
        wrong = (k for k, one in enumerate(given) if isinstance(one, Failure) or self.wrong_names(one, right[k]))
        k = next(wrong, None)
        if k is None:
            return self.prove(thing)
        failure = next((answer for answer in given if isinstance(answer, Failure)), None)
        if failure is not None and failure.kind == "NotImplementedError":  # what stands for what is to be written
            raise NotImplementedError(failure.line)
        if failure is not None:
            message = self._stopped(thing, failure, given, right)
        else:
            unfit = self._unfit(given[k]) or self._changing(thing, given[0])
            message = unfit or self.first(given[k], right[k]) or self._told(thing, given, right)
        words, _ = MANNERS[self.seeds[k] // 2 % len(MANNERS)]
        where = f"It is so where {words}; otherwise it is right." if words and k else ""
        return message._replace(because="\n\n".join(filter(None, [message.because, where])))

    def _numbers_of(self, thing: Any, seed: int, file: str | None) -> Any:
        """The numbers that it computes, or where it stops."""
        there = frozenset(vars(self.right)) - {self.method} if self.method else frozenset()
        return attempt(lambda: whole(self.numbers(thing, seed)), file, given=there)

    def _stopped(self, thing: Any, failure: Failure, given: list[Any], right: Sequence[Numbers]) -> Message:
        """The verdict on code that stops: where, why, and the edit that lets it run and be right, if there is one."""
        message = failure._replace(help=advised(self.advice, failure.said) or failure.help).finding
        return message._replace(findings=tuple(findings_of(self, thing, given, right).findings))

    def _told(self, thing: Any, given: list[Numbers], right: list[Numbers]) -> Message:
        """The verdict on wrong numbers: on the code, if an edit explains them; else on the numbers themselves."""
        names = {name for one, other in zip(given, right, strict=True) for name in self.wrong_names(one, other)}
        findings, left, suspect = findings_of(self, thing, given, right)
        empty = {name for name in names if not any(np.any(each.get(name, 1)) for each in given)}
        findings = [each for each in findings if not each.is_of_right_code or each.subject not in empty]
        left = left | empty  # that nothing is ever added to it says more than how a right backward could come to 0
        findings.sort(key=lambda finding: (not finding.line, finding.line))  # those without a line come last
        messages = [self._message(finding) for finding in findings]
        unexplained = without_echoes([name for name in right[0] if name in (names & left if messages else names)])
        if unexplained:
            of_numbers = self._of_numbers(given, right, unexplained)
            if suspect and not empty:
                begins = Finding(
                    "unknown", ", ".join(unexplained), found="", wanted="", cause=of_numbers.says, **suspect
                )
                of_numbers = of_numbers._replace(because=f"{describe_place(begins)}\n\n{of_numbers.because}")
                findings.append(begins)
            messages.append(of_numbers)
        return numbered(messages)._replace(findings=tuple(findings))

    def _unfit(self, given: Numbers) -> Message | None:
        """The message on an array of something else than real numbers."""
        for name, array in given.items():
            if np.asarray(array).dtype.kind not in "fiub":
                says = sentence(f"{name} is an array of {np.asarray(array).dtype}, wanted one of real numbers")
                return Message(says, "Of complex numbers, .real and .imag are real." * np.iscomplexobj(array))
        return None

    def _changing(self, thing: Any, given: Numbers) -> Message | None:
        """The message where a second call, with all the same, gives something else: it uses what the first has left,
        if the first call of a file that is loaded anew always gives the same; else something is drawn."""
        changed = _differing(given, self._numbers_of(thing, self.seeds[0], None))
        if not changed:
            return None
        path = Path(file_of(thing))
        anew = [getattr(load(path, read_text(path)), self.name) for _ in "ab"]
        one, other = (self._numbers_of(each, self.seeds[0], None) for each in anew)
        is_kept = not isinstance(one, Failure) and not _differing(one, other)
        says = sentence(f"{changed[0]} is another one in a second call, though all that is given is the same")
        return Message(says, _KEPT if is_kept else _DRAWN)

    def _message(self, finding: Finding) -> Message:
        """In words: the line, the kind and the cause; and why the right formula is as it is."""
        says, _, rest = describe(finding).partition("\n")
        names = [name for name in self.reasons if name in finding.subject.split(", ")]
        names = [finding.subject] if finding.subject in self.reasons else names
        return Message(says, "\n\n".join(filter(None, [rest, self.reasons[names[0]] if len(names) == 1 else ""])))

    def _of_numbers(self, given: list[Numbers], right: list[Numbers], wrong: list[str]) -> Message:
        """Sentences on the numbers of the first of these arrays."""
        name = wrong[0]
        at = next(k for k, answer in enumerate(given) if name in self.wrong_names(answer, right[k]))
        one, wanted = given[at].get(name), right[at][name]
        if one is None:
            return Message(f"There is no {name}.")
        says = sentence(what_is_right(wrong, self.wrong_names(given[at], right[at]), list(right[at])))
        if np.shape(one) == np.shape(wanted) and np.any(wanted) and not np.any(one):
            nothing = "As if nothing is ever added to it, or returned for it; or as if it is cleared later."
            place = tuple(map(int, np.argwhere(wanted)[0]))
            where = f" at {list(place)}" if place else ""
            example = f"It should be {wanted[place]:.6g}{where}, for example."
            return Message(sentence(f"{name} is 0 throughout"), f"{nothing} {example}")
        found = explain(one, wanted, name=name.removeprefix("d"))
        if not found:
            return Message(says, described(name, one, wanted))
        return Message(sentence(found[0].cause), says, (found[0],))


def _differing(one: Numbers, other: Any) -> list[str]:
    """The names of the arrays of `one` that are others in another call; all of them if that is a Failure."""
    if isinstance(other, Failure):
        return list(one)
    return [
        name
        for name, array in one.items()
        if np.shape(array) != np.shape(other[name]) or not np.allclose(array, other[name], 1e-9, 0, equal_nan=True)
    ]


@cache
def _known(numbers: Callable[[Any, int], Iterator[Numbers]], thing: Any, seed: int) -> Numbers:
    """The numbers of what is in the library."""
    return whole(numbers(thing, seed))


def whole(calls: Iterator[Numbers]) -> Numbers:
    """The numbers of all calls."""
    return {name: array for numbers in calls for name, array in numbers.items()}


def described(name: str, one: Array, right: Array) -> str:
    """The difference between an array and the right one: a factor, or the first number that differs."""
    one, right = np.asarray(one), np.asarray(right)
    factor = np.vdot(right, one) / np.vdot(right, right) if np.any(right) else 0
    if factor and one.size > 1 and np.allclose(one, factor * right, rtol=1e-9, atol=0):
        return sentence(f"{name} is {factor:.6g} times what it should be, everywhere")
    wrong = ~np.isclose(one, right, rtol=1e-6, atol=1e-6 * np.abs(right).max(initial=0))
    if not wrong.any():
        return sentence(f"{name} is nearly right, but only in about 6 digits")
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f" at {list(place)}" if place else ""
    count = f" {int(wrong.sum())} of its {wrong.size} numbers are wrong." if wrong.size > 1 else ""
    return sentence(f"{name} is {one[place]:.6g}{where}, wanted {right[place]:.6g}") + count


def what_is_right(wrong: Sequence[str], all_wrong: Sequence[str], names: Sequence[str]) -> str:
    """dx is not right; y is"""
    fine = without_echoes([name for name in names if name not in all_wrong])
    otherwise = [name for name in fine if any(other.startswith(f"{name} ") for other in wrong)]
    fine = [name for name in fine if name not in otherwise]
    fine = [name for name in fine if not any(name.startswith(f"{other} ") for other in wrong)]
    says = f"{_listed(wrong)} {'is' if len(wrong) == 1 else 'are'} not right"
    if set(wrong) != set(without_echoes(all_wrong)):
        says += ", either"
    if otherwise:
        says += f", though {_listed(otherwise)} {'is' if len(otherwise) == 1 else 'are'} otherwise"
    return f"{says}; {_listed(fine)} {'is' if len(fine) == 1 else 'are'}" if fine else says


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
