"""Parameter: a learned array with its gradient. Init: the initial values of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array, DTypeLike, scatter_add
from npbert.core.checks import check_rng
from npbert.display import in_short


class Parameter:
    """A learned array: `value`, which an optimizer changes in place, and `grad`, the gradient of the loss.

    Backward passes add to `grad`. A tied weight is one Parameter in two layers, and both add to it.

    start: draws `value` at its first read; None if it has its value.
    """

    def __init__(self, value: Array, start: Init | None = None) -> None:
        self._value, self.start = value, start

    @property
    def value(self) -> Array:
        """The learned numbers."""
        if self.start and self.start.rng:
            drawn = self.start.rng.normal(0.0, self.start.std, self._value.shape)
            self._value[...], self.start = drawn, None  # drawn in float64, so every dtype of a model starts alike
        return self._value

    @value.setter
    def value(self, value: Array) -> None:
        self._value, self.start = value, None

    @property
    def grad(self) -> Array:
        """∂loss/∂value, of its shape and dtype: the sum of all gradients added since `zero_grad`."""
        gradients, key = self._gradients()
        if key not in gradients:
            gradients[key] = np.zeros_like(self.value)
        return gradients[key]

    @grad.setter
    def grad(self, grad: Array) -> None:
        why = "several backwards may add to one gradient (to scale it, use grad[...] *= factor)"
        raise AttributeError(f"use add_grad(…) instead of = and +=, as {why}")

    def add_grad(self, grad: Array, rows: Array | None = None) -> None:
        """Add to the gradient: to all of it, or row n of `grad` to row rows[n]. `rows` may repeat.

        The first gradient after `zero_grad` is kept, and copied only if it is a view of another array. So pass an array
        that is not used elsewhere.

        Raises: ValueError for another shape than that of `value`, or of its rows; TypeError for another dtype.
        """
        wanted = self.value.shape if rows is None else (len(rows), *self.value.shape[1:])
        if grad.shape != wanted:
            raise ValueError(f"grad has shape {grad.shape}, wanted {wanted}, as the parameter")
        if grad.dtype != self.value.dtype:
            raise TypeError(f"grad is {grad.dtype}, wanted {self.value.dtype}, as the parameter")
        gradients, key = self._gradients()
        if rows is not None:
            scatter_add(self.grad, rows, grad)
        elif key in gradients:
            gradients[key] += grad
        else:  # later sums go into it: += cannot change a NumPy scalar, and should not change the array of a view
            gradients[key] = np.asarray(grad) if grad.flags.owndata else grad.copy()

    def zero_grad(self) -> None:
        """Set the gradient to 0, and free its memory."""
        gradients, key = self._gradients()
        gradients.pop(key, None)

    def _gradients(self) -> tuple[dict[Any, Array], Any]:
        """The dict with the gradient, unless it is 0: the parameter's, or that of this thread's part of a batch."""
        part = _part.get()
        return (vars(self), "_grad") if part is None else (part, self)

    def __repr__(self) -> str:
        return f"Parameter {in_short(self.value)}"


_part: ContextVar[dict[Parameter, Array] | None] = ContextVar("_part", default=None)


@contextmanager
def gradients_of_a_part() -> Iterator[None]:
    """Within it, the gradients of all parameters are separate ones, at first 0.

    So threads can compute several parts of a batch at the same time."""
    token = _part.set({})
    try:
        yield
    finally:
        _part.reset(token)


class Fixed:
    """Zeros in place of a parameter that a model leaves out. Gradients are dropped. It is not a `Parameter`, so it is
    neither learned nor saved."""

    def __init__(self, value: Array) -> None:
        self.value = value

    def add_grad(self, grad: Array, rows: Array | None = None) -> None:
        """Drop the gradient."""


class LazyGenerator(np.random.Generator):
    """A Generator for Init that draws a value only when it is first read, for a model about to be loaded."""


@dataclass(frozen=True)
class Init:
    """Creates initial parameters: weights from normal(0, std), biases 0.

    rng: the generator of the weights; None: all are 0, for a model about to be loaded.
    std: BERT's `initializer_range`, 0.02.
    dtype: of the parameters, and so of all computations with them.
    bias: False leaves out every bias and LayerNorm's β, as in ModernBERT.

    (Google's code, create_initializer, cuts the normal distribution at two standard deviations; Hugging Face's does
    not.)

    Raises: TypeError for an rng that is not a Generator, or a dtype that is not a float.
    """

    rng: np.random.Generator | None
    std: float = 0.02
    dtype: DTypeLike = np.float32
    bias: bool = True

    def __post_init__(self) -> None:
        check_rng(self.rng)
        if np.dtype(self.dtype).kind != "f":
            raise TypeError(f"dtype is {np.dtype(self.dtype)}, wanted a float, such as np.float32")

    def normal(self, *shape: int) -> Parameter:
        """Return a parameter drawn from normal(0, std)."""
        later = Parameter(np.zeros(shape, self.dtype), start=self)
        return later if isinstance(self.rng, LazyGenerator) else Parameter(later.value)

    def zeros(self, *shape: int) -> Parameter | Fixed:
        """Return a parameter of zeros, for a bias or LayerNorm's β; a `Fixed` with bias=False."""
        zeros = np.zeros(shape, self.dtype)
        return Parameter(zeros) if self.bias else Fixed(zeros)

    def ones(self, *shape: int) -> Parameter:
        """Return a parameter of ones, for LayerNorm's γ."""
        return Parameter(np.ones(shape, self.dtype))
