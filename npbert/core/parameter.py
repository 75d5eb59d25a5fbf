"""Parameter: an array that is learned, with its gradient. Init: the numbers that a fresh one starts with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from npbert.compute.array import Array, DTypeLike
from npbert.compute.sums import scatter_add
from npbert.shown import in_short


class Parameter:
    """An array that is learned: `value`, which an optimiser changes in place, and `grad`, the gradient of the loss.

    Backward passes add to `grad`. A parameter that two layers share (a tied weight) is one object: both add to it.
    """

    def __init__(self, value: Array) -> None:
        self.value = value
        self._grad: Array | None = None

    @property
    def grad(self) -> Array:
        """∂loss/∂value, of its shape and dtype: the sum of all that was added since `zero_grad`."""
        so_far = self._so_far
        if so_far is None:
            so_far = self._so_far = np.zeros_like(self.value)
        return so_far

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
        so_far = self._so_far
        if rows is not None:
            scatter_add(self.grad, rows, grad)
        elif so_far is not None:
            so_far += grad
        else:
            self._so_far = np.asarray(grad)  # a sum over everything is a NumPy scalar, which could not be added to

    def zero_grad(self) -> None:
        """Set the gradient to 0, and give its memory back."""
        self._so_far = None

    @property
    def _so_far(self) -> Array | None:
        """The gradient, None for 0: the parameter's own, or that of the part of a batch which this thread computes."""
        part = _part.get()
        return self._grad if part is None else part.get(self)

    @_so_far.setter
    def _so_far(self, grad: Array | None) -> None:
        part = _part.get()
        if part is None:
            self._grad = grad
        else:
            part[self] = grad

    def __repr__(self) -> str:
        return f"Parameter {in_short(self.value)}"


_part: ContextVar[dict[Parameter, Array | None] | None] = ContextVar("_part", default=None)


@contextmanager
def gradients_of_a_part() -> Iterator[dict[Parameter, Array | None]]:
    """Give a dict that takes, within this, what backward adds to each parameter; None or nothing is 0. The parameters'
    own gradients stay as they are, so other threads can compute other parts of a batch at the same time."""
    gradients: dict[Parameter, Array | None] = {}
    token = _part.set(gradients)
    try:
        yield gradients
    finally:
        _part.reset(token)


@singledispatch
def draw(rng: np.random.Generator, parameter: Parameter, std: float) -> None:
    """Fill a parameter from normal(0, std), in float64 and then rounded: every dtype of a model starts alike. (Loading
    a checkpoint registers another way, for a generator that draws only what the file lacks.)"""
    parameter.value[...] = rng.normal(0.0, std, parameter.value.shape)


@dataclass(frozen=True)
class Init:
    """The start of fresh parameters: weights from normal(0, std), biases at 0.

    rng: where the weights are drawn from. With None they are 0, for a model whose values are about to be loaded.
    std: BERT's is 0.02, its `initializer_range`. dtype: of the parameters, and so of all that is computed with them.
    (Devlin et al. 2018, appendix A.2. Google's code cuts the normal off at two standard deviations, Hugging Face's does
    not.) Raises: TypeError for an rng that is not a Generator, or a dtype that is not a float.
    """

    rng: np.random.Generator | None
    std: float = 0.02
    dtype: DTypeLike = np.float32

    def __post_init__(self) -> None:
        if self.rng is not None and not isinstance(self.rng, np.random.Generator):
            raise TypeError(f"rng is {self.rng!r}, wanted a Generator, such as np.random.default_rng(0), or None")
        if np.dtype(self.dtype).kind != "f":
            raise TypeError(f"dtype is {np.dtype(self.dtype)}, wanted a float, such as np.float32")

    def normal(self, *shape: int) -> Parameter:
        """A parameter drawn from normal(0, std)."""
        parameter = self.zeros(*shape)
        if self.rng is not None:
            draw(self.rng, parameter, self.std)
        return parameter

    def zeros(self, *shape: int) -> Parameter:
        """A parameter of zeros: a bias, or LayerNorm's β."""
        return Parameter(np.zeros(shape, self.dtype))

    def ones(self, *shape: int) -> Parameter:
        """A parameter of ones: LayerNorm's γ."""
        return Parameter(np.ones(shape, self.dtype))
