"""Dot products of rows, by einsum: a third of the time of np.sum along short rows, and no array of the products.

(Its plain sums are as fast, but less exact than np.sum, which adds in pairs: it showed after three steps of training.)
"""

from __future__ import annotations

import numpy as np

from npbert.layers.parameter import Array


def row_dots(a: Array, b: Array) -> Array:
    """Σᵢ aᵢ bᵢ over the last axis of a and b (..., D), as (..., 1)."""
    dots: Array = np.einsum("...i,...i->...", a, b)[..., np.newaxis]
    return dots
