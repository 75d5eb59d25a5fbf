"""Trial: runs of the code, edited and unedited, on samples with their right numbers; judged and counted."""

import contextlib
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.inputs import Function, magnitude
from npbert.gradcheck.restoring import in_place_of

RAISES = "what the code gives"
_SAME = 1e-9  # relative: far above rounding, and far below a mistake
_ROUNDS_OF_A_TRY = 300  # the rounds of loops that cost as much as a run of one call without loops
_CALLS_OF_A_TRY = 4  # the calls of the function that do
Numbers = Mapping[str, Array]
_MOST_ROUNDS = 40_000  # of a look: more do not end
_MOST_NUMBERS = 1_000_000  # of an array in a loop: more are of one that grows


class Outlook(NamedTuple):
    """The result of the code on one sample.

    wrong, right: the names of outputs. If the code fails, RAISES is wrong, and outputs not reached are in neither.
    arrays: by name, the result and the right array; for some outputs or none.
    """

    wrong: Set[str]
    right: Set[str] = frozenset()
    arrays: Mapping[str, tuple[Array, Array]] = {}


def is_number(value: Any) -> bool:
    """True for an array of real numbers."""
    return np.asarray(value).dtype.kind in "fiub"


class Sample(NamedTuple):
    """A task with its right numbers, which an edit has to give.

    run: run the code, and yield its numbers by name, step by step. It changes nothing. Its errors are those of the
    code; one with `subjects` names the wrong numbers, of a broken promise
    accuracy: the largest errors
    """

    run: Callable[[], Iterable[Numbers]]
    right: Numbers
    accuracy: Mapping[str, float]

    def pairs(self, numbers: Numbers) -> dict[str, tuple[Array, Array]]:
        """Return the arrays of real numbers, each with the right one."""
        both = ((name, np.asarray(array), self.right[name]) for name, array in numbers.items() if name in self.right)
        return {name: (one, other) for name, one, other in both if is_number(one)}

    def errors(self, numbers: Numbers) -> dict[str, float]:
        """Return the largest error of each array of the right shape."""
        return {
            name: magnitude(np.subtract(one, other, dtype=float))
            for name, (one, other) in self.pairs(numbers).items()
            if one.shape == np.shape(other)
        }

    def wrong(self, numbers: Numbers) -> set[str]:
        """Return the names of the numbers that are not right."""
        return numbers.keys() - {name for name, size in self.errors(numbers).items() if size <= self.accuracy[name]}

    def numbers(self, *, stops: bool = False) -> tuple[dict[str, Array], BaseException | None]:
        """Return the numbers of a run, and the error that ends them. stops: after a wrong number"""
        numbers: dict[str, Array] = {}
        try:
            with np.errstate(all="ignore"):
                for each in self.run():
                    numbers.update(each)
                    if stops and self.wrong(numbers):
                        break
        except (Exception, SystemExit) as error:
            return numbers, error
        return numbers, None

    def outlook(self) -> Outlook:
        """Return the result of a run. After a wrong number, all later ones count as wrong."""
        numbers, error = self.numbers(stops=True)
        if subjects := getattr(error, "subjects", ()):
            return Outlook(set(subjects), self.right.keys())
        both, wrong = self.pairs(numbers), self.wrong(numbers)
        missing = self.right.keys() - numbers.keys()
        refused = wrong - self.errors(numbers).keys()  # as by add_grad
        has_stopped = error or (missing and refused)
        return Outlook(wrong | ({RAISES} if has_stopped else missing), both.keys() - wrong, both)


def wrong_in(outlooks: Iterable[Outlook]) -> set[str]:
    """Return the names of the outputs that are wrong on some sample."""
    return {name for outlook in outlooks for name in outlook.wrong}


