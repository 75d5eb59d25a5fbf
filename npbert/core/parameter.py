"""Parameter: an array that is learned, with its gradient. Init: the numbers that a fresh one starts with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute.array import Array, DTypeLike
from npbert.compute.sums import scatter_add
from npbert.display import in_short


class Parameter:
    """An array that is learned: `value`, which an optimiser changes in place, and `grad`, the gradient of the loss.

    Backward passes add to `grad`. A parameter that two layers share (a tied weight) is one object: both add to it.
    start: draws `value` at its first read; None for a value that is given, or drawn already.
    """

    def __init__(self, value: Array, start: Init | None = None) -> None:
        self._value, self.start = value, start

    @property
    def value(self) -> Array:
        """The numbers that are learned."""
        if self.start and self.start.rng:
            drawn = self.start.rng.normal(0.0, self.start.std, self._value.shape)
            self._value[...], self.start = drawn, None  # drawn in float64, so every dtype of a model starts alike
        return self._value

    @value.setter
    def value(self, value: Array) -> None:
        self._value, self.start = value, None

    @property
    def grad(self) -> Array:
        """∂loss/∂value, of its shape and dtype: the sum of all that was added since `zero_grad`."""
        gradients, key = self._gradients()
        if key not in gradients:
            gradients[key] = np.zeros_like(self.value)
        return gradients[key]

    @grad.setter
    def grad(self, grad: Array) -> None:
        why = "several backwards may add to one gradient (to scale it, grad[...] *= factor)"
        raise AttributeError(f"use add_grad(…) in place of = and +=: {why}")

    def add_grad(self, grad: Array, rows: Array | None = None) -> None:
        """Add what one backward found: to the whole gradient, or row n of it to row rows[n], which may be there twice.
        The first gradient after `zero_grad` is kept as it is, not copied. So hand over an array that nobody else holds.
        Raises: ValueError for another shape than that of `value`, or of its rows; TypeError for another dtype.
        """
        wanted = self.value.shape if rows is None else (len(rows), *self.value.shape[1:])
        if grad.shape != wanted:
            raise ValueError(f"a gradient of shape {grad.shape} for a parameter of shape {wanted}")
        if grad.dtype != self.value.dtype:
            raise TypeError(f"a gradient of {grad.dtype} for a parameter of {self.value.dtype}")
        gradients, key = self._gradients()
        if rows is not None:
            scatter_add(self.grad, rows, grad)
        elif key in gradients:
            gradients[key] += grad
        else:
            gradients[key] = np.asarray(grad)  # a sum over everything is a NumPy scalar, which could not be added to

    def zero_grad(self) -> None:
        """Set the gradient to 0, and give its memory back."""
        gradients, key = self._gradients()
        gradients.pop(key, None)

    def _gradients(self) -> tuple[dict[Any, Array], Any]:
        """Where the gradient is, unless it is 0: in the parameter, or in the part of a batch that this thread has."""
        part = _part.get()
        return (vars(self), "_grad") if part is None else (part, self)

    def __repr__(self) -> str:
        return f"Parameter {in_short(self.value)}"


_part: ContextVar[dict[Parameter, Array] | None] = ContextVar("_part", default=None)


@contextmanager
def gradients_of_a_part() -> Iterator[dict[Parameter, Array]]:
    """Give a dict that takes, within this, what backward adds to each parameter, unless it is 0. The parameters' own
    gradients stay as they are, so threads can compute several parts of a batch at the same time."""
    gradients: dict[Parameter, Array] = {}
    token = _part.set(gradients)
    try:
        yield gradients
    finally:
        _part.reset(token)


class Fixed:
    """Zeros in the place of a parameter that a model leaves out: `value` stays 0, and gradients are dropped. No
    `Parameter`, so it is neither learned nor saved."""

    def __init__(self, value: Array) -> None:
        self.value = value

    def add_grad(self, grad: Array, rows: Array | None = None) -> None:
        """Drop the gradient."""


class LazyGenerator(np.random.Generator):
    """A Generator from which Init draws only when a value is first read: for a model about to be loaded."""


@dataclass(frozen=True)
class Init:
    """The start of fresh parameters: weights from normal(0, std), biases at 0.

    rng: where the weights are drawn from. With None they are 0, for a model whose values are about to be loaded.
    std: BERT's is 0.02, its `initializer_range`. dtype: of the parameters, and so of all that is computed with them.
    bias: False leaves out every bias, and LayerNorm's β, as ModernBERT does: they are 0 and not learned.
    (0.02 and a normal that is cut off at two standard deviations are in Google's code, create_initializer; Hugging
    Face's code does not cut it off.) Raises: TypeError for an rng that is not a Generator, or a dtype that is no float.
    """

    rng: np.random.Generator | None
    std: float = 0.02
    dtype: DTypeLike = np.float32
    bias: bool = True

    def __post_init__(self) -> None:
        if self.rng is not None and not isinstance(self.rng, np.random.Generator):
            raise TypeError(f"rng is {self.rng!r}, wanted a Generator, such as np.random.default_rng(0), or None")
        if np.dtype(self.dtype).kind != "f":
            raise TypeError(f"dtype is {np.dtype(self.dtype)}, wanted a float, such as np.float32")

    def normal(self, *shape: int) -> Parameter:
        """A parameter drawn from normal(0, std)."""
        later = Parameter(np.zeros(shape, self.dtype), start=self)
        return later if isinstance(self.rng, LazyGenerator) else Parameter(later.value)

    def zeros(self, *shape: int) -> Parameter | Fixed:
        """A parameter of zeros: a bias, or LayerNorm's β; `Fixed` where biases are left out."""
        zeros = np.zeros(shape, self.dtype)
        return Parameter(zeros) if self.bias else Fixed(zeros)

    def ones(self, *shape: int) -> Parameter:
        """A parameter of ones: LayerNorm's γ."""
        return Parameter(np.ones(shape, self.dtype))
