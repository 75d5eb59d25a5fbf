"""Linear algebra in exact numbers, of matrices and stacks of them. It uses sums, products and quotients, which carry
the derivatives."""

from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.inputs import Function


def _eliminated(a: Array, b: Array) -> tuple[Any, Array]:
    """(det a, a⁻¹ b), by Gaussian elimination with partial pivoting."""
    a, b = np.array(a, object), np.array(b, object)
    determinant: Any = 1
    for k in range(len(a)):
        pivot = max(range(k, len(a)), key=lambda row: abs(a[row, k]))
        if pivot != k:
            a[[k, pivot]], b[[k, pivot]], determinant = a[[pivot, k]], b[[pivot, k]], -determinant
        determinant = determinant * a[k, k]
        a[k], b[k] = a[k] / a[k, k], b[k] / a[k, k]
        for row in range(len(a)):
            if row != k:
                a[row], b[row] = a[row] - a[row, k] * a[k], b[row] - a[row, k] * b[k]
    return determinant, b


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
