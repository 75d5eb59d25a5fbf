"""Trial: the code is run, edited and unedited, under the eyes of an oracle, with limits of time and of rounds."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import HOOK, Code, filled
from npbert.gradcheck.explain.places import Place, fingerprint

RAISES = "raises"
_ROUNDS = 200_000


@dataclass(frozen=True)
class Outlook:
    """What an oracle sees when the code runs on one sample.

    wrong: the names of the outputs that are wrong, each with how near it comes, from 0 to 1; {"raises": 0} where the
    code fails or gives what is no gradient at all.   right: the names of all others
    arrays: by name, what the code gave and what is wanted, of one shape; for those that can be told so, or for none.
    """

    wrong: Mapping[str, float]
    right: frozenset[str] | set[str] = frozenset()
    arrays: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)


FAILED = Outlook({RAISES: 0.0})


def wrong_in(outlooks: Iterable[Outlook]) -> set[str]:
    """The names of the outputs that are wrong at some sample."""
    return {name for outlook in outlooks for name in outlook.wrong}


def has_failed(outlooks: Iterable[Outlook]) -> bool:
    """Whether the code fails at some sample."""
    return RAISES in wrong_in(outlooks)


class Oracle(Protocol):
    """The judge of one task. samples: at least two, whose sizes all differ; small ones first.

    look(function, k): run the function on sample k, and say what is wrong. It lets exceptions of the function pass, but
    refuses with FAILED what is not shaped as a gradient. It leaves nothing changed.
    """

    samples: Sequence[Any]

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """What is wrong when the function runs on sample k."""
        ...


Give = Callable[[Mapping[str, Any]], Any]


class Failed(BaseException):
    """The code that is tried raised an exception, or makes too many rounds."""


class Trial:
    """Runs code and counts what it costs. limit: seconds of this process."""

    def __init__(self, oracle: Oracle, limit: float) -> None:
        self.oracle, self.limit, self.start, self.rounds = (oracle, limit, time.process_time(), 0)

    @property
    def is_over(self) -> bool:
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
        """The function. What it raises is Failed, and so is what an edit made that is no code."""

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


class Hook:
    """An expression of the code, in whose place any value can be put while the code runs."""

    def __init__(self, trial: Trial, code: Code, place: Place) -> None:
        self.trial, self.code, self.place = trial, code, place
        self.original = self.giving(place.expr)
        self._give: Give = self.original
        call = filled(f"{HOOK}(locals())")
        self._function = trial.compiled(code.edited({id(place.expr): call}), lambda env: self._give(env))

    def giving(self, node: Any) -> Give:
        """What computes an expression from the local variables."""
        expression = compiled_expression(node)
        return lambda env: eval(expression, {**self.code.scope, **env})

    def look(self, k: int, give: Give) -> Outlook:
        """With the value that `give` makes of the local variables."""
        self._give = give
        return self.trial.look(self._function, k)

    def watch(self, k: int) -> None:
        """Notes at the place what it is, and the variables there, if that is not known."""

        def seen(env: Mapping[str, Any]) -> Any:
            value = self.original(env)
            if not self.place.seen:
                self.place.seen, self.place.value = True, copied(value)
                self.place.env = {name: copied(v) for name, v in env.items() if not name.startswith("__")}
            return value

        if not self.place.seen:
            self.look(k, seen)

    def put(self, k: int, value: Any) -> Outlook:
        """With this value at the place, whenever it is reached; what stands there is computed all the same."""
        return self.look(k, lambda env: (self.original(env), value)[1])

    def candidate(self, node: Any, known: set[Any], values: list[Any]) -> Give:
        """Gives the value of another expression, but fails where its first is known. values: is given the first"""
        give = self.giving(node)

        def checked(env: Mapping[str, Any]) -> Any:
            value = give(env)
            if not values:
                values.append(fingerprint(value))
                if values[0] in known:
                    raise Failed
            return value

        return checked


def compiled_expression(node: Any) -> Any:
    """The code of an expression; where it is none, code that fails."""
    try:
        expression = ast.Expression(node)
        return compile(ast.fix_missing_locations(ast.copy_location(expression, node)), "<candidate>", "eval")
    except (SyntaxError, ValueError, TypeError):
        return compile("[][0]", "<candidate>", "eval")


def _failing(*args: Any, **more: Any) -> Any:
    raise Failed


def copied(value: Any) -> Any:
    """A copy of an array, or of arrays in a tuple or list; anything else itself."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)(map(copied, value)) if type(value) in (tuple, list) else value


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed, and NumPy does not warn."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield
