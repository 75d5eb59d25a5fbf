"""How similar vectors are: every one of some to every one of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.compute import Array, matmul

SIMILARITIES = ("cosine", "dot")


def similarity(a: Any, b: Any, *, similarity_fn_name: str = "cosine") -> Array:
    """How similar every vector of a is to every one of b.

    a (N, D)   b (M, D)   the result (N, M); one vector (D,) counts as (1, D)

    similarity_fn_name: `cosine`, the cosine of the angle between the two, 0 where one of them is 0; or `dot`, their dot
    product, which is the same for vectors of length 1.

    Raises: ValueError for another name, for what is no array of numbers in these shapes, or for a vector that is not
    finite or so long that a product would not be.
    """
    a, b = same_kind(a, b, ("a", "b"))
    return matmul(for_products(a, similarity_fn_name, "a"), for_products(b, similarity_fn_name, "b").T)


def unit_vectors(x: Array) -> Array:
    """x / |x| for every row of x (N, D); a row of zeros stays as it is."""
    lengths = _lengths(x)[:, None]
    return (x / np.where(lengths == 0, 1, lengths)).astype(x.dtype)


def same_kind(a: Any, b: Any, names: tuple[str, str]) -> tuple[Array, Array]:
    """Both as arrays (N, D) and (M, D) of one type, at least float32.

    Raises: ValueError that calls them by the names, for what are no such arrays.
    """
    first, second = _rows(a, names[0]), _rows(b, names[1])
    if len(first) and len(second) and first.shape[1] != second.shape[1]:
        raise ValueError(
            f"{names[0]} is {first.shape} and {names[1]} is {second.shape}, wanted vectors of the same length"
        )
    features = first.shape[1] if len(first) else second.shape[1]
    dtype = np.result_type(first, second, np.float32)
    first, second = (x.astype(dtype, copy=False).reshape(len(x), features) for x in (first, second))
    return first, second


def for_products(x: Array, similarity_fn_name: str, name: str, *, first: int = 0) -> Array:
    """The rows of x such that their dot products are the similarities. first: which number x's first row has.

    Raises: ValueError that calls x by its name, for a row that is not finite or too long; or for no known similarity.
    """
    if similarity_fn_name not in SIMILARITIES:
        raise ValueError(f"similarity_fn_name is {similarity_fn_name!r}, wanted one of {', '.join(SIMILARITIES)}")
    fine = _lengths(x) < np.sqrt(np.finfo(x.dtype).max)
    if not fine.all():
        raise ValueError(f"vector {first + int(fine.argmin())} of {name} is not finite, or too long to be multiplied")
    return unit_vectors(x) if similarity_fn_name == "cosine" else x


def _rows(vectors: Any, name: str) -> Array:
    try:
        array = np.asarray(vectors)
    except ValueError as error:
        raise ValueError(f"{name} holds vectors of several lengths, wanted one") from error
    if array.shape == (0,):
        array = np.empty((0, 0), np.float32)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise ValueError(f"{name} is an array {array.shape} of {array.dtype}, wanted numbers in the shape (N, D)")
    return array


def _lengths(x: Array) -> Array:
    """|x| of every row, in float64, where the squares of small numbers are not 0."""
    return np.sqrt(np.einsum("nd,nd->n", x, x, dtype=np.float64))
