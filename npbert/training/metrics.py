"""Metrics of predictions, for each task. Every score is a Python float, and higher is better.

classes (CoLA, MRPC, QQP, MNLI, …)    accuracy, f1, macro_f1, matthews
numbers (STS-B)                       pearson, spearman
tagged words (CoNLL)                  entity_scores, in span_metrics.py
answers as text (SQuAD v1.1)          squad_scores, there as well
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.core.checks import check_integers


def accuracy(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Return the share of examples with a right prediction.

    predictions (N,)   labels (N,)   integers, one class an example

    Raises: TypeError unless they are integers; ValueError for other shapes, different lengths, no example, or a label
    IGNORED (−100), which is not a class.
    """
    predictions, labels = _classes(predictions, labels)
    return float(np.mean(predictions == labels))


def f1(predictions: ArrayLike, labels: ArrayLike, positive: int = 1) -> float:
    """Return F1 of the class `positive`, with all others negative; 0 if it is neither predicted nor a label.

    F1 = 2 TP / (2 TP + FP + FN): true negatives, perhaps very many, do not count. The metric of MRPC and QQP. (Wang et
    al. 2018, "GLUE", section 3.2.) Shapes and errors: as accuracy.
    """
    predictions, labels = _classes(predictions, labels)
    predicted, gold = predictions == positive, labels == positive
    return f1_from_counts(int(np.sum(predicted & gold)), int(np.sum(predicted)), int(np.sum(gold)))


