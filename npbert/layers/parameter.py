"""What a layer is made of: a Parameter holds an array and its gradient, a Layer holds parameters and other layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
Cache = Any


class Parameter:
    """An array that is learned, and the gradient of the loss with respect to it.

    `value` and `grad` have the same shape and dtype. Backward passes add to `grad`; an optimiser reads it and changes
    `value` in place. A parameter that two layers share (a tied weight) is one object, so both add to the same `grad`.
    """

    def __init__(self, value: Array) -> None:
        self.value = value
        self._grad: Array | None = None
        self.grad_is_zero = True

    @classmethod
    def normal(
        cls,
        shape: tuple[int, ...],
        *,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> Parameter:
        """A parameter drawn from normal(0, initializer_range), as Hugging Face's BERT starts.

        (Google's code cuts the normal off at two standard deviations.) The draw is made in float64 and then rounded, so
        a float32 and a float64 model of one seed hold the same numbers, but for that rounding.
        With `rng=None` the values are 0: for a model whose values are about to be loaded.

        Raises: TypeError for another rng.
        """
        if rng is None:
            return cls(np.zeros(shape, dtype))
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng is {rng!r}, wanted a Generator, such as np.random.default_rng(0), or None")
        return cls(rng.normal(0.0, initializer_range, shape).astype(dtype))

    @property
    def grad(self) -> Array:
        """∂loss/∂value, summed over all backwards since `zero_grad`."""
        if self._grad is None:
            self._grad = np.zeros(self.value.shape, self.value.dtype)
        elif self.grad_is_zero:
            self._grad.fill(0)
        self.grad_is_zero = False
        return self._grad

    @grad.setter
    def grad(self, grad: Array) -> None:
        self._grad, self.grad_is_zero = grad, False

    def zero_grad(self) -> None:
        """Set the gradient to 0. The zeros are not written until somebody looks: most are overwritten before."""
        self.grad_is_zero = True

    def grad_to_overwrite(self) -> Array:
        """The array of the gradient, for a caller who sets every element of it, whatever it holds."""
        if self._grad is None:
            self._grad = np.empty(self.value.shape, self.value.dtype)
        self.grad_is_zero = False
        return self._grad

    def __repr__(self) -> str:
        return f"Parameter(shape={self.value.shape}, dtype={self.value.dtype})"


def named_parameters(owner: object) -> Iterator[tuple[str, Parameter]]:
    """Each Parameter of `owner` with its dotted name, in the order of definition, once even when it is shared.

    `owner` is any object: its attributes are walked, and those of the layers (anything with a `forward`) that it holds,
    alone or in a list, tuple or dict.
    """
    seen: set[int] = set()

    def walk(prefix: str, item: Any) -> Iterator[tuple[str, Parameter]]:
        parts: dict[Any, Any] = {}
        if isinstance(item, list | tuple):
            parts = dict(enumerate(item))
        elif isinstance(item, dict):
            parts = item
        elif item is owner or isinstance(item, Parameter | Layer) or hasattr(item, "forward"):
            if id(item) in seen:
                return
            seen.add(id(item))
            if isinstance(item, Parameter):
                yield prefix, item
            else:
                parts = vars(item)
        for name, part in parts.items():
            yield from walk(f"{prefix}.{name}" if prefix else str(name), part)

    yield from walk("", owner)


class Layer:
    """Holds parameters and parts, and nothing that changes from call to call.

    A subclass defines two methods, side by side, so that each derivative stands beside what it is the derivative of:

    - `forward(x, …) -> (y, cache)`: the output, and exactly what backward needs of this call;
    - `backward(dy, cache) -> dx`: takes ∂loss/∂y, adds ∂loss/∂value to the `grad` of each parameter, returns ∂loss/∂x.

    As the cache is handed to the caller, a layer may run twice before either backward, or at two places in a model.
    A cache is used up by its backward; otherwise, no method writes into its arguments.

    The dtype of the parameters and inputs is kept. So scalars come from `math`: `np.sqrt(64)` is a float64, which would
    turn a float32 array into float64.
    """

    forward: Callable[..., tuple[Any, Cache]]
    backward: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        """The output alone, for inference: the cache is dropped at once."""
        return self.forward(*args)[0]

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


def rows(x: Array) -> Array:
    """x (..., D) as a matrix (N, D): to most layers, batch and time are just many rows.

    For a contiguous x it is a view, so writing to it writes to x.
    """
    return x.reshape(-1, x.shape[-1])
