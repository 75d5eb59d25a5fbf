"""Linear algebra in exact numbers. It uses sums, products and quotients, which carry the derivatives."""

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
        b[k] = b[k] / a[k, k]
        a[k] = a[k] / a[k, k]
        for row in range(len(a)):
            if row != k:
                b[row] = b[row] - b[k] * a[row, k]
                a[row] = a[row] - a[k] * a[row, k]
    return determinant, b


def _of_each(function: Function) -> Function:
    """Return a function of matrices for stacks of them."""

    def of_stack(a: Any, *more: Any) -> Any:
        return (
            function(a, *more)
            if np.ndim(a) == 2
            else np.array([of_stack(*each) for each in zip(a, *more, strict=True)])
        )

    return of_stack


def _log_determinant(a: Array) -> tuple[float, Any]:
    determinant = _determinant(a)
    return (-1.0, (-determinant).log()) if determinant < 0 else (1.0, determinant.log())


_solved = _of_each(lambda a, b: _eliminated(a, b)[1])
_determinant = _of_each(lambda a: _eliminated(a, np.zeros((len(a), 0)))[0])

ARRAY_FUNCTIONS: dict[Any, Function] = {
    np.linalg.inv: lambda a: _solved(a, np.broadcast_to(np.eye(np.shape(a)[-1]), np.shape(a))),
    np.linalg.solve: _solved,
    np.linalg.det: _determinant,
    np.linalg.slogdet: _log_determinant,
}
"""The exact versions by NumPy's functions."""
