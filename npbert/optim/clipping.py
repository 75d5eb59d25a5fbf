"""Gradient clipping: one norm over all gradients, so that their direction stays."""

import math
from collections.abc import Iterable

import numpy as np

from npbert.compute import Array, in_blocks, run
from npbert.core import Parameter


def global_norm(parameters: Iterable[Parameter]) -> float:
    """√(Σ over all parameters and elements of g²). A parameter given twice counts once."""
    return math.sqrt(block_squares(parameters).sum())


def block_squares(parameters: Iterable[Parameter]) -> Array:
    """Σ g² over each block of the gradients, as `in_blocks` cuts them: the terms of `global_norm`."""
    blocks = [block for parameter in dict.fromkeys(parameters) for (block,) in in_blocks(parameter.grad)]
    squares = np.zeros(len(blocks))

    def add_up(number: int) -> None:
        squares[number] = np.vdot(blocks[number], blocks[number]).real

    run(add_up, range(len(blocks)))
    return squares


def clip_factor(norm: float, max_norm: float) -> float:
    """The factor for gradients of this joint norm: min(1, max_norm / (norm + 1e-6)), as in torch.

    Raises: ValueError unless max_norm is positive.
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm is {max_norm}, wanted a positive number")
    factor = max_norm / (norm + 1e-6)
    return 1.0 if factor >= 1 else factor  # a norm that is NaN fails the comparison, and gives NaN


def clip_by_global_norm(parameters: Iterable[Parameter], max_norm: float) -> float:
    """Scale all gradients by one factor, so that their joint norm is at most `max_norm`; return the norm before.

    Clipping each gradient by itself would turn the step: large gradients would shrink and small ones would not.
    (Pascanu et al. 2013, section 3.2; exercise 13.) Where nothing else reads the gradients,
    `optimizer.step(clip_factor(norm, max_norm))` does the same without touching them.

    Raises: ValueError unless max_norm is positive.
    """
    parameters = list(parameters)
    norm = global_norm(parameters)
    factor = clip_factor(norm, max_norm)
    if factor != 1:
        blocks = [block for parameter in dict.fromkeys(parameters) for (block,) in in_blocks(parameter.grad)]
        run(lambda block: np.multiply(block, factor, out=block), blocks)
    return norm
