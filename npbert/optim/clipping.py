"""Gradient clipping: one norm over all gradients, so that their direction stays."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from npbert.layers import Parameter


def clip_by_global_norm(parameters: Iterable[Parameter], max_norm: float) -> float:
    """Scale all gradients by one factor, so that their joint norm is at most `max_norm`; return the norm before.

    norm = √(Σ over all parameters and elements of g²). Clipping each gradient by itself would turn the step: large
    gradients would shrink and small ones would not. (Pascanu et al. 2013, section 3.2.) A parameter given twice counts
    once. The factor is min(1, max_norm / (norm + 1e-6)), as in torch.

    Raises: ValueError unless max_norm is positive.
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm is {max_norm}, wanted a positive number")
    gradients = [parameter.grad for parameter in dict.fromkeys(parameters)]
    norm = math.sqrt(sum(float(np.vdot(g, g)) for g in gradients))
    factor = max_norm / (norm + 1e-6)
    if factor < 1:
        for g in gradients:
            g *= factor
    return norm