def mended_by(before: Sequence[Outlook], after: Sequence[Outlook]) -> set[str]:
    """Return the outputs that an edit makes right at every sample where it changes them; none if an output that was
    right no longer is."""
    both = list(zip(before, after, strict=True))
    is_spoiled = any(not now.right <= then.right for now, then in both)
    mended = {name for now, then in both for name in now.wrong - then.wrong}
    mended -= {name for now, then in both for name in then.wrong if has_moved(name, now, then)}
    if has_failed(after):
        mended = {name for name in mended if all(name in then.right for then in after)}
    return mended if any(then.right for then in after) and not is_spoiled else set()


def moved_by(before: Sequence[Outlook], after: Sequence[Outlook]) -> set[str]:
    """Return the outputs with known numbers that an edit changes, and that stay wrong."""
    both = zip(before, after, strict=True)
    return {
        name
        for now, then in both
        for name in now.wrong & then.wrong & now.arrays.keys() & then.arrays.keys()
        if has_moved(name, now, then)
    }


def has_failed(outlooks: Iterable[Outlook]) -> bool:
    """True if the code fails on some sample."""
    return RAISES in wrong_in(outlooks)


class Failed(BaseException):
    """The tried code is no code, ends the program, or makes too many rounds."""


class Trial:
    """Runs code in place of a function, and counts the cost in tries, which do not depend on the machine: a run of one
    call without loops is one.

    left: the remaining tries. calls: of the function, in the last look
    """

    def __init__(self, function: FunctionType, samples: Sequence[Sample]) -> None:
        self.function, self.samples, self.calls, self.left = function, samples, 0, 0.0
        self._rounds = 0

    @property
    def is_over(self) -> bool:
        """True if no try is left."""
        return self.left <= 0

    def step(self, env: Mapping[str, Any]) -> None:
        """Count a round of a loop of the code. env: its local variables. Raises: Failed after too many, as they do not
        end, and for an array that has grown too large."""
        self._rounds += 1
        is_large = any(isinstance(each, np.ndarray) and each.size > _MOST_NUMBERS for each in env.values())
        if is_large or self._rounds > _MOST_ROUNDS:
            raise Failed

    @contextmanager
    def calling(self, function: Function) -> Iterator[None]:
        """Within it, the function is in place of that of the code, and its calls and rounds are counted from 0."""
        self._rounds = self.calls = 0
        with in_place_of(self.function, function):
            yield

    def look(self, function: Function, k: int) -> Outlook:
        """Return the result of sample k with the function in place of that of the code."""
        try:
            with self.calling(function):
                return self.samples[k].outlook()
        except Failed:
            return Outlook({RAISES})
        finally:
            self.left -= 1 + self._rounds // _ROUNDS_OF_A_TRY + self.calls // _CALLS_OF_A_TRY

    def compiled(self, code: Code, hook: Function | None = None) -> Function:
        """Return the function, which cannot end the program. An edit that is not code becomes Failed."""

        def guarded(*args: Any, **more: Any) -> Any:
            self.calls += 1
            try:
                return function(*args, **more)
            except SystemExit as error:
                raise Failed from error

        try:
            function = code.compiled(self.step, hook)
        except (SyntaxError, ValueError, TypeError):
            return _failing
        return guarded

    def looks(self, code: Code) -> list[Outlook]:
        """Return the result on every sample, and on the first once more, by one function."""
        function = self.compiled(code)
        return [self.look(function, k) for k in [*range(len(self.samples)), 0]]


def _failing(*args: Any, **more: Any) -> Any:
    raise Failed


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress prints and NumPy's warnings."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


def has_moved(name: str, now: Outlook, then: Outlook) -> bool:
    """True if a wrong output changes, as far as known."""
    is_known = name in now.arrays and name in then.arrays
    return not is_known or not np.array_equal(now.arrays[name][0], then.arrays[name][0])


def is_equal(given: Array, wanted: Array) -> bool:
    """True if they are equal, except for rounding."""
    return given.shape == wanted.shape and np.allclose(
        given, wanted, rtol=0, atol=_SAME * np.abs(wanted).max(initial=_SAME)
    )
