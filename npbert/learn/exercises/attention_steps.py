"""Exercise 10: the backward of attention step by step, and the wrong steps that one head and several have in common."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from npbert.compute import Array
from npbert.layers.softmax import softmax_backward

Apply = Callable[[Array], Array]
ToScores = Callable[[Array, Array, Apply], Array]


def same(x: Array) -> Array:
    """No dropout."""
    return x


def softmax_undone(da: Array, p: Array, apply: Apply) -> Array:
    """dS, of dA: through dropout, then through softmax."""
    return softmax_backward(apply(da), p)


def root_of_a_head(q: Array, k: Array, heads: int) -> float:
    """1/√d"""
    return 1 / math.sqrt(q.shape[-1])


class Attended(NamedTuple):
    """dq, dk and dv."""

    dq: Array
    dk: Array
    dv: Array


@dataclass(frozen=True)
class Steps:
    """The right backward, but for what is given in another way. to_scores: from dA to dS. scale(q, k, heads).

    values(q, k, v): what dA is made with.
    """

    to_scores: ToScores = softmax_undone
    values: Callable[[Array, Array, Array], Array] = lambda q, k, v: v
    scale: Callable[[Array, Array, int], float] = root_of_a_head

    def of(self, dc: Array, q: Array, k: Array, v: Array, p: Array, heads: int, apply: Apply = same) -> Attended:
        ds = self.to_scores(dc @ turned(self.values(q, k, v)), p, apply) * self.scale(q, k, heads)
        return Attended(ds @ k, turned(ds) @ q, turned(apply(p)) @ dc)


def turned(x: Array) -> Array:
    """The last two axes swapped."""
    return x.swapaxes(-1, -2)


class Wrong(NamedTuple):
    """A wrong answer for each kind of attention. change(right, steps of the wrong one) -> what it returns."""

    name: str
    says: str
    because: str
    steps: Steps
    change: Callable[[Attended, Attended], Any]


def both_of_them(right: Attended, wrong: Attended) -> Any:
    return wrong.dq, wrong.dk, right.dv


def _only_dq(right: Attended, wrong: Attended) -> Any:
    return wrong.dq, right.dk, right.dv


def _only_dk(right: Attended, wrong: Attended) -> Any:
    return right.dq, wrong.dk, right.dv


def _sum(dp: Array, p: Array) -> Array:
    return (dp * p).sum(axis=-1, keepdims=True)


_DIVIDED = "forward divided the scores by √d, where d is the number of features of a head: math.sqrt(q.shape[-1])."
_SCALES: dict[str, tuple[str, str, Callable[[Array, Array, int], float]]] = {
    "forgotten": (
        "1/√d is missing in {who}.",
        "S = Q Kᵀ/√d: every score was divided by √d, so what comes back from it is, too.",
        lambda q, k, heads: 1.0,
    ),
    "upside_down": (
        "{who} {are} multiplied by √d, and should be divided by √d: d times too large.",
        _DIVIDED,
        lambda q, k, heads: math.sqrt(q.shape[-1]),
    ),
    "d": ("{who} {are} divided by d, and should be divided by √d.", _DIVIDED, lambda q, k, heads: 1 / q.shape[-1]),
    "all_features": (
        "{who} {are} divided by √D, with all features, and should be divided by √d, with those of a head.",
        "Each head compares vectors of d = D/H features: the √d of forward is math.sqrt(q.shape[-1]), of q in heads.",
        lambda q, k, heads: 1 / math.sqrt(q.shape[-1] * heads),
    ),
    "keys": (
        "{who} {are} divided by √T, with the number of keys, and should be divided by √d.",
        _DIVIDED,
        lambda q, k, heads: 1 / math.sqrt(k.shape[-2]),
    ),
    "queries": (
        "{who} {are} divided by √M, with the number of queries, and should be divided by √d.",
        _DIVIDED,
        lambda q, k, heads: 1 / math.sqrt(q.shape[-2]),
    ),
    "first_axis": (
        "{who} {are} divided by √len(q), and should be divided by √d.",
        f"len is the size of the first axis, which counts sequences here. {_DIVIDED}",
        lambda q, k, heads: 1 / math.sqrt(len(q)),
    ),
    "number_of_heads": (
        "{who} {are} divided by √H, with the number of heads, and should be divided by √d.",
        _DIVIDED,
        lambda q, k, heads: 1 / math.sqrt(heads),
    ),
}
_ROW = (
    "Raising one score takes from all other weights of its query. dS = p · (dP − Σ dP p) with the sum along the row, "
    "which is softmax_backward(dP, p)."
)
_SOFTMAX: dict[str, tuple[str, str, ToScores]] = {
    "softmax_left_out": (
        "The derivative of softmax is left out: dS is dP itself.",
        f"Between the scores and the weights stands softmax. {_ROW}",
        lambda da, p, apply: apply(da),
    ),
    "softmax_cut_short": (
        "dS is p · dP: the sum over the row was not subtracted.",
        _ROW,
        lambda da, p, apply: apply(da) * p,
    ),
    "softmax_diagonal": (
        "dS is p (1 − p) · dP, which is the diagonal alone of the derivative of softmax.",
        _ROW,
        lambda da, p, apply: apply(da) * p * (1 - p),
    ),
    "softmax_over_the_queries": (
        "Softmax is undone down the columns, over the queries: each row, over the keys, is a distribution.",
        "p (…, M, T) adds up to 1 along its last axis. softmax_backward sums along that axis.",
        lambda da, p, apply: p * (apply(da) - (apply(da) * p).sum(axis=-2, keepdims=True)),
    ),
    "softmax_over_everything": (
        "Σ dP p is taken over everything at once, and should be taken over each row by itself.",
        "A row of p is one query with its keys, and adds up to 1: .sum(axis=-1, keepdims=True).",
        lambda da, p, apply: p * (apply(da) - (apply(da) * p).sum()),
    ),
    "softmax_over_the_heads": (
        "Σ dP p is taken over the heads, with axis=1, and should be taken over each row: axis=-1.",
        "The axes are (sequences, heads, queries, keys), and a row of p, over the keys, adds up to 1.",
        lambda da, p, apply: p * (apply(da) - (apply(da) * p).sum(axis=1, keepdims=True)),
    ),
    "softmax_over_the_sequences": (
        "Σ dP p is taken over the sequences, with axis=0, and should be taken over each row: axis=-1.",
        "The axes are (sequences, heads, queries, keys), and a row of p, over the keys, adds up to 1.",
        lambda da, p, apply: p * (apply(da) - (apply(da) * p).sum(axis=0, keepdims=True)),
    ),
    "softmax_sum_added": (
        "The sum over the row is added, and should be subtracted: dS is p · (dP + Σ dP p).",
        _ROW,
        lambda da, p, apply: p * (apply(da) + _sum(apply(da), p)),
    ),
    "softmax_sum_first": (
        "dS has the wrong sign: it is p · (Σ dP p − dP), and should be p · (dP − Σ dP p).",
        _ROW,
        lambda da, p, apply: p * (_sum(apply(da), p) - apply(da)),
    ),
    "softmax_sum_without_p": (
        "p is missing inside the sum: dS is p · (dP − Σ dP), and should be p · (dP − Σ dP p).",
        _ROW,
        lambda da, p, apply: p * (apply(da) - apply(da).sum(axis=-1, keepdims=True)),
    ),
    "softmax_mean_without_p": (
        "What is subtracted is the plain mean of dP, and should be the one weighted by p: Σ dP p.",
        _ROW,
        lambda da, p, apply: p * (apply(da) - apply(da).mean(axis=-1, keepdims=True)),
    ),
    "softmax_p_before_the_sum_missing": (
        "dS is p · dP − Σ dP p: p also stands before the sum, p · (dP − Σ dP p).",
        _ROW,
        lambda da, p, apply: p * apply(da) - _sum(apply(da), p),
    ),
    "p_once_too_often": (
        "dP is multiplied by p before softmax is undone, and should not be.",
        f"p is in softmax_backward already. {_ROW}",
        lambda da, p, apply: softmax_backward(apply(da) * p, p),
    ),
    "softmax_arguments_swapped": (
        "p and dP have changed places: dS is dP · (p − Σ p dP), which is softmax_backward(p, dP).",
        "It is softmax_backward(dP, p): first the gradient that comes back, then what softmax gave.",
        lambda da, p, apply: softmax_backward(p, apply(da)),
    ),
    "softmax_twice": (
        "Softmax is undone twice.",
        f"There is one softmax between the scores and the weights. {_ROW}",
        lambda da, p, apply: softmax_backward(softmax_backward(apply(da), p), p),
    ),
}


def scales() -> Iterator[Wrong]:
    """Wrong scales, in dQ and dK or in one of them."""
    for name, (says, because, scale) in _SCALES.items():
        for who, change in {"dQ and dK": both_of_them, "dQ": _only_dq, "dK": _only_dk}.items():
            text = says.format(who=who, are="are" if change is both_of_them else "is")
            short = who.replace(" and ", "_").lower()
            yield Wrong(f"scale_{name}_in_{short}", text, because, Steps(scale=scale), change)


def pairs(wrong: Iterable[Wrong]) -> Iterator[tuple[Wrong, Wrong, Steps]]:
    """Each wrong way back to the scores with each wrong scale of both dQ and dK, and the steps with both."""
    for one, other in itertools.product(wrong, (each for each in scales() if each.name.endswith("dq_dk"))):
        yield one, other, Steps(one.steps.to_scores, one.steps.values, other.steps.scale)


def softmaxes() -> Iterator[Wrong]:
    """Wrong ways back through softmax."""
    says = "dA is dC Kᵀ, and should be dC Vᵀ: the weights mix the values."
    yield Wrong("keys_for_values", says, "C = A V, so dA = dC Vᵀ.", Steps(values=lambda q, k, v: k), both_of_them)
    for name, (says, because, to_scores) in _SOFTMAX.items():
        yield Wrong(name, says, because, Steps(to_scores=to_scores), both_of_them)


ROADS = {
    "directly": Steps(to_scores=lambda da, p, apply: p * apply(da)),
    "through the sum": Steps(to_scores=lambda da, p, apply: -p * _sum(apply(da), p)),
}
WHY_ROADS = (
    "The way back through softmax has two roads: directly, p · dP, and through the sum that a row is divided by, "
    "− p · Σ dP p. Each belongs to dS = p · (dP − Σ dP p) once, which is then divided by √d."
)
