"""Parameter: an array that is learned, with its gradient. Init: how a fresh one starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from npbert.compute.array import Array


class Parameter:
    """An array that is learned, and the gradient of the loss with respect to it.

    value: the numbers; an optimiser changes them in place.   grad: ∂loss/∂value, of the same shape and dtype.

    Backward passes add to `grad`. A parameter that two layers share (a tied weight) is one object that both hold, so
    the gradients of both add up in it.
    """

    def __init__(self, value: Array) -> None:
        self.value = value
        self._grad: Array | None = None
        self._place: Array | None = None

    @property
    def grad(self) -> Array:
        """∂loss/∂value: the sum of all that was added since `zero_grad`."""
        if self._grad is None:
            self._grad = np.empty(self.value.shape, self.value.dtype) if self._place is None else self._place
            self._grad.fill(0)
        return self._grad

    @grad.setter
    def grad(self, grad: Array) -> None:
        why = "several backwards may add to one gradient (to scale it, grad[...] *= factor)"
        raise AttributeError(f"use add_grad(…) in place of = and +=: {why}")

    def add_grad(self, grad: Array) -> None:
        """grad += what one backward found.

        The first gradient after `zero_grad` is kept as it is, not copied. So hand over an array that nobody else holds.

        Raises: ValueError for another shape than that of `value`, TypeError for another dtype.
        """
        if grad.shape != self.value.shape:
            raise ValueError(f"a gradient of shape {grad.shape} for a parameter of shape {self.value.shape}")
        if grad.dtype != self.value.dtype:
            raise TypeError(f"a gradient of {grad.dtype} for a parameter of {self.value.dtype}")
        if self._grad is not None:
            self._grad += grad
        elif self._place is not None:
            self._place[...] = grad
            self._grad = self._place
        else:
            self._grad = np.asarray(grad)  # a sum over everything is a NumPy scalar, which could not be added to

    def zero_grad(self, place: Array | None = None) -> None:
        """Set the gradient to 0, and give its memory back.

        place: an array of the same shape and dtype, into which the next gradient is to be written, whatever is in it
        now. So many gradients can lie beside each other, to be sent in one piece.
        """
        self._grad, self._place = None, place

    def __repr__(self) -> str:
        few = np.array2string(self.value, threshold=8, edgeitems=2, precision=4, max_line_width=10**6)
        numbers = " ".join(few.split())
        return f"Parameter {self.value.shape} of {self.value.dtype}: {numbers}"


@dataclass(frozen=True)
class Init:
    """How fresh parameters start: weights from normal(0, std), biases at 0.

    rng: where the weights are drawn from. With None they are 0, for a model whose values are about to be loaded.
    std: the standard deviation; 0.02 is BERT's (`initializer_range` in its configuration). dtype: of the parameters,
    and so of everything that is computed with them.

    (Devlin et al. 2018, appendix A.2. Google's code cuts the normal off at two standard deviations; Hugging Face's, and
    this, does not.)

    Raises: TypeError for an rng that is no Generator, or a dtype that is no float.
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
        """A parameter drawn from normal(0, std).

        The draw is made in float64 and then rounded: a float32 and a float64 model of one seed start alike.
        """
        parameter = self.zeros(*shape)
        are_for = getattr(self.rng, "are_for", None)  # of a model that comes out of a file: see draws.py
        if self.rng is not None and (are_for is None or are_for(parameter)):
            parameter.value[...] = self.rng.normal(0.0, self.std, shape)
        return parameter

    def zeros(self, *shape: int) -> Parameter:
        """A parameter of zeros: a bias, or LayerNorm's β."""
        return Parameter(np.zeros(shape, self.dtype))

    def ones(self, *shape: int) -> Parameter:
        """A parameter of ones: LayerNorm's γ."""
        return Parameter(np.ones(shape, self.dtype))
