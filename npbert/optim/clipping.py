"""Gradient clipping: one norm over all gradients, so that their direction stays."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from npbert.layers import Parameter
from npbert.optim.blocks import in_blocks
from npbert.threads import run


def clip_by_global_norm(parameters: Iterable[Parameter], max_norm: float) -> float:
    """Scale all gradients by one factor, so that their joint norm is at most `max_norm`; return the norm before.

    norm = √(Σ over all parameters and elements of g²). Clipping each gradient by itself would turn the step: large
    gradients would shrink and small ones would not. (Pascanu et al. 2013, section 3.2.) A parameter given twice counts
    once. The factor is min(1, max_norm / (norm + 1e-6)), as in torch.

    Raises: ValueError unless max_norm is positive.
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm is {max_norm}, wanted a positive number")
    blocks = [block for parameter in dict.fromkeys(parameters) for (block,) in in_blocks(parameter.grad)]
    squares = np.zeros(len(blocks))

    def add_up(number: int) -> None:
        squares[number] = np.vdot(blocks[number], blocks[number]).real

    run(add_up, range(len(blocks)))
    norm = math.sqrt(squares.sum())
    factor = max_norm / (norm + 1e-6)
    if factor < 1:
        run(lambda block: np.multiply(block, factor, out=block), blocks)
    return norm
