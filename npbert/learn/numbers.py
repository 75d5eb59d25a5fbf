"""NumbersPart: an answer is judged by the numbers that it gives, beside those of the library and of known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.shapes import cause_of_shape
from npbert.learn.attempt import Failure, attempt, sentence
from npbert.learn.exercise import Finding, Mistake, Part, numbered
from npbert.learn.roads import Roads
from npbert.learn.wrong_arrays import described, first_number, same_each_time, what_is_right, without_echoes

Numbers = dict[str, Array]
Recognise = Callable[[Numbers, Numbers], Finding | None]
SEEDS = (0, 1, 2)
_SMALLEST_SCALE = 1e-2
_WRONG_NAMES: dict[Any, set[str]] = {}
"""Of a known mistake at a seed."""

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
    where the learner's code stops. note(thing): what is true besides of something whose numbers are wrong.
    explains_zero: whether `explain` says more of an array that is 0.
    remarks(thing): what may be said of a right answer. tolerance: relative to the largest number of an array.
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
    note: Callable[[Any], str] = lambda thing: ""
    explains_zero: bool = False
    remarks: Callable[[Any], str] = lambda thing: ""

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
            found = first or self._explain(thing, given, right)
            return found._replace(because="\n\n".join(filter(None, [found.because, self.note(thing)])))
        return self.prove(thing)

    def remark(self, thing: Any) -> str:
        return self.remarks(thing)

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
        for mistake in _all_of(self.pairs) if unexplained else ():
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
            key = self.numbers, mistake.thing, seed
            here = _WRONG_NAMES[key] = _WRONG_NAMES.get(key) or set(self.wrong_names(wrong, wanted))
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
            nothing = "As if nothing is ever added to it, or returned for it; or only 0; or as if it is cleared later."
            told = [text for _, text in self.explain(thing)] if self.explain and self.explains_zero else []
            because = [f"{nothing} {first_number(wanted[wrong[0]])}", *told]
            return Finding(sentence(f"{wrong[0]} is 0 throughout"), "\n\n".join(because))
        says = what_is_right(wrong, all_wrong, list(wanted))
        on_roads = self._on_roads(given, right, wrong)
        if on_roads is not None:
            return Finding(on_roads.says, "\n\n".join(filter(None, [on_roads.because, sentence(says)])))
        if self.explain is None:
            return Finding(sentence(says), described(wrong[0], one, wanted[wrong[0]]))
        told = [text for name, text in self.explain(thing) if name in wrong or name not in wanted]
        if not told:
            return Finding(sentence(says), described(wrong[0], one, wanted[wrong[0]]))
        first, *others = [*told, sentence(says)]
        return Finding(first, "\n\n".join(others))

    def _on_roads(self, given: list[Any], right: list[Numbers], wrong: Sequence[str]) -> Finding | None:
        """What the roads say of the first of the wrong arrays of which they say anything, and of others like it."""
        if self.roads is None:
            return None
        told = [finding for name in wrong for finding in self._of_one(name, self.roads, given, right)]
        if not told:
            return None
        first, *others = told
        more = [sentence(f"And {other.says}") for other in others]
        return Finding(sentence(first.says), "\n\n".join(filter(None, [first.because, *more])))

    def _of_one(self, name: str, roads: Roads, given: list[Any], right: list[Numbers]) -> Iterator[Finding]:
        """What the roads say of one array, if they say it at every seed."""
        told = []
        for seed, answer, wanted in zip(self.seeds, given, right, strict=True):
            arrays = {road: _known(self.numbers, thing, seed)[name] for road, thing in roads.things.items()}
            told.append(roads.told(name, np.asarray(answer[name]), wanted[name], arrays))
        found = [finding for finding in told if finding is not None]
        if len(found) == len(told):
            yield found[0]._replace(says=same_each_time(*(finding.says for finding in found[:2])))


@cache
def _all_of(pairs: Callable[[], Iterable[Mistake]]) -> tuple[Mistake, ...]:
    """The pairs, made once: so their numbers are computed once, too."""
    return tuple(pairs())


@cache
def _known(numbers: Callable[[Any, int], Numbers], thing: Any, seed: int) -> Any:
    """The numbers of what is in the library, or the Failure that they end in."""
    return attempt(lambda: numbers(thing, seed))


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
