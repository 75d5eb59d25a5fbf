"""A layer, run forward and backward: on the user's own floats, and on Numbers instead of them."""

import copy
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter, Tape, TapeError
from npbert.gradcheck.exact.arrays import ERROR, TANGENT, VALUE, part_of_numbers, seen, unknowns_like
from npbert.gradcheck.exact.number import NoRuleError, Number
from npbert.gradcheck.exact.room import Swap, room_for_numbers, swaps_for
from npbert.gradcheck.gradients_by_name import gradients_by_name
from npbert.gradcheck.inputs import as_tuple, copied, copy_of, float_inputs_of, is_float_array, parameters_of, replaced
from npbert.gradcheck.report import GradientError
from npbert.gradcheck.restoring import reachable

SLACK = 4.0  # times the bound on rounding, which is of the first order
_DECADES, _LARGE = 3, 1e4


@dataclass(frozen=True)
class Floats:
    """One forward and one backward on the user's own floats.

    y, dy: what forward gave, and what backward was given. gradients: by name. epsilon: of the coarsest dtype.
    """

    y: tuple[Any, ...]
    dy: tuple[Any, ...]
    gradients: dict[str, Array]
    epsilon: float

    @property
    def factor(self) -> float:
        """The exact numbers are given this times dy, and so their gradients are this times those of floats: −1, as some
        functions treat negative numbers otherwise. The dy of a loss becomes a short fraction: its backward may compute
        with it in floats, and what they make of it has to be known exactly."""
        if len(self.dy) > 1 or np.ndim(self.dy[0]):
            return -1.0
        return float(-(2 * math.floor(self.dy[0]) + 1) / 2**7 / self.dy[0])

    @property
    def dy_of_numbers(self) -> tuple[Any, ...]:
        """What backward is given on exact numbers."""
        return tuple(each * self.factor for each in self.dy)


class Case:
    """A layer with what its forward is given, and its dotted name, if it is a part of another one.

    rng: for dropout. things: all that the layer holds, where that is known. parameters: by name. float_inputs: the
    positions of the inputs that have a gradient, by name. swaps: see `room_for_numbers`.
    """

    def __init__(
        self,
        layer: Any,
        inputs: Iterable[Any],
        rng: np.random.Generator | None,
        name: str = "",
        things: Iterable[Any] | None = None,
    ) -> None:
        self.layer, self.inputs, self.rng, self.name, self._things = layer, list(inputs), rng, name, things

    @cached_property
    def things(self) -> list[Any]:
        """All that the layer holds."""
        return list(reachable([self.layer]) if self._things is None else self._things)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Those of the layer by name, and those that it hides."""
        return parameters_of(self.layer, self.things)

    @cached_property
    def float_inputs(self) -> dict[str, int]:
        """The positions of the inputs that have a gradient, by name."""
        return float_inputs_of(self.layer, self.inputs, self.parameters)

    @cached_property
    def swaps(self) -> list[Swap]:
        """What means something else on exact numbers."""
        return swaps_for(self.things)

    @property
    def variables(self) -> dict[str, Array]:
        """All that can be moved: the parameters' values and the float inputs, by name."""
        values = {name: parameter.value for name, parameter in self.parameters.items()}
        return values | {name: self.inputs[position] for name, position in self.float_inputs.items()}

    @property
    def size(self) -> int:
        """The count of all numbers that can be moved."""
        return sum(array.size for array in self.variables.values())

    def leave_out(self, names: set[str]) -> None:
        """Take these inputs for constants, as backward returns None for them."""
        self.float_inputs = {name: position for name, position in self.float_inputs.items() if name not in names}

    def made(self, make: Callable[[Array], Any]) -> Any:
        """A context: see `replaced`."""
        return replaced(self.parameters, self.inputs, self.float_inputs, make)

    @contextmanager
    def moved(self, make: Callable[[Array], Any]) -> "Iterator[Case]":
        """While it lasts, parameters are others; gives the case with other inputs, too."""
        with self.made(make) as (given, _):
            there = copy.copy(self)
            there.inputs = list(map(copied, given))
            yield there

    def outputs(self) -> tuple[Array, ...]:
        """y, each time with the same dropout."""
        y = self.layer.forward(*self.inputs, tape=Tape(copy_of(self.rng)))
        return tuple(map(np.copy, as_tuple(y)))  # y may be x itself, which is moved again

    def run_on_floats(self, dy: tuple[Any, ...] | np.random.Generator) -> Floats:
        """What the layer does with floats. Inputs for which backward returns None are constants from then on. dy: as it
        is, or where it is drawn from. Raises: what forward raises; GradientError when backward raises, or does not
        return one gradient for each float input."""
        with self.made(np.copy) as (given, variables):
            tape = Tape(copy_of(self.rng))
            y = self.layer.forward(*map(copied, given), tape=tape)
            ys = tuple(np.copy(part) for part in as_tuple(y))
            if isinstance(dy, np.random.Generator):
                dy = tuple(_drawn_like(part, dy) for part in ys)
            try:
                dx = self.layer.backward(dy if isinstance(y, tuple | list) else dy[0], tape)
            except TapeError:
                raise
            except Exception as error:
                raise GradientError(f"backward raises {type(error).__name__}: {error}") from error
            found = gradients_by_name(self.parameters, list(self.float_inputs), dx, tape)
            for name in found.keys() & self.float_inputs.keys():
                if np.shape(found[name]) != variables[name].shape:
                    shapes = f"has shape {np.shape(found[name])}, and {name} {variables[name].shape}"
                    raise GradientError(f"the gradient of {name} {shapes}")
            gradients = {name: np.copy(gradient) for name, gradient in found.items()}
            values = (parameter.value for parameter in self.parameters.values())
            dtypes = {array.dtype for array in (*ys, *gradients.values(), *values, *given) if is_float_array(array)}
        epsilon = max((float(np.finfo(dtype).eps) for dtype in dtypes), default=2.0**-52)
        self.leave_out(self.float_inputs.keys() - gradients.keys())
        return Floats(ys, dy, gradients, epsilon)


