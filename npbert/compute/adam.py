"""The fused step of Adam: 13 operations a block, without temporary arrays, on several threads."""

import math
from collections.abc import Iterable

import numpy as np

from npbert.compute.array import Array
from npbert.compute.rowwise import in_blocks
from npbert.compute.threads import run


def adam_steps(
    arrays: Iterable[tuple[float, Array, Array, Array, Array]],
    *,
    t: int,
    alpha: float,
    betas: tuple[float, float],
    eps: float,
    scale: float,
) -> None:
    """Update each θ, m and v in place, by the formulas of npbert.optim's `adam`, for the gradient scale · g.

    arrays: for each parameter the weight decay's factor of θ, then θ, g, m and v, all of one shape.

    m̂ and v̂ are not computed: each is m or v divided by a number, and these numbers are moved into scalars.
    """
    beta1, beta2 = betas
    new1, new2 = (1 - beta1) * scale, (1 - beta2) * scale**2
    root_correction = math.sqrt(1 - beta2**t)
    step_size = alpha * root_correction / (1 - beta1**t)
    eps = eps * root_correction

    def update(block: tuple[float, tuple[Array, ...]]) -> None:
        kept, (theta, g, m, v) = block
        change = new1 * g  # one array for all intermediate results, to stay in the cache
        m *= beta1
        m += change
        np.multiply(g, g, out=change)
        change *= new2
        v *= beta2
        v += change
        np.sqrt(v, out=change)
        change += eps
        np.divide(m, change, out=change)
        change *= step_size
        if kept != 1:
            theta *= kept
        theta -= change

    run(update, [(kept, block) for kept, *of_parameter in arrays for block in in_blocks(*of_parameter)])
