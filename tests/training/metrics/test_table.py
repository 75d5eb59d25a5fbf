"""METRICS: every metric of one prediction an example, under its own name."""

import npbert.training
from npbert.training import METRICS


def test_names():
    assert set(METRICS) == {"accuracy", "f1", "macro_f1", "matthews", "pearson", "spearman"}
    for name, metric in METRICS.items():
        assert metric is getattr(npbert.training, name)
