"""Layer: the base class of all layers. It holds parameters and other layers, but no state of a call."""

from collections.abc import Iterator
from typing import Any

from npbert.compute.array import Forward, Output
from npbert.core.parameter import Parameter
from npbert.core.parts import named_parameters, named_parts
from npbert.core.tape import NO_TAPE, Tape
from npbert.display import describe_parts


class Layer:
    """Base class of a step of a computation and its derivative: `forward(x, …, tape=NO_TAPE) -> y`, `backward(dy, tape)
    -> dx`.

    Forward keeps its values on the caller's tape, not on `self`. So a layer may run twice before its backwards, or be
    used at two places of a model. Neither method writes into its arguments. Arrays are rows: x is (N, D). All have the
    dtype of the parameters, so scalars come from `math`: `np.sqrt(64)` is float64, and turns float32 into float64.

    constant_inputs: the names of float inputs without a gradient, such as the target of a loss.
    """

    constant_inputs: tuple[str, ...] = ()

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Return the output y, and keep the values for backward on `tape`."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, *gradients: Any, **options: Any) -> Any:
        """Return dx = ∂loss/∂x, given dy = ∂loss/∂y: take the kept values, and add ∂loss/∂value to each parameter."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def __call__(self: Forward[Output], *inputs: Any, tape: Tape = NO_TAPE) -> Output:
        """Call forward, and record on the tape which layer ran, and within which, for print(tape) and watchers.

        The tape is the last input, with or without its name. Without a tape, nothing is kept for backward.
        """
        if inputs and isinstance(inputs[-1], Tape):
            tape, inputs = inputs[-1], inputs[:-1]
        if tape is NO_TAPE:
            return self.forward(*inputs)
        tape.under_way.append(self)
        try:
            output = self.forward(*inputs, tape=tape)
        finally:
            tape.under_way.pop()
        if tape.watcher is not None:
            tape.watcher(self, inputs, output)
        return output

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Return each parameter once, with its dotted name (`feed_forward.output.weight`), in the order of
        definition."""
        return named_parameters(self)

    def parameters(self) -> list[Parameter]:
        """Return each parameter once, in the order of definition."""
        return [parameter for _, parameter in self.named_parameters()]

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def __repr__(self) -> str:
        """Return a line for the layer and for each part, by its path: settings, and shapes of parameters and arrays."""
        return describe_parts(named_parts(self))
