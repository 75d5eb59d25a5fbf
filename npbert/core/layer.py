"""Layer: the base of all layers. It holds parameters and other layers, and nothing that belongs to one call."""

from collections.abc import Iterator
from typing import Any

from npbert.compute.array import Forward, Output
from npbert.core.parameter import Parameter
from npbert.core.parts import named_parameters, named_parts
from npbert.core.tape import NO_TAPE, Tape
from npbert.display.layers import NamedList, describe_parts


class Layer:
    """One step of a computation, with its derivative beside it: `forward(x, …, tape=NO_TAPE) -> y`, and `backward(dy,
    tape) -> dx`. What forward keeps is on the caller's tape and never on `self`, so a layer may run twice before either
    backward, or stand at two places in a model. Neither method writes into its arguments. Arrays are rows: x is (N, D).
    All have the dtype of the parameters, so scalars come from `math`: `np.sqrt(64)` is float64, and makes float64 of
    float32. constant_inputs: the names of float inputs without a gradient, such as the target of a loss.
    """

    constant_inputs: tuple[str, ...] = ()

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Return the output y, and keep on `tape` what backward will need."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, *gradients: Any, **options: Any) -> Any:
        """Return dx = ∂loss/∂x, given dy = ∂loss/∂y: take what forward kept, add ∂loss/∂value to each parameter."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def __call__(self: Forward[Output], *inputs: Any, tape: Tape = NO_TAPE) -> Output:
        """Call forward, and tell the tape: then print(tape) and a watcher know which layer ran, and within which.

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
        """Each parameter with its dotted name (`feed_forward.output.weight`), in the order of definition, once."""
        return named_parameters(self)

    def parameters(self) -> list[Parameter]:
        """Each parameter once, in the order of definition. The list prints their names and shapes."""
        return NamedList(self.named_parameters())

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def __repr__(self) -> str:
        """A line for the layer and one for each part, by its path: settings, and shapes of parameters and arrays."""
        return describe_parts(named_parts(self))
