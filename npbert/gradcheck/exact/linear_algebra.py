"""Linear algebra in exact numbers, of matrices and stacks of them. It uses sums, products and quotients, which carry
the derivatives."""

from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.inputs import Function


def _inverse_and_determinant(a: Array) -> tuple[Any, Any]:
    """(a⁻¹, det a), by products alone: N₁ = 1, tₖ = tr(a Nₖ) / k, Nₖ₊₁ = tₖ − a Nₖ; the last t is det a, and the last N
    is a⁻¹ det a. (Faddeev–LeVerrier: Gantmacher 1959, chapter IV, section 5.)"""
    one = np.eye(a.shape[-1])
    product, trace = 0 * one, one[:1, :1]
    for k in range(1, len(one) + 1):
        adjugate = trace * one - product
        product = a @ adjugate
        trace = (product * one).sum(axis=(-2, -1), keepdims=True) / k
    return adjugate / trace, trace[..., 0, 0]


def _log_determinant(a: Array) -> tuple[Any, Any]:
    _, determinant = _inverse_and_determinant(a)
    return np.sign(determinant), np.log(np.abs(determinant))


FUNCTIONS: dict[Any, Function] = {
    np.linalg.inv: lambda a: _inverse_and_determinant(a)[0],
    np.linalg.solve: lambda a, b: _inverse_and_determinant(a)[0] @ b,
    np.linalg.det: lambda a: _inverse_and_determinant(a)[1],
    np.linalg.slogdet: _log_determinant,
}
"""The exact versions of NumPy's functions."""
