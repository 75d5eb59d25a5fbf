"""Contract: what every layer must keep to, besides a right derivative. Each promise is tried, not believed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter, Tape, TapeError
from npbert.gradcheck.inputs import as_tuple, copy_of, different
from npbert.gradcheck.report import GradientError, Gradients, PromiseError, WrongShapeError

_SET = (
    "is set by backward, and should be added to: after two backwards only that of the last is there, as if = stood for "
    "+= (use add_grad)"
)


class Call:
    """One forward on a tape of its own, with what its backward will be given."""

    def __init__(self, layer: Any, inputs: list[Any], dy: tuple[Array, ...], rng: np.random.Generator | None) -> None:
        self.layer, self.dy = layer, dy
        self.tape = Tape(copy_of(rng))
        self.y = layer.forward(*inputs, tape=self.tape)
        self.dx: tuple[Array, ...] = ()
        self.handed_out = [("y", part, np.copy(part)) for part in as_tuple(self.y)]

    def backward(self, dy: tuple[Array, ...] | None = None) -> tuple[Array, ...]:
        """The gradients of the inputs. Raises: GradientError when the tape is not empty."""
        dy = self.dy if dy is None else dy
        dx = self.layer.backward(dy if isinstance(self.y, tuple | list) else dy[0], self.tape)
        self.dx = () if dx is None else as_tuple(dx)
        self.handed_out += [("dx", part, np.copy(part)) for part in self.dx]
        try:
            self.tape.check_empty()
        except TapeError as error:
            raise GradientError(str(error)) from error
        return self.dx

    def check_unchanged(self) -> None:
        """Raise GradientError when y or dx is not what it was when the caller got it."""
        for name, part, before in self.handed_out:
            if not same(part, before):
                raise GradientError(
                    f"{name} is the caller's, but a later forward or backward changes it: is it a buffer that the "
                    "layer keeps, or written into in place?"
                )


class Contract:
    """The promises of a layer, tried at one point:

    - forward gives the same y with and without a tape, with dropout and without, and all is float64;
    - backward returns a gradient of its shape for each float input, and leaves the tape empty;
    - it changes no value of a parameter, and no y or dx that was handed out earlier;
    - a call in between, with other inputs and a tape of its own, makes no difference, and nor does one before;
    - gradients are added: after two backwards they are the sum of both;
    - no gradient of a parameter lies in memory that is somebody else's: dy's, dx's, y's, or another gradient's;
    - a dy that has more rows than y is refused.
    """

    def __init__(
        self,
        layer: Any,
        inputs: list[Any],
        dy: tuple[Array, ...],
        rng: np.random.Generator | None,
        parameters: dict[str, Parameter],
        float_inputs: dict[str, int],
    ) -> None:
        self.layer, self.inputs, self.dy, self.rng = layer, inputs, dy, rng
        self.parameters, self.float_inputs = parameters, float_inputs

    def gradients(self) -> Gradients:
        """The gradients at the point, by the names of parameters and float inputs. Raises: GradientError."""
        values = {name: parameter.value.copy() for name, parameter in self.parameters.items()}
        self._check_outputs()
        alone, other_alone = self._gradients_of(self._call()), self._gradients_of(self._other_call())
        for name, value in values.items():
            if not np.array_equal(self.parameters[name].value, value, equal_nan=True):
                raise GradientError(f"backward changes the value of {name}: only an optimiser may")

        self._zero_grad()
        call, other_call = self._call(), self._other_call()
        self._compare(
            call.backward(),
            alone,
            "is another one when another call comes between (is something kept on self, and not on the tape, or left "
            "as np.empty gave it?)",
        )
        self._check_memory(call)
        both = other_alone | {name: alone[name] + other_alone[name] for name in self.parameters}
        self._compare_sum(other_call.backward(), both, other_alone)
        call.check_unchanged()

        self._zero_grad()
        self._compare(self._call().backward(), alone, "is another one once others were added")
        self._check_refusal()
        return alone

    def gradients_of_one_call(self) -> Gradients:
        """The same from one forward and one backward, without any trial but that of the shapes."""
        return self._gradients_of(self._call())

    def _call(self) -> Call:
        return Call(self.layer, self.inputs, self.dy, self.rng)

    def _other_call(self) -> Call:
        rng = None if self.rng is None else np.random.default_rng(0)
        return Call(self.layer, list(map(different, self.inputs)), tuple(map(different, self.dy)), rng)

    def _zero_grad(self) -> None:
        for parameter in self.parameters.values():
            parameter.zero_grad()

    def _gradients_of(self, call: Call) -> Gradients:
        self._zero_grad()
        return self._named(call.backward())

    def _compare(self, dx: tuple[Array, ...], wanted: Gradients, otherwise: str) -> None:
        for name, gradient in self._named(dx).items():
            if not same(gradient, wanted[name]):
                raise GradientError(f"the gradient of {name} {otherwise}")

    def _compare_sum(self, dx: tuple[Array, ...], both: Gradients, last: Gradients) -> None:
        """Raise GradientError for a gradient that is not the sum of both backwards, and say so if it is the last's."""
        for name, gradient in self._named(dx).items():
            if same(gradient, both[name]):
                continue
            if same(gradient, last[name]):
                raise PromiseError(f"the gradient of {name} {_SET}")
            raise PromiseError(f"the gradient of {name} is not the sum of two backwards: each should add its own to it")

    def _named(self, dx: tuple[Array, ...]) -> Gradients:
        """Copies of the gradients by name, once their number, shapes and dtypes are right."""
        if len(dx) != len(self.float_inputs):
            forgotten = "" if dx else ": is `return` forgotten?"
            raise GradientError(
                f"backward returns {len(dx)} gradients, for inputs {list(self.float_inputs)}{forgotten}"
            )
        wanted = {name: parameter.value for name, parameter in self.parameters.items()}
        wanted |= {name: self.inputs[position] for name, position in self.float_inputs.items()}
        found = {name: parameter.grad for name, parameter in self.parameters.items()}
        found |= dict(zip(self.float_inputs, dx, strict=True))
        for name, gradient in found.items():
            if np.shape(gradient) != wanted[name].shape or gradient.dtype != np.float64:
                raise WrongShapeError(name, gradient, wanted[name].shape)
        return {name: np.copy(gradient) for name, gradient in found.items()}

    def _check_outputs(self) -> None:
        for rng in [None] if self.rng is None else [self.rng, None]:
            tapes = Tape(copy_of(rng)), Tape(copy_of(rng), keeps=False)
            both = (as_tuple(self.layer.forward(*self.inputs, tape=tape)) for tape in tapes)
            for with_tape, without_tape in zip(*both, strict=True):
                if not same(with_tape, without_tape):
                    raise GradientError("forward gives another y without a tape than with one")
                if np.asarray(with_tape).dtype != np.float64:
                    raise GradientError(f"forward turns float64 into {np.asarray(with_tape).dtype}")

    def _check_memory(self, call: Call) -> None:
        grads = [(f"the gradient of {name}", parameter.grad) for name, parameter in self.parameters.items()]
        others = [(f"the value of {name}", parameter.value) for name, parameter in self.parameters.items()]
        others += [(name, self.inputs[position]) for name, position in self.float_inputs.items()]
        others += [
            (f"the gradient of {name}", gradient) for name, gradient in zip(self.float_inputs, call.dx, strict=True)
        ]
        others += [("dy", dy) for dy in call.dy] + [("y", np.asarray(y)) for y in as_tuple(call.y)]
        pairs = itertools.chain(itertools.product(grads, others), itertools.combinations(grads, 2))
        for (name, grad), (other, array) in pairs:
            if np.shares_memory(grad, array):
                whose = f"{name} shares memory with {other}"
                raise PromiseError(f"{whose}: add_grad wants an array that nobody else holds")

    def _check_refusal(self) -> None:
        """More rows than there are would be the gradient of another output. (NumPy may stretch a single row.)"""
        first = next((number for number, dy in enumerate(self.dy) if dy.ndim > 1 and len(dy) > 1), None)
        if first is None:
            return
        wrong = list(self.dy)
        wrong[first] = np.concatenate([self.dy[first]] * 3)
        try:
            self._call().backward(tuple(wrong))
        except (ValueError, TypeError, IndexError):
            return
        raise PromiseError(
            f"backward does not mind a dy of shape {wrong[first].shape} for a y of shape {self.dy[first].shape}: it "
            "should compare it with what forward kept, and refuse it"
        )


def same(one: Array, other: Array) -> bool:
    """Whether two arrays are equal but for rounding."""
    return np.allclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True)
