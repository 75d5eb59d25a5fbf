"""Which part of a layer is wrong: each is checked by itself, on what it was given when the whole layer ran."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.core import Tape, TapeError, named_parts
from npbert.gradcheck.derivatives import along, estimates_along, random_steps, size_along
from npbert.gradcheck.exact import NOT_PROVED, prove
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import copy_of
from npbert.gradcheck.report import TOLERANCES, GradientError, Report

_DIRECTIONS = 3


@dataclass(frozen=True)
class Call:
    """One forward of a part: what it was given, and the state of the generator."""

    name: str
    part: Any
    inputs: tuple[Any, ...]
    rng: np.random.Generator | None


@dataclass(frozen=True)
class Verdicts:
    """Of the parts of a layer: the right ones, and the innermost that are wrong or break a promise.

    untried: the parts that could not be checked alone, as one with nothing to move, or with an infinite input.
    """

    right: list[str]
    wrong: list[tuple[Call, ScalarFunction]]
    broken: list[tuple[Call, str]]
    untried: list[str]

    @property
    def outermost_right(self) -> list[str]:
        """Without those that are parts of others that are right."""
        return [name for name in self.right if not any(name.startswith(f"{other}.") for other in self.right)]


NO_VERDICTS = Verdicts([], [], [], [])


def check_parts(function: ScalarFunction) -> Verdicts:
    """Prove each part, the inner ones first; what holds a wrong part is left out."""
    verdicts = Verdicts([], [], [], [])
    for call in reversed(list(_calls(function))):  # a part comes after what holds it
        bad = [inner.name for inner, _ in [*verdicts.wrong, *verdicts.broken]]
        if any(name == call.name or name.startswith(f"{call.name}.") for name in bad):
            continue
        try:
            here = ScalarFunction(call.part, call.inputs, call.rng, 0)
            if not is_right(here):
                verdicts.wrong.append((call, here))
                continue
            here.gradients()  # tries the contract, too
            verdicts.right.append(call.name)
        except (GradientError, TapeError) as error:
            verdicts.broken.append((call, str(error)))
        except Exception:  # a part that does not work alone is no news
            verdicts.untried.append(call.name)
    verdicts.right.reverse()
    verdicts.wrong.reverse()
    return verdicts


def is_right(function: ScalarFunction) -> bool:
    """Whether its derivatives are proved; or right along a few directions, where there is no proof."""
    proof = prove(function.layer, *function.inputs, rng=function.rng)
    if proof.verdict != NOT_PROVED:
        return bool(proof)
    gradients = function.gradients(tried=False)
    steps = random_steps(gradients, _DIRECTIONS, 1)
    numeric = estimates_along(function, steps, TOLERANCES)
    sizes = {"direction": size_along(gradients, steps)}
    return Report.compare({"direction": along(gradients, steps)}, numeric, TOLERANCES, sizes).ok


def _calls(function: ScalarFunction) -> Iterator[Call]:
    """What each part was given the first time, while the whole layer ran once."""
    calls: dict[str, Call] = {}
    with ExitStack() as stack:
        for name, part in named_parts(function.layer):
            if name and hasattr(part, "forward"):
                stack.enter_context(_recorded(name, part, calls))
        function.layer.forward(*function.inputs, tape=Tape(copy_of(function.rng)))
    yield from (calls[name] for name, _ in named_parts(function.layer) if name in calls)


@contextmanager
def _recorded(name: str, part: Any, calls: dict[str, Call]) -> Iterator[None]:
    forward = part.forward

    def recording(*inputs: Any, **options: Any) -> Any:
        tape = next((value for value in [*inputs, *options.values()] if isinstance(value, Tape)), None)
        values = tuple(value for value in inputs if not isinstance(value, Tape))
        if name not in calls and all(isinstance(value, Tape) for value in options.values()):
            calls[name] = Call(name, part, values, None if tape is None else copy_of(tape.rng))
        return forward(*inputs, **options)

    part.forward = recording
    try:
        yield
    finally:
        del part.forward
