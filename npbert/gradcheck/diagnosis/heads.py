"""Attention: its inner arrays for each head of each sequence, so that a wrong product of them can be named."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from npbert.compute import Array
from npbert.core import Sequences, Tape
from npbert.gradcheck.diagnosis.finding import ACCURACY, Case, Finding, Term
from npbert.gradcheck.diagnosis.products import matrix_products
from npbert.gradcheck.diagnosis.terms import wrong_terms
from npbert.gradcheck.diagnosis.written import terms_of_softmax
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import copy_of

_MOST_ROWS = 100
_LEGEND = "P is softmax(q kᵀ/√d), A the same after dropout; dS is the gradient of q kᵀ, so 1/√d is in it"
_ROADS = ("directly", "through the sum")


@dataclass(frozen=True)
class Head:
    """One head of one sequence: where it is in an array for the queries and for the keys, and its matrices by name.

    p, dp (M, T): what softmax gave, and the gradient that comes back to it.
    """

    queries: tuple[slice, slice]
    keys: tuple[slice, slice]
    matrices: dict[str, Array]
    p: Array
    dp: Array


def wrong_in_heads(case: Case, heads: list[Head], *, is_of_queries: bool) -> Iterator[Finding]:
    """The product that the wrong gradient is in every head, where the right one is another."""
    if not heads:
        return
    small = ACCURACY * 1e-3 * float(np.abs(case.right).max(initial=0))
    said, right = (
        _common_product(array, heads, accuracy, is_of_queries=is_of_queries)
        for array, accuracy in ((case.wrong, case.allowed), (case.right, small))
    )
    if said and right:
        yield Finding("product", case.name, f"{case.d} is {said}, where {right} is right ({_LEGEND})")
    elif said is None:
        yield from _wrong_scores(case, heads, is_of_queries=is_of_queries)


def _wrong_scores(case: Case, heads: list[Head], *, is_of_queries: bool) -> Iterator[Finding]:
    """The formula for the gradient of the scores that the wrong gradient is made with, where the right one is another,
    with and without 1/√d."""
    width = heads[0].queries[1].stop - heads[0].queries[1].start
    for scale, said in ((1 / math.sqrt(width), ""), (1.0, ", and 1/√d is missing")):
        terms = _terms(case, heads, scale, is_of_queries=is_of_queries)
        whole = sum(next(iter(term.forms.values())) * term.sign for term in terms) / scale / math.sqrt(width)
        if np.abs(whole - case.right).max(initial=0) > ACCURACY * 1e-3 * np.abs(case.right).max(initial=0):
            return
        found = next(wrong_terms(replace(case, called="dS", terms=lambda terms=terms: terms)), None)  # type: ignore[misc]
        if found:
            yield Finding("terms", case.name, f"{found.text} (that is what {case.d} is made with{said})")
            return


def _terms(case: Case, heads: list[Head], scale: float, *, is_of_queries: bool) -> tuple[Term, ...]:
    """The terms of dS, each as what it brings to the gradient of the queries, or of the keys."""
    forms: list[dict[str, Array]] = [{} for _ in _ROADS]
    first: tuple[Term, ...] = ()
    with np.errstate(all="ignore"):
        for head in heads:
            of_head = terms_of_softmax(head.dp, head.p, _ROADS)
            first = first or of_head
            other = head.matrices["k" if is_of_queries else "q"]
            place = head.queries if is_of_queries else head.keys
            for whole, term in zip(forms, of_head, strict=True):
                for text, ds in term.forms.items():
                    array = whole.setdefault(text, np.zeros(case.right.shape))
                    array.reshape(-1, array.shape[-1])[place] = scale * (ds if is_of_queries else ds.T) @ other
    return tuple(
        Term(term.road, {text: array for text, array in whole.items() if np.isfinite(array).all()}, term.sign)
        for term, whole in zip(first, forms, strict=True)
    )


def _common_product(array: Array, heads: list[Head], accuracy: float, *, is_of_queries: bool) -> str | None:
    """The first product of two matrices that is the part of the array in every head."""
    texts: dict[str, None] | None = None
    array = array.reshape(-1, array.shape[-1])
    for head in heads:
        part = array[head.queries if is_of_queries else head.keys]
        fitting = {
            text: None
            for text, guess in matrix_products(head.matrices, part.shape)
            if np.abs(guess - part).max(initial=0) <= accuracy
        }
        texts = fitting if texts is None else {text: None for text in texts if text in fitting}
    return next(iter(texts or ()), None)


def heads_of(function: ScalarFunction, num_heads: int) -> list[Head]:
    """The heads, if y is A v, and A the same for every v, for the first three float inputs; else none.

    They are rows of tokens (N, D) with their Sequences, or sequences of one length (B, T, D).
    """
    positions = list(function.float_inputs.values())
    inputs = [np.asarray(function.inputs[position]) for position in positions]
    shapes = [array.shape for array in inputs]
    if len(shapes) != 3 or len({shape[:-2] for shape in shapes}) > 1 or not all(1 < len(shape) < 4 for shape in shapes):
        return []
    sequences = next((value for value in function.inputs if isinstance(value, Sequences)), None)
    looking, lengths = ([shape[0]] if len(shape) == 2 else [shape[1]] * shape[0] for shape in shapes[:2])
    if sequences is not None:
        looking, lengths = sequences.looking.tolist(), sequences.lengths.tolist()
    q, k, v = (array.reshape(-1, array.shape[-1]) for array in inputs)
    if max(len(q), len(k)) > _MOST_ROWS:
        return []
    fits = q.shape[1] == k.shape[1] and q.shape[1] % num_heads == 0 == k.shape[1] % num_heads and v.shape == k.shape
    if not fits or sum(looking) != len(q) or sum(lengths) != len(k) or [dy.shape for dy in function.dy] != shapes[:1]:
        return []
    columns = list(_slices([q.shape[1] // num_heads] * num_heads))
    weights = _weights(function, positions[2], [part.start for part in columns])
    dy, heads = function.dy[0].reshape(q.shape), []
    for rows, others in zip(_slices(looking), _slices(lengths), strict=True):
        for number, part in enumerate(columns):
            of_query, of_key = (rows, part), (others, part)
            of_head = _matrices(q[of_query], k[of_key], v[of_key], dy[of_query], weights[number][rows, others])
            heads.append(Head(of_query, of_key, *of_head))
    return heads


def _weights(function: ScalarFunction, position: int, firsts: list[int]) -> Array:
    """A (H, M, N): what y is at the first column of each head when the values are 1 in one row and 0 in the others."""
    columns = []
    for row in np.ndindex(function.inputs[position].shape[:-1]):
        inputs = list(function.inputs)
        inputs[position] = np.zeros_like(inputs[position])
        inputs[position][row] = 1
        y = np.asarray(function.layer.forward(*inputs, tape=Tape(copy_of(function.rng), keeps=False)))
        columns.append(y.reshape(-1, y.shape[-1])[:, firsts].T)
    return np.stack(columns, axis=-1)


def _matrices(q: Array, k: Array, v: Array, dy: Array, a: Array) -> tuple[dict[str, Array], Array, Array]:
    """By name; and P and dP."""
    scores = q @ k.T / math.sqrt(q.shape[1])
    p = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
    p /= p.sum(axis=-1, keepdims=True)
    p = a if np.allclose(a.sum(axis=-1), 1) else p  # without dropout; then keys that are masked have no say
    da = dy @ v.T
    dp = da * np.divide(a, p, out=np.zeros_like(p), where=p > 0)
    root = math.sqrt(q.shape[1])
    ds = {
        "dS": p * (dp - (dp * p).sum(axis=-1, keepdims=True)),
        "(P · dP)": p * dp,
        "(P · (1 − P) · dP)": p * (1 - p) * dp,
        "dP": dp,
        "dA": da,
    }
    scaled = {"dS" if name == "dS" else f"{name}/√{q.shape[1]}": array / root for name, array in ds.items()}
    unscaled = {f"√{q.shape[1]} · dS" if name == "dS" else name: array for name, array in ds.items()}
    return {"q": q, "k": k, "v": v, "dy": dy, "A": a, "P": p, **scaled, **unscaled}, p, dp


def _slices(sizes: Iterable[int]) -> Iterator[slice]:
    ends = [0, *itertools.accumulate(map(int, sizes))]
    yield from itertools.starmap(slice, itertools.pairwise(ends))
