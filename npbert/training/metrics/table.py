"""METRICS: the metrics that compare one prediction an example with one label, by name."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from npbert.training.metrics.classification import accuracy, f1, macro_f1, matthews
from npbert.training.metrics.correlation import pearson, spearman

Metric = Callable[[ArrayLike, ArrayLike], float]
"""From predictions (N,) and labels (N,) to a score."""

METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "f1": f1,
    "macro_f1": macro_f1,
    "matthews": matthews,
    "pearson": pearson,
    "spearman": spearman,
}
