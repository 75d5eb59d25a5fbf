"""Metrics of classes: accuracy, F1, macro F1 and the Matthews correlation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.core.checks import check_integers
from npbert.training.metrics.checks import paired
from npbert.training.metrics.counts import f1_from_counts, ratio


def accuracy(predictions: ArrayLike, labels: ArrayLike) -> float:
    """The share of the examples whose prediction is the label.

    predictions (N,)   labels (N,)   integers, one class an example

    Raises: TypeError for other values than integers; ValueError for other shapes, different lengths, no example, or a
    label that is IGNORED (−100), as that is no class.
    """
    predictions, labels = _classes(predictions, labels)
    return float(np.mean(predictions == labels))


def f1(predictions: ArrayLike, labels: ArrayLike, positive: int = 1) -> float:
    """F1 of the class `positive`, where all others are negative; 0 when it is neither predicted nor a label.

    F1 = 2 TP / (2 TP + FP + FN): the true negatives, of which there may be very many, do not count. The metric of MRPC
    and QQP. (Wang et al. 2018, "GLUE", section 3.2.) Shapes and errors: as accuracy.
    """
    predictions, labels = _classes(predictions, labels)
    predicted, gold = predictions == positive, labels == positive
    return f1_from_counts(int(np.sum(predicted & gold)), int(np.sum(predicted)), int(np.sum(gold)))


def macro_f1(predictions: ArrayLike, labels: ArrayLike) -> float:
    """The mean of the classes' F1, so that a rare class weighs as much as a frequent one.

    The classes are those that are predicted or a label; one that is only predicted has F1 0 and counts too. Shapes and
    errors: as accuracy.
    """
    counts = _counts_by_class(*_classes(predictions, labels))
    return float(np.mean([f1_from_counts(*of_class) for of_class in zip(*counts, strict=True)]))


def matthews(predictions: ArrayLike, labels: ArrayLike) -> float:
    """The Matthews correlation coefficient for any number of classes: 1 for all right, about 0 for guessing.

    (N c − Σ pₖ tₖ) / √((N² − Σ pₖ²) (N² − Σ tₖ²))  with c predictions right, and class k predicted pₖ times and a label
    tₖ times: the correlation of the two as one-hot vectors. 0 where it is undefined, as either side has one class only.
    The metric of CoLA. (Gorodkin 2004, "Comparing two K-category assignments by a K-category correlation coefficient";
    for two classes Matthews 1975.) Shapes and errors: as accuracy.
    """
    hits, predicted, gold = _counts_by_class(*_classes(predictions, labels))
    n = int(gold.sum())
    covariance = n * int(hits.sum()) - int(predicted @ gold)
    # In Python's integers: the product grows as N⁴, and would overflow NumPy's from some 60,000 examples on.
    variances = (n * n - int(predicted @ predicted)) * (n * n - int(gold @ gold))
    return ratio(covariance, math.sqrt(variances))


def _classes(predictions: ArrayLike, labels: ArrayLike) -> tuple[Array, Array]:
    predictions, labels = paired(("predictions", "labels"), predictions, labels)
    check_integers(predictions, name="predictions")
    check_integers(labels, name="labels")
    ignored = int(np.sum(labels == IGNORED))
    if ignored:
        raise ValueError(f"labels hold {IGNORED}, which is no class, {ignored} times: leave those examples out")
    return predictions, labels


def _counts_by_class(predictions: Array, labels: Array) -> tuple[Array, Array, Array]:
    """How often each class is predicted rightly, is predicted, and is a label: three arrays (C,)."""
    classes, numbers = np.unique(np.stack([predictions, labels]), return_inverse=True)
    predicted, gold = numbers.reshape(2, -1)  # the classes as 0 to C − 1

    def count(which: Array) -> Array:
        return np.bincount(which, minlength=len(classes))

    return count(gold[predicted == gold]), count(predicted), count(gold)