class Seen(NamedTuple):
    """What exact numbers are seen as, and how far floats may be off by rounding, in halves of an epsilon (0 where the
    bound overflows)."""

    floats: Array
    error: Array

    def room(self, floats: Floats) -> Array:
        """How far these floats may be off."""
        return SLACK * floats.epsilon / 2 * self.error


@dataclass(frozen=True)
class ExactRun:
    """One forward and one backward on Numbers.

    tangents: of the parameters and float inputs by name, arrays of the world's objects. growth: ⟨dy, ẏ⟩. gradients:
    what backward says, values by name. seen_y, seen: the outputs and the gradients by name, in floats. ties: the
    comparisons of different numbers that are equal in floats.
    """

    tangents: dict[str, Array]
    growth: Any
    gradients: dict[str, Array]
    seen_y: dict[str, Seen]
    seen: dict[str, Seen]
    ties: int

    @property
    def difference(self) -> Any:
        """⟨dy, ẏ⟩ − ⟨dx, ẋ⟩ − Σ ⟨dW, Ẇ⟩, which is 0 where backward is right."""
        return self.growth - sum(_inner(self.gradients[name], moved) for name, moved in self.tangents.items())

    def parting(self, floats: Floats) -> str:
        """The first number of y that the same code makes another one of on floats, beyond rounding, in words; or ""."""
        return _first_apart(self.seen_y, dict(zip(names_of(floats.y), floats.y, strict=True)), floats)

    def backward_parting(self, floats: Floats) -> str:
        """The same of the gradients."""
        return _first_apart(self.seen, floats.gradients, floats, floats.factor)


def _first_apart(seen: dict[str, Seen], own: dict[str, Any], floats: Floats, factor: float = 1.0) -> str:
    for name, array in own.items():
        exact, room = seen[name].floats / factor, seen[name].room(floats) / abs(factor)
        apart = ~(np.abs(array - exact) <= room + np.finfo(array.dtype).tiny)
        if np.any(apart):
            at = tuple(map(int, np.argwhere(apart)[0]))
            return f"{_at(name, at)} is {array[at]:.9g} on your floats, and {exact[at]:.9g} on exact numbers"
    return ""


def run_on_numbers(world: Any, part: Case, dy: tuple[Any, ...], *, backward: bool = True) -> ExactRun:
    """Run a layer once in this world. backward: False runs forward alone.

    Raises: GradientError when backward does not return one gradient for each float input; whatever the layer raises
    where exact numbers do not flow through it.
    """
    with inhabited(world), part.made(unknowns_like) as (given, variables):
        tangents = {name: part_of_numbers(value, TANGENT) for name, value in variables.items()}
        with room_for_numbers(part.swaps):
            tape = Tape(copy_of(part.rng))
            y = part.layer.forward(*given, tape=tape)
            ys = as_tuple(y)
            seen_y = {name: _seen(name, each) for name, each in zip(names_of(ys), ys, strict=True)}
            dys = tuple(unknowns_like(each) if np.ndim(each) else float(each) for each in dy)
            growth: Any = sum(
                _inner(part_of_numbers(d, VALUE), part_of_numbers(each, TANGENT))
                for d, each in zip(dys, ys, strict=True)
            )
            found: dict[str, Any] = {}
            if backward:
                Number.keeps_tangents = False
                dx = part.layer.backward(dys if isinstance(y, tuple | list) else dys[0], tape)
                found = gradients_by_name(part.parameters, list(part.float_inputs), dx, tape)
        seens = {name: _seen(f"the gradient of {name}", each) for name, each in found.items()}
        gradients = {name: part_of_numbers(each, VALUE) for name, each in found.items()}
        return ExactRun(tangents, growth, gradients, seen_y, seens, Number.ties)


def names_of(ys: Sequence[Any]) -> list[str]:
    """`y`, or `y[0]` and so on."""
    return ["y"] if len(ys) == 1 else [f"y[{position}]" for position in range(len(ys))]


def _seen(name: str, array: Any) -> Seen:
    """The floats of Numbers. Raises: NoRuleError for one that is not finite."""
    floats = np.asarray(seen(array))
    if not np.isfinite(floats).all():
        at = tuple(map(int, np.argwhere(~np.isfinite(floats))[0]))
        raise NoRuleError(f"{_at(name, at)} is {floats[at]}, where there is no derivative")
    return Seen(floats, np.nan_to_num(np.asarray(part_of_numbers(array, ERROR), float), nan=0.0, posinf=0.0))


def _at(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def _inner(a: Array, b: Array) -> Any:
    """Σ a b."""
    return (np.ravel(a) * np.ravel(b)).sum()


def _drawn_like(part: Array, drawn: np.random.Generator) -> Any:
    """A dy for this part of y, of all sizes and signs, so that a function that treats some otherwise is seen."""
    sizes = 10.0 ** drawn.uniform(-_DECADES, _DECADES, np.shape(part))
    if not np.ndim(part):
        return float(sizes * _LARGE)
    return (sizes * drawn.standard_normal(np.shape(part))).astype(part.dtype)


_one_at_a_time = threading.RLock()


@contextmanager
def inhabited(world: Any) -> Iterator[None]:
    """While it lasts, Numbers are of this world. Other threads wait for their turn."""
    with _one_at_a_time:
        Number.world, Number.keeps_tangents, Number.ties, Number.constants = world, True, 0, {}
        yield
