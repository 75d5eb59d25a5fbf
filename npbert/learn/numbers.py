"""NumbersPart: an answer is judged by the numbers that it gives, beside those of the library and of known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.shapes import cause_of_shape
from npbert.learn.attempt import Failure, attempt, sentence
from npbert.learn.exercise import Finding, Mistake, Part, numbered
from npbert.learn.roads import Roads

Numbers = dict[str, Array]
Recognise = Callable[[Numbers, Numbers], Finding | None]
SEEDS = (0, 1, 2)
MOST_NAMES = 5
_SMALLEST_SCALE = 1e-2
_DRAWN = (
    "Something is drawn here that nobody can repeat, with np.random or a generator of your own. What forward drew is "
    "kept, and is given to backward; backward itself draws nothing."
)


@dataclass(frozen=True)
class NumbersPart(Part):
    """numbers(thing, seed) -> what `thing` computes, by names that a learner understands.

    prove(thing): what else is wrong with something whose numbers are right. explain(thing): what is true of an answer
    that is none of the known mistakes, as (the name of an array, a sentence), the most telling first.
    first(given, right): what has to be put right before anything else. recognise(given, right): a mistake whose numbers
    nobody can know, because they are drawn, say. roads: what the arrays are sums of. pairs(): two mistakes in
    one, which are tried when no others explain everything. advise(failure): what may help
    where the learner's code stops. tolerance: relative to the largest number of an array.
    """

    name: str
    right: Any
    numbers: Callable[[Any, int], Numbers]
    mistakes: list[Mistake] = field(default_factory=list)
    prove: Callable[[Any], Finding | None] = lambda thing: None
    explain: Callable[[Any], Sequence[tuple[str, str]]] | None = None
    tolerance: float = 1e-9
    seeds: tuple[int, ...] = SEEDS
    first: Recognise | None = None
    recognise: Recognise | None = None
    roads: Roads | None = None
    pairs: Callable[[], Iterable[Mistake]] = tuple
    advise: Callable[[Failure], str] = lambda failure: ""

    def judge(self, thing: Any) -> Finding | None:
        file = _file_of(thing)
        given = [self._numbers_of(thing, seed, file) for seed in self.seeds]
        right = [_known(self.numbers, self.right, seed) for seed in self.seeds]
        blank = next((answer for answer in given if isinstance(answer, Failure) and answer.is_blank), None)
        if blank is not None:
            raise NotImplementedError(blank.line)
        if any(map(self.wrong_names, given, right)):
            is_whole = self.first is not None and not isinstance(given[0], Failure)
            first = self.first(given[0], right[0]) if self.first and is_whole else None
            return first or self._explain(thing, given, right)
        return self.prove(thing)

    def _numbers_of(self, thing: Any, seed: int, file: str | None) -> Any:
        """What it computes, or where it stops."""
        own = getattr(self.mistakes, "method", None)
        there = frozenset(vars(self.right)) - {own} if own else frozenset()
        return attempt(lambda: self.numbers(thing, seed), file, given=there)

    def wrong_names(self, given: Numbers | Failure, right: Numbers) -> list[str]:
        """The arrays that are not what they should be."""
        if isinstance(given, Failure):
            return ["all"]
        least = _SMALLEST_SCALE * max(map(_size, right.values()), default=0)
        return [name for name in right if not self._same(given.get(name), right[name], least)]

    def _explain(self, thing: Any, given: list[Any], right: list[Numbers]) -> Finding:
        """The known mistakes that together explain the wrong arrays; and what no one explains."""
        unexplained = {name for one, other in zip(given, right, strict=True) for name in self.wrong_names(one, other)}
        every = set(unexplained)
        explained = [(self._explained(mistake, given, right), mistake) for mistake in self.mistakes]
        for names, mistake in explained:
            if names == unexplained:  # one mistake alone says more than two together
                return numbered(mistake.findings)
        order = list(right[0])
        chosen: list[Mistake] = []
        for names, mistake in sorted(explained, key=lambda one: (-len(one[0]), _first(one[0], order))):
            if names and names <= unexplained:
                chosen.append(mistake)
                unexplained -= names
        for mistake in self.pairs() if unexplained else ():
            names = self._explained(mistake, given, right)
            if names in (every, unexplained):
                chosen = [mistake, *chosen] if names != every else [mistake]
                unexplained = set()
                break
        rest = [self._unknown(thing, given, right, unexplained)] if unexplained else []
        return numbered([*(finding for mistake in chosen for finding in mistake.findings), *rest])

    def _explained(self, mistake: Mistake, given: list[Any], right: list[Numbers]) -> set[str]:
        """The arrays that this mistake makes wrong, if the answer has exactly what it gives; else nothing."""
        names: set[str] = set()
        for seed, answer, wanted in zip(self.seeds, given, right, strict=True):
            wrong = _known(self.numbers, mistake.thing, seed)
            if isinstance(wrong, Failure) or isinstance(answer, Failure):
                if not _same_refusal(wrong, answer):
                    return set()
                names.add("all")
                continue
            here = set(self.wrong_names(wrong, wanted))
            if not all(self._same(answer.get(name), wrong[name]) for name in here):
                return set()
            names |= here
        return names

    def _same(self, one: Array | None, other: Array, least: float = 0) -> bool:
        if one is None or np.shape(one) != np.shape(other):
            return False
        scale = max(_size(other), least)
        return bool(np.allclose(one, other, rtol=0, atol=self.tolerance * scale, equal_nan=True))

    def _unknown(self, thing: Any, given: list[Any], right: list[Numbers], names: set[str]) -> Finding:
        """What can be said of these wrong arrays, which are those of no known mistake."""
        failure = next((answer for answer in given if isinstance(answer, Failure)), None)
        if failure is not None:
            return failure._replace(help=self.advise(failure) or failure.help).finding
        seed, answer, wanted = next(
            (seed, one, other)
            for seed, one, other in zip(self.seeds, given, right, strict=True)
            if names & set(self.wrong_names(one, other))
        )
        recognised = self.recognise(answer, wanted) if self.recognise else None
        if recognised is not None:
            return recognised
        all_wrong = self.wrong_names(answer, wanted)
        wrong = without_echoes([name for name in all_wrong if name in names])
        one, shape = answer.get(wrong[0]), np.shape(wanted[wrong[0]])
        if one is None:
            return Finding(f"There is no {wrong[0]}.")
        if np.shape(one) != shape:
            cause = cause_of_shape(one, wanted[wrong[0]])
            cause = cause and f": {cause}"
            return Finding(sentence(f"{wrong[0]} has the shape {np.shape(one)}, wanted {shape}{cause}"))
        again = self._numbers_of(thing, seed, None)
        if not isinstance(again, Failure) and not self._same(again.get(wrong[0]), one):
            return Finding(
                sentence(f"{wrong[0]} is another one each time, though all that is given is the same"), _DRAWN
            )
        if not np.isfinite(one).all():
            told = [text for _, text in self.explain(thing)] if self.explain else []
            says = sentence(f"{wrong[0]} holds numbers that are not finite (NaN or infinite)")
            return Finding(says, "\n\n".join(told))
        if not np.any(one):
            return Finding(sentence(f"{wrong[0]} is 0 throughout"))
        fine = without_echoes([name for name in wanted if name not in all_wrong])
        fine = [name for name in fine if not any(name.startswith(f"{other} ") for other in wrong)]
        also = f"; {_listed(fine)} {'is' if len(fine) == 1 else 'are'}" if fine else ""
        says = f"{_listed(wrong)} {'is' if len(wrong) == 1 else 'are'} not right{also}"
        on_roads = self._on_roads(answer, wanted, wrong, seed)
        if on_roads is not None:
            return Finding(on_roads.says, "\n\n".join([on_roads.because, sentence(says)]))
        if self.explain is None:
            return Finding(sentence(says), described(wrong[0], one, wanted[wrong[0]]))
        told = [text for name, text in self.explain(thing) if name in wrong or name not in wanted]
        first, *others = [*told, sentence(says)]
        return Finding(first, "\n\n".join(others))

    def _on_roads(self, answer: Numbers, wanted: Numbers, wrong: Sequence[str], seed: int) -> Finding | None:
        """What the roads say of the first of the wrong arrays of which they say anything, and of others like it."""
        if self.roads is None:
            return None
        of_roads = {road: _known(self.numbers, thing, seed) for road, thing in self.roads.things.items()}
        told: dict[str, Finding] = {}
        for name in wrong:
            arrays = {road: numbers[name] for road, numbers in of_roads.items()}
            found = self.roads.told(name, np.asarray(answer[name]), wanted[name], arrays)
            if found is not None:
                told[name] = found
        if not told:
            return None
        first, *others = told.values()
        more = [sentence(f"And {other.says}") for other in others]
        return Finding(sentence(first.says), "\n\n".join([first.because, *more]))


@cache
def _known(numbers: Callable[[Any, int], Numbers], thing: Any, seed: int) -> Any:
    """The numbers of what is in the library, or the Failure that they end in."""
    return attempt(lambda: numbers(thing, seed))


def described(name: str, one: Array, right: Array) -> str:
    """How an array differs from the right one: by a factor, or in which number first."""
    one, right = np.asarray(one), np.asarray(right)
    factor = np.vdot(right, one) / np.vdot(right, right) if np.any(right) else 0
    if factor and np.allclose(one, factor * right, rtol=1e-9, atol=0):
        return sentence(f"{name} is {factor:.6g} times what it should be, everywhere")
    wrong = ~np.isclose(one, right, rtol=1e-6, atol=1e-6 * np.abs(right).max(initial=0))
    if not wrong.any():
        return sentence(f"{name} is nearly right, but only in about 6 digits")
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f" at {list(place)}" if place else ""
    count = f" {int(wrong.sum())} of its {wrong.size} numbers are wrong." if wrong.size > 1 else ""
    return sentence(f"{name} is {one[place]:.6g}{where}, wanted {right[place]:.6g}") + count


def without_echoes(names: Sequence[str]) -> list[str]:
    """The names, without `dx after …` where `dx` is among them."""
    return [name for name in names if not any(name.startswith(f"{other} ") for other in names)]


def _size(array: Array) -> float:
    """The largest number of it that is finite."""
    return float(np.abs(array, where=np.isfinite(array), out=np.zeros(np.shape(array))).max(initial=0))


def _first(names: Iterable[str], order: Sequence[str]) -> int:
    """Where the first of the names stands."""
    return min((order.index(name) for name in names if name in order), default=0)


def _same_refusal(one: Any, other: Any) -> bool:
    """Whether both end in the same words of add_grad, which say the shapes."""
    both = isinstance(one, Failure) and isinstance(other, Failure)
    return both and one[:2] == other[:2] and "gradient of shape" in one.message


def _file_of(thing: Any) -> str | None:
    """Where the learner's class or function was written."""
    code = getattr(thing, "__code__", None)
    if code is None:
        functions = (vars(thing).get(name) for name in vars(thing))
        code = next((f.__code__ for f in functions if hasattr(f, "__code__")), None)
    return code.co_filename if code is not None else None


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
