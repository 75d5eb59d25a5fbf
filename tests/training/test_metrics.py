"""The metrics of one prediction an example, by their names: by hand, and against scikit-learn and SciPy."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from npbert.training import METRICS, f1
from npbert.training.metrics import class_scores

OF_CLASSES, OF_NUMBERS = ("accuracy", "f1", "macro_f1", "matthews"), ("pearson", "spearman")
MANY = [np.tile(side, 20_000) for side in ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2])]
BY_HAND = [
    ("accuracy", (np.array([1, 0, 1, 1], np.uint64), [1, 1, 1, 1]), 3 / 4),
    ("matthews", MANY, 17 / 22),  # 64 bits would overflow
    *((name, ([1, 1], [0, 0]), 0) for name in OF_CLASSES),
    ("pearson", ([1, 2, 3], [0, 3, 3]), 3 / math.sqrt(2 * 6)),  # deviations −1, 0, 1 and −2, 1, 1
    ("spearman", ([0.1, 7, 7, 8], [1, 10, 100, 1000]), 4.5 / math.sqrt(4.5 * 5)),  # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4
    *((name, ([1, 2, 4], [0.1, 0.1, 0.1]), math.nan) for name in OF_NUMBERS),  # a side is constant
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "pair", "wanted"), BY_HAND)
def test_by_hand(name, pair, wanted):
    score = METRICS[name](*pair)
    assert score == pytest.approx(wanted, rel=1e-12, nan_ok=True) and type(score) is float


@pytest.mark.filterwarnings("ignore:A single label was found")
@pytest.mark.parametrize("reference", ["sklearn.metrics"], indirect=True)
@given(st.lists(st.tuples(st.integers(-2, 3), st.integers(-2, 3)), min_size=1, max_size=30), st.integers(-2, 4))
@example([(1, 1), (1, 1)], 1)
@example([(3, 0), (4, 1)], 2)
def test_metrics_of_classes_equal_scikit_learn(reference, pairs, positive):
    predictions, labels = zip(*pairs, strict=True)
    zero = {"average": "macro", "zero_division": 0}
    expected = {
        "accuracy": reference.accuracy_score(labels, predictions),
        "macro_f1": reference.f1_score(labels, predictions, **zero),
        "matthews": reference.matthews_corrcoef(labels, predictions),
    }
    assert {name: METRICS[name](predictions, labels) for name in expected} == pytest.approx(expected, rel=1e-12)
    of_positive = reference.f1_score(labels, predictions, labels=[positive], **zero)
    assert f1(predictions, labels, positive) == pytest.approx(of_positive, rel=1e-12)


WRONG = [
    (METRICS, [1, 0, 1], [1, 0], ValueError, r"the shapes are \(3,\) and \(2,\), wanted \(N,\)"),
    (METRICS, [], [], ValueError, r"the shapes are \(0,\) and"),
    (METRICS, [[1, 0]], [[1, 0]], ValueError, r"the shapes are \(1, 2\) and"),
    (OF_CLASSES, [0.2, 0.8], [0, 1], TypeError, "predictions is an array of float64, wanted integers"),
    (OF_CLASSES, [0, 1, 1], [0, -100, -100], ValueError, "labels has -100, wanted classes"),
    (OF_NUMBERS, [1, 2, 3], [0.5, math.nan, 2], ValueError, "a number that is not finite"),
]


@pytest.mark.parametrize(("names", "predictions", "labels", "error", "message"), WRONG)
def test_wrong_input(names, predictions, labels, error, message):
    for name in names:
        with pytest.raises(error, match=message):
            METRICS[name](predictions, labels)


def test_each_class_has_scores_of_its_own():
    scores = class_scores([0, 0, 1, 3], [0, 1, 1, 2])
    assert scores == {0: (0.5, 1, 2 / 3, 1), 1: (1, 0.5, 2 / 3, 2), 2: (0, 0, 0, 1), 3: (0, 0, 0, 0)}
