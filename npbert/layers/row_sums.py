"""Sums along rows, of every row by itself: einsum adds several times as fast as np.sum does along short rows."""

from __future__ import annotations

import numpy as np

from npbert.layers.parameter import Array


def row_sums(x: Array) -> Array:
    """Σᵢ xᵢ over the last axis of x (..., D), as (..., 1)."""
    sums: Array = np.einsum("...i->...", x)[..., np.newaxis]
    return sums


def row_dots(a: Array, b: Array) -> Array:
    """Σᵢ aᵢ bᵢ over the last axis of a and b (..., D), as (..., 1): no array of the products is made."""
    dots: Array = np.einsum("...i,...i->...", a, b)[..., np.newaxis]
    return dots
