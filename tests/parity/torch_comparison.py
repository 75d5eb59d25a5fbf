"""How arrays of npbert are compared with torch's."""

from __future__ import annotations

import numpy as np

from tests.parity import torch

EXACT = 1e-10
"""The relative error up to which two float64 results are the same."""


def as_torch(arrays):
    """Those that are there, for a model of transformers."""
    return {name: torch.tensor(array) for name, array in arrays.items() if array is not None}


def assert_close(name, ours, theirs, *, tolerance=EXACT, scale=0.0):
    """The same shape, dtype and numbers; the error is relative to the largest number, or to `scale` if that is more."""
    ours, expected = np.asarray(ours), theirs.detach().numpy()
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype), name
    limit = tolerance * max(np.abs(expected).max(initial=0), scale)
    error = np.abs(ours - expected).max(initial=0)
    assert error <= limit, f"{name} differs from torch by {error:.1e}, more than {limit:.1e}"
