"""Gradient clipping by one norm over all gradients, which keeps their direction."""

import math
from collections.abc import Iterable

import numpy as np

from npbert.compute import Array, in_blocks, run
from npbert.core import Parameter


def global_norm(parameters: Iterable[Parameter]) -> float:
    """√(Σ over all parameters and elements of g²). A parameter given twice counts once."""
    return math.sqrt(block_squares(parameters).sum())


def block_squares(parameters: Iterable[Parameter]) -> Array:
    """Return Σ g² for each block of the gradients by `in_blocks`: the terms of `global_norm`."""
    blocks = [block for parameter in dict.fromkeys(parameters) for (block,) in in_blocks(parameter.grad)]
    return np.array(run(lambda block: np.vdot(block, block).real, blocks), float)


def clip_factor(norm: float, max_norm: float) -> float:
    """Return the factor for gradients of this joint norm, min(1, max_norm / (norm + 1e-6)), as in torch.

    Raises: ValueError unless max_norm is positive.
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm is {max_norm}, wanted a positive number")
    factor = max_norm / (norm + 1e-6)
    return 1.0 if factor >= 1 else factor  # NaN for a norm of NaN, which fails the comparison


def clip_by_global_norm(parameters: Iterable[Parameter], max_norm: float) -> float:
    """Scale all gradients by one factor, so that their joint norm is at most `max_norm`; return the norm before.

    Clipping each gradient separately would change the direction: large gradients would shrink and small ones would not.
    (Pascanu et al. 2013, section 3.2; exercise 13.) `optimizer.step(clip_factor(norm, max_norm))` takes the same step
    without changing the gradients.

    Raises: ValueError unless max_norm is positive.
    """
    parameters = list(dict.fromkeys(parameters))
    norm = global_norm(parameters)
    factor = clip_factor(norm, max_norm)
    if factor != 1:
        for parameter in parameters:
            parameter.grad[...] *= factor
    return norm
