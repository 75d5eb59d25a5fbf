"""Layer: the base of all layers. It holds parameters and other layers, and nothing that belongs to one call."""

from collections.abc import Iterable, Iterator
from typing import Any

from npbert.compute.array import Forward, Output
from npbert.core.parameter import Parameter
from npbert.describe import describe_parts
from npbert.shown import Row, Sheet, Shown


class _Parameters(list[Parameter], Shown):
    """A list of parameters that knows what they were called."""

    __repr__ = Shown.__repr__

    def __init__(self, named: Iterable[tuple[str, Parameter]]) -> None:
        named = list(named)
        super().__init__(parameter for _, parameter in named)
        self._names = {id(parameter): name for name, parameter in named}

    def _sheet(self) -> Sheet:
        rows = [Row(self._names.get(id(each), "added later"), (str(each.value.shape),)) for each in self]
        count = sum(parameter.value.size for parameter in self)
        return Sheet(f"{len(self)} parameters of {count:,} numbers in all", rows=rows)


class Layer(Shown):
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

    def __call__(self: Forward[Output], *inputs: Any) -> Output:
        """Call forward without a tape, for when no backward will follow."""
        return self.forward(*inputs)

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Each parameter with its dotted name (`feed_forward.output.weight`), in the order of definition, once."""
        return named_parameters(self)

    def parameters(self) -> list[Parameter]:
        """Each parameter once, in the order of definition. The list prints their names and shapes."""
        return _Parameters(self.named_parameters())

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def _sheet(self) -> Sheet:
        """A line for the layer and one for each part, by its path: settings, and shapes of parameters and arrays."""
        return describe_parts(named_parts(self))


def named_parameters(owner: object) -> Iterator[tuple[str, Parameter]]:
    """Each Parameter of `owner` with its dotted name, in the order of definition, once even when it is shared: of its
    attributes, and of the layers (anything with a `forward`) that it holds, alone or in a list, tuple or dict."""
    return ((name, part) for name, part in named_parts(owner) if isinstance(part, Parameter))


def named_parts(owner: object) -> Iterator[tuple[str, Any]]:
    """As named_parameters, with the layers, each before its own parts. The first is `owner` itself, named ""."""
    return _walk("", owner, set(), is_part=True)


def _walk(name: str, item: Any, seen: set[int], *, is_part: bool = False) -> Iterator[tuple[str, Any]]:
    is_layer = (hasattr(item, "forward") or hasattr(item, "named_parameters")) and not isinstance(item, type)
    if id(item) in seen:
        return
    members = dict(enumerate(item)) if isinstance(item, list | tuple) else item
    if is_part or is_layer or isinstance(item, Parameter):
        seen.add(id(item))
        yield name, item
        members = getattr(item, "__dict__", members)
    for key, member in members.items() if isinstance(members, dict) else ():
        yield from _walk(f"{name}.{key}" if name else str(key), member, seen)
