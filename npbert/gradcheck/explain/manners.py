"""MANNERS: what floats may be like, so that nothing is right for some of them alone."""

from collections.abc import Callable

import numpy as np

from npbert.compute import Array

MANNERS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("", np.copy),
    ("arrays are not in one piece of memory, as x[:, ::2] is not", lambda array: np.repeat(array.T, 2, axis=0)[::2].T),
    ("some numbers are 0, and some are equal", np.round),
    ("numbers are large", lambda array: 10 * array),
)
"""In words, and made of usual ones, which are of size 1."""


def in_manner(array: Array, number: int) -> Array:
    """A copy of the array in one of the manners. One without axes is as it was."""
    return MANNERS[number % len(MANNERS) if array.ndim else 0][1](array)
