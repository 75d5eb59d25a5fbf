"""Layer: what all layers are. It holds parameters and other layers, and nothing that belongs to one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from npbert.core.parameter import Parameter
from npbert.core.parts import named_parameters
from npbert.core.tree import tree


class Layer:
    """One step of a computation, with its derivative beside it. A subclass defines two methods:

    - `forward(x, …, tape=NO_TAPE) -> y` computes the output, and keeps on `tape` what backward will need;
    - `backward(dy, tape) -> dx` is given ∂loss/∂y. It takes back what forward kept, adds ∂loss/∂value to each
      parameter, and returns ∂loss/∂x.

    `dx` always means ∂loss/∂x and has the shape of x. What forward keeps is on the caller's tape and never on `self`,
    so a layer may run twice before either backward, or stand at two places in a model.

    Neither method writes into what it was given. Arrays are rows: x is (N, D), one vector after another, and the dtype
    of the parameters is that of everything. (So scalars come from `math`: `np.sqrt(64)` is a float64, and would turn a
    float32 array into float64.)
    """

    forward: Callable[..., Any]
    backward: Callable[..., Any]

    def __call__(self, *inputs: Any) -> Any:
        """forward without a tape: for when no backward will follow."""
        return self.forward(*inputs)

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Each parameter with its dotted name (`feed_forward.output.weight`), in the order of definition, once."""
        return named_parameters(self)

    def parameters(self) -> list[Parameter]:
        """Each parameter once, in the order of definition."""
        return [parameter for _, parameter in self.named_parameters()]

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def __repr__(self) -> str:
        return tree(self)
