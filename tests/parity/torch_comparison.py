"""How npbert is compared with torch: parameters find each other by their names in a file, and all is the same."""

from __future__ import annotations

import numpy as np

from npbert.models.hugging_face.names import stored_parameters
from tests.parity import torch

EXACT = 1e-10
"""The relative error up to which two float64 results are the same."""

# Of the largest gradient of all. In float32 a hundredth would ask for less than the rounding of the terms.
_SMALLEST_SCALE = {"float64": 1e-2, "float32": 1e-1}


def gradients(layer, module):
    """By its name in a file, npbert's gradient of each parameter as torch has it, and torch's. None is left over."""
    left_over = dict(module.named_parameters())
    pairs = {}
    for name, stored in stored_parameters(layer).items():
        ours, theirs = stored.parameter.grad, left_over.pop(stored.name).grad
        assert theirs is not None, f"torch reaches {name} with no gradient"
        pairs[name] = ours.T if stored.transposed else ours, theirs
    assert not left_over
    return pairs


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


def assert_gradients_close(gradients, tolerance=EXACT):
    """By name, npbert's gradient and torch's, which are the same.

    Where terms cancel to 0 up to rounding, as in the key bias, an error relative to the sum would say nothing; so the
    scale is at least a share of the largest gradient of all.
    """
    largest = max((float(theirs.abs().max()) for _, theirs in gradients.values()), default=0.0)
    for name, (ours, theirs) in gradients.items():
        scale = _SMALLEST_SCALE[ours.dtype.name] * largest
        assert_close(f"the gradient of {name}", ours, theirs, tolerance=tolerance, scale=scale)
