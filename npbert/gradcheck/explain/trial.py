"""Trial: the code is run, edited and unedited, under the eyes of an oracle, and every run is counted."""

import contextlib
import functools
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code

RAISES, VALUES = "what the code gives", "what forward gives"
_SAME = 1e-9
_ROUNDS_OF_A_TRY = 300  # so many rounds of loops cost as much as a run without any
_MOST_ROUNDS = 200_000
_ENDLESS = 10  # times as many rounds as the code makes as it is written: an edited loop does not end


@dataclass(frozen=True)
class Outlook:
    """All that an oracle sees when the code runs on one sample.

    wrong, right: the names of outputs; RAISES where the code fails or gives what is no gradient at all.
    arrays: by name, what the code gave and what is wanted, of one shape; for those that can be told so, or for none.
    """

    wrong: Set[str]
    right: Set[str] = frozenset()
    arrays: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)


FAILED = Outlook({RAISES})
OTHER_VALUES = Outlook({RAISES, VALUES})
"""The code gives another y than it did: it is not its gradient that is looked at any more."""


def wrong_in(outlooks: Iterable[Outlook]) -> set[str]:
    """The names of the outputs that are wrong at some sample."""
    return {name for outlook in outlooks for name in outlook.wrong}


def has_failed(outlooks: Iterable[Outlook]) -> bool:
    """True if the code fails at some sample."""
    return RAISES in wrong_in(outlooks)


def is_worse(now: Outlook, then: Outlook, times: float = 1.0) -> bool:
    """True if an output that is wrong then is farther from what is right than it was: so many times as far."""
    names = then.wrong & now.arrays.keys() & then.arrays.keys()
    return any(_error(*then.arrays[name]) > 1.001 * times * _error(*now.arrays[name]) for name in names)


def _error(given: Array, right: Array) -> float:
    return float(np.nan_to_num(np.abs(given - right), nan=np.inf).max(initial=0))


class Oracle(Protocol):
    """The judge of one task. samples: at least two, whose sizes all differ; small ones first.

    look(function, k): run the function on sample k, and say what is wrong. It lets exceptions of the function pass, but
    refuses with FAILED what is not shaped as a gradient. It leaves nothing changed.
    """

    samples: Sequence[Any]

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """The errors when the function runs on sample k."""
        ...


class Failed(BaseException):
    """The code that is tried raised an exception, or makes too many rounds."""


class Trial:
    """Runs code. What that costs is counted in tries, which are the same on every machine: a run without loops is one.

    left: the tries that are left.   calls: of the function, in the last look
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle, self.left, self.calls = oracle, 0, 0
        self._rounds, self._longest, self._most_rounds = 0, 100, _MOST_ROUNDS

    @property
    def is_over(self) -> bool:
        """True if no try is left."""
        return self.left <= 0

    def step(self) -> bool:
        """Called in each round of each loop of the code."""
        self._rounds += 1
        if self._rounds > self._most_rounds:
            raise Failed
        return True

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """As the oracle, where the code may raise."""
        self._rounds = self.calls = 0
        try:
            outlook = self.oracle.look(function, k)
            self._longest = max(self._longest, self._rounds)
            return outlook
        except Failed:
            return FAILED
        finally:
            self.left -= 1 + self._rounds // _ROUNDS_OF_A_TRY

    def first(self, code: Code) -> list[Outlook]:
        """The code as it is written, at every sample: what makes many more rounds than that does not end."""
        found = self.looks(code)
        self._most_rounds = _ENDLESS * self._longest
        return found

    def compiled(self, code: Code, hook: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """The function. What it raises is Failed, and so is what an edit made that is not code."""

        def guarded(*args: Any, **more: Any) -> Any:
            self.calls += 1
            try:
                return function(*args, **more)
            except (Exception, SystemExit) as error:
                raise Failed from error

        try:
            function = code.compiled(self.step, hook)
        except (SyntaxError, ValueError, TypeError):
            return _failing
        return functools.update_wrapper(guarded, function)

    def looks(self, code: Code) -> list[Outlook]:
        """At every sample, and at the first once more, by one and the same function."""
        function = self.compiled(code)
        return [self.look(function, k) for k in [*range(len(self.oracle.samples)), 0]]


def _failing(*args: Any, **more: Any) -> Any:
    raise Failed


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed, and NumPy does not warn."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


def is_equal(given: Array, wanted: Array) -> bool:
    """True if they are the same, but for rounding."""
    return given.shape == wanted.shape and bool(is_near(given, wanted).all())


def is_near(given: Array, wanted: Array) -> Any:
    """Where two arrays are the same, but for rounding."""
    return np.abs(given - wanted) <= _SAME * max(float(np.abs(wanted).max(initial=0)), _SAME)
