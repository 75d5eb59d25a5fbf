"""Linear algebra in exact numbers. It uses sums, products and quotients, which carry the derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array


def _eliminated(a: Array, b: Array) -> tuple[Any, Array]:
    """(det a, a⁻¹ b), by Gaussian elimination with partial pivoting."""
    a, b = np.array(a, object), np.array(b, object)
    determinant: Any = 1
    for k in range(len(a)):
        pivot = max(range(k, len(a)), key=lambda row: abs(a[row, k]))
        if pivot != k:
            a[[k, pivot]], b[[k, pivot]], determinant = a[[pivot, k]], b[[pivot, k]], -determinant
        determinant = determinant * a[k, k]
        b[k] = b[k] / a[k, k]
        a[k] = a[k] / a[k, k]
        for row in range(len(a)):
            if row != k:
                b[row] = b[row] - b[k] * a[row, k]
                a[row] = a[row] - a[k] * a[row, k]
    return determinant, b


def _inverse(a: Array) -> Any:
    return _eliminated(a, np.eye(len(a)))[1]


def _solved(a: Array, b: Any) -> Any:
    """Solve a stack of linear systems, one by one; b may be a vector."""
    if np.ndim(a) > 2:
        return np.array([_solved(*each) for each in zip(a, b, strict=True)])
    return _eliminated(a, b)[1]


def _determinant(a: Array) -> Any:
    return _eliminated(a, np.zeros((len(a), 0)))[0]


def _log_determinant(a: Array) -> tuple[float, Any]:
    determinant = _determinant(a)
    return (-1.0, (-determinant).log()) if determinant < 0 else (1.0, determinant.log())


def _cholesky(a: Array) -> Any:
    """L with L Lᵀ = a, row by row."""
    lower = np.zeros(a.shape, object)
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - (lower[i, :j] * lower[j, :j]).sum()
            lower[i, j] = rest.sqrt() if i == j else rest / lower[j, j]
    return lower


def _interpolated(x: Any, xp: Any, fp: Any) -> Any:
    """Interpolate linearly; constant outside."""
    xp, fp = np.asarray(xp), np.asarray(fp)

    def at(x: Any) -> Any:
        k = sum(bool(x >= each) for each in xp)
        if k in (0, len(xp)):
            return fp[min(k, len(xp) - 1)] + 0 * x
        return fp[k - 1] + (fp[k] - fp[k - 1]) * (x - xp[k - 1]) / (xp[k] - xp[k - 1])

    return np.frompyfunc(at, 1, 1)(np.asarray(x, object))


def _of_matrices(function: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """Return a function of one matrix for a stack of them."""
    return np.vectorize(function, otypes=[object] * (signature.count(")") - 1), signature=signature)


ARRAY_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.linalg.inv: _of_matrices(_inverse, "(n,n)->(n,n)"),
    np.linalg.solve: _solved,
    np.linalg.det: _of_matrices(_determinant, "(n,n)->()"),
    np.linalg.slogdet: _of_matrices(_log_determinant, "(n,n)->(),()"),
    np.linalg.cholesky: _of_matrices(_cholesky, "(n,n)->(n,n)"),
    np.interp: _interpolated,
}
"""The exact versions by NumPy's functions."""