def macro_f1(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Return the mean F1 over all classes that are predicted or a label; rare and frequent classes weigh the same.
    Shapes and errors: as accuracy."""
    return float(np.mean([scores.f1 for scores in class_scores(predictions, labels).values()]))


class ClassScores(NamedTuple):
    """The precision, recall and F1 of a class, and the number of examples with this label."""

    precision: float
    recall: float
    f1: float
    support: int


def class_scores(predictions: ArrayLike, labels: ArrayLike) -> dict[int, ClassScores]:
    """Return the scores of each class that is predicted or a label; an undefined one is 0. Shapes, errors: as
    accuracy."""
    predictions, labels = _classes(predictions, labels)
    counts = zip(*(each.tolist() for each in _counts_by_class(predictions, labels)), strict=True)
    scores = (ClassScores(*precision_recall_f1(*each), support=each[2]) for each in counts)
    return dict(zip(np.unique([predictions, labels]).tolist(), scores, strict=True))


def matthews(predictions: ArrayLike, labels: ArrayLike) -> float:
    """Return the Matthews correlation coefficient for any number of classes: 1 for all right, about 0 for guessing.

    (N c − Σ pₖ tₖ) / √((N² − Σ pₖ²) (N² − Σ tₖ²))  with c predictions right, and class k predicted pₖ times and a label
    tₖ times: the correlation of the two as one-hot vectors. It is 0 if undefined, when a side has only one class. The
    metric of CoLA. (Gorodkin 2004, "Comparing two K-category assignments by a K-category correlation coefficient"; for
    two classes Matthews 1975.) Shapes and errors: as accuracy.
    """
    hits, predicted, gold = _counts_by_class(*_classes(predictions, labels))
    n = int(gold.sum())
    covariance = n * int(hits.sum()) - int(predicted @ gold)
    # Python integers, as the product grows as N⁴ and overflows NumPy's from some 60,000 examples on.
    variances = (n * n - int(predicted @ predicted)) * (n * n - int(gold @ gold))
    return ratio(covariance, math.sqrt(variances))


def _classes(predictions: ArrayLike, labels: ArrayLike) -> tuple[Array, Array]:
    predictions, labels = paired(("predictions", "labels"), predictions, labels)
    check_integers(predictions, name="predictions")
    check_integers(labels, name="labels")
    ignored = int(np.sum(labels == IGNORED))
    if ignored:
        raise ValueError(f"labels has {IGNORED} {ignored} times, wanted classes; leave these examples out")
    return predictions, labels


def _counts_by_class(predictions: Array, labels: Array) -> tuple[Array, Array, Array]:
    """Return three counts for each class, (C,): right predictions, predictions, and labels."""
    classes, numbers = np.unique(np.stack([predictions, labels]), return_inverse=True)
    predicted, gold = numbers.reshape(2, -1)  # the classes as 0 to C − 1

    def count(which: Array) -> Array:
        return np.bincount(which, minlength=len(classes))

    return count(gold[predicted == gold]), count(predicted), count(gold)


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Return Pearson's correlation: 1 if y is a rising line in x, −1 for a falling one, about 0 for guessing.

    r = Σ (xᵢ − x̄)(yᵢ − ȳ) / √(Σ (xᵢ − x̄)² · Σ (yᵢ − ȳ)²)  in float64   x, y (N,)

    It is nan, 0 / 0, if a side is constant, as for a single example. A metric of STS-B. (Wang et al. 2018, "GLUE",
    section 3.2.)

    Raises: TypeError unless both hold integers or floats; ValueError for other shapes, different lengths, no example,
    or a number that is not finite.
    """
    x, y = _numbers(x, y)
    if np.all(x == x[0]) or np.all(y == y[0]):
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's rank correlation: 1 if y rises whenever x does.

    It is Pearson's correlation of the ranks, with the mean rank for equal values; nan if a side is constant. x, y (N,).
    A metric of STS-B. (Wang et al. 2018, "GLUE", section 3.2.) Raises: as pearson.
    """
    x, y = _numbers(x, y)
    return pearson(_ranks(x), _ranks(y))


def _numbers(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    names = "x", "y"
    pair = paired(names, x, y)
    for name, array in zip(names, pair, strict=True):
        if array.dtype.kind not in "iuf":
            raise TypeError(f"{name} has dtype {array.dtype}, wanted integers or floats")
        finite = np.isfinite(array)
        if not finite.all():
            place = int(np.argmin(finite))
            raise ValueError(f"{name}[{place}] is {array[place]}, wanted finite numbers")
    return pair


def _ranks(x: Array) -> Array:
    """Return the rank of each value, from 1 on. Values that tie for ranks a to b all have rank (a + b) / 2."""
    _, numbers, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[numbers]


def ratio(part: float, whole: float) -> float:
    """Return part / whole, or 0 if whole is 0."""
    return float(part / whole) if whole else 0.0


def f1_from_counts(hits: int, predicted: int, gold: int) -> float:
    """Return F1 of `predicted` guesses at `gold` items, with `hits` right ones: 2 · precision · recall / (precision +
    recall), which is 2 · hits / (predicted + gold); 0 when there is neither. (Van Rijsbergen 1979, chapter 7.)"""
    return ratio(2 * hits, predicted + gold)


def precision_recall_f1(hits: int, predicted: int, gold: int) -> tuple[float, float, float]:
    """Return hits / predicted, hits / gold, and F1, their harmonic mean; 0 / 0 counts as 0."""
    return ratio(hits, predicted), ratio(hits, gold), f1_from_counts(hits, predicted, gold)


def paired(names: tuple[str, str], first: ArrayLike, second: ArrayLike) -> tuple[Array, Array]:
    """Return both as arrays (N,). Raises: ValueError unless both are (N,) with the same N, at least 1."""
    pair = np.asarray(first), np.asarray(second)
    for name, array in zip(names, pair, strict=True):
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}, wanted (N,), one value an example")
        if len(array) == 0:
            raise ValueError(f"{name} is empty, wanted at least one example")
    if len(pair[0]) != len(pair[1]):
        raise ValueError(f"{names[0]} has {len(pair[0])} values, wanted {len(pair[1])}, as {names[1]}")
    return pair


METRICS: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    metric.__name__: metric for metric in (accuracy, f1, macro_f1, matthews, pearson, spearman)
}
"""The metrics for one prediction and one label an example, (N,), by name."""
