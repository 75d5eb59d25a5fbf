"""Linear algebra in exact numbers, of matrices and stacks of them. It uses sums, products and quotients, which carry
the derivatives."""

from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.inputs import Function


def _eliminated(a: Array, b: Array) -> tuple[Any, Array]:
    """(det a, a⁻¹ b), by Gaussian elimination with partial pivoting."""
    both, n, determinant = np.array(np.hstack([a, b]), object), len(a), 1
    for k in range(n):
        pivot = max(range(k, n), key=lambda row: abs(both[row, k]))
        if pivot != k:
            both[[k, pivot]], determinant = both[[pivot, k]], -determinant
        determinant = determinant * both[k, k]
        both[k] = both[k] / both[k, k]
        for row in range(n):
            if row != k:
                both[row] = both[row] - both[row, k] * both[k]
    return determinant, both[:, n:]


_solved = np.vectorize(lambda a, b: _eliminated(a, b)[1], otypes=[object], signature="(n,n),(n,m)->(n,m)")
_determinant = np.vectorize(lambda a: _eliminated(a, a)[0], otypes=[object], signature="(n,n)->()")


def _log_determinant(a: Array) -> tuple[Any, Any]:
    determinant = _determinant(a)
    sign = np.where(determinant < 0, -1.0, 1.0)
    return sign, np.log(sign * determinant)


FUNCTIONS: dict[Any, Function] = {
    np.linalg.inv: lambda a: _solved(a, np.eye(np.shape(a)[-1])),
    np.linalg.solve: lambda a, b: _solved(a, b[:, None])[:, 0] if np.ndim(b) == 1 else _solved(a, b),
    np.linalg.det: _determinant,
    np.linalg.slogdet: _log_determinant,
}
"""The exact versions of NumPy's functions."""
