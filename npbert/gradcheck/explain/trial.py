"""Trial: the code is run, edited and unedited, under the eyes of an oracle, with limits of time and of rounds."""

import contextlib
import functools
import io
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code

RAISES, VALUES = "what the code gives", "what forward gives"
_ROUNDS = 200_000
_SAME = 1e-9


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
    """Runs code and counts what it costs. limit: seconds of this process."""

    def __init__(self, oracle: Oracle, limit: float) -> None:
        self.oracle, self.limit, self.start, self.rounds = oracle, limit, time.process_time(), 0

    @property
    def is_over(self) -> bool:
        """True if the limit is reached."""
        return time.process_time() - self.start > self.limit

    def step(self) -> bool:
        """Called in each round of each loop of the code."""
        self.rounds += 1
        if self.rounds > _ROUNDS or (self.rounds % 512 == 0 and time.process_time() - self.start > self.limit + 1):
            raise Failed
        return True

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """As the oracle, where the code may raise."""
        self.rounds = 0
        try:
            return self.oracle.look(function, k)
        except Failed:
            return FAILED

    def compiled(self, code: Code, hook: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """The function. What it raises is Failed, and so is what an edit made that is not code."""

        def guarded(*args: Any, **more: Any) -> Any:
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
