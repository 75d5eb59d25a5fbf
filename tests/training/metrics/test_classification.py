"""Accuracy, F1, macro F1 and Matthews: by hand, and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npbert.training import METRICS, accuracy, f1, macro_f1, matthews

OF_CLASSES = [accuracy, f1, macro_f1, matthews]
EXACT = {"rel": 1e-12, "abs": 1e-15}


@pytest.fixture(scope="module")
def sklearn_metrics():
    return pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed: pip install scikit-learn")


@st.composite
def classes(draw):
    """Predictions and labels, each from its own few classes: one class only, and classes never met, are among them."""
    count = draw(st.integers(1, 30))
    sides = []
    for _ in range(2):
        alphabet = draw(st.lists(st.integers(-2, 5), min_size=1, max_size=4))
        sides.append(draw(st.lists(st.sampled_from(alphabet), min_size=count, max_size=count)))
    return tuple(sides)


# Of 8 examples, 4 are positive; 3 of these and 2 others are predicted to be: TP 3, FN 1, FP 2, TN 2.
LABELS = [1, 1, 1, 1, 0, 0, 0, 0]
PREDICTIONS = [1, 1, 1, 0, 1, 1, 0, 0]


def test_by_hand():
    assert accuracy(PREDICTIONS, LABELS) == 5 / 8
    assert f1(PREDICTIONS, LABELS) == pytest.approx(2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4))
    assert f1(PREDICTIONS, LABELS, positive=0) == pytest.approx(2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4))
    assert macro_f1(PREDICTIONS, LABELS) == pytest.approx((6 / 9 + 4 / 7) / 2)
    assert matthews(PREDICTIONS, LABELS) == pytest.approx((3 * 2 - 2 * 1) / math.sqrt(5 * 4 * 4 * 3))


def test_three_classes_by_hand():
    """5 of 6 are right; classes 0, 1, 2 are predicted 3, 2, 1 times and labels 2, 3, 1 times."""
    predictions, labels = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]
    assert accuracy(predictions, labels) == 5 / 6
    assert macro_f1(predictions, labels) == pytest.approx((4 / 5 + 4 / 5 + 1) / 3)
    covariance = 6 * 5 - (3 * 2 + 2 * 3 + 1 * 1)
    assert matthews(predictions, labels) == pytest.approx(covariance / math.sqrt((36 - 14) * (36 - 14)))


def test_a_class_that_is_only_predicted_counts_in_the_macro_average():
    assert macro_f1([0, 0, 1], [0, 0, 0]) == pytest.approx((4 / 5 + 0) / 2)


@pytest.mark.filterwarnings("ignore:A single label was found")
@settings(max_examples=100)
@given(classes(), st.integers(-2, 5))
@example(([1, 1], [1, 1]), 1)
@example(([1, 1], [0, 0]), 1)
@example(([0, 1], [0, 0]), 1)
@example(([0, 0], [0, 1]), 1)
@example(([3, 4], [0, 1]), 2)
def test_equal_scikit_learn(sklearn_metrics, pair, positive):
    predictions, labels = pair
    expected = {
        "accuracy": sklearn_metrics.accuracy_score(labels, predictions),
        "macro_f1": sklearn_metrics.f1_score(labels, predictions, average="macro", zero_division=0),
        "matthews": sklearn_metrics.matthews_corrcoef(labels, predictions),
    }
    for name, value in expected.items():
        assert METRICS[name](predictions, labels) == pytest.approx(value, **EXACT), name
    of_positive = sklearn_metrics.f1_score(labels, predictions, labels=[positive], average="macro", zero_division=0)
    assert f1(predictions, labels, positive) == pytest.approx(of_positive, **EXACT)


def test_many_examples_do_not_overflow(sklearn_metrics):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200_000)
    predictions = np.where(rng.random(len(labels)) < 0.5, labels, rng.integers(0, 3, len(labels)))
    expected = sklearn_metrics.matthews_corrcoef(labels, predictions)
    assert matthews(predictions, labels) == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.uint64])
def test_dtypes(dtype):
    predictions, labels = np.array(PREDICTIONS, dtype), np.array(LABELS)
    for metric in OF_CLASSES:
        score = metric(predictions, labels)
        assert type(score) is float
        assert score == metric(PREDICTIONS, LABELS)


@pytest.mark.parametrize("metric", OF_CLASSES)
@pytest.mark.parametrize("count", [2, 3, 7, 1001])
def test_all_right_is_exactly_one(metric, count):
    labels = np.arange(count) % 3
    assert metric(labels, labels) == 1


@pytest.mark.parametrize("metric", OF_CLASSES)
@pytest.mark.parametrize(
    ("predictions", "labels", "error", "message"),
    [
        ([1, 0, 1], [1, 0], ValueError, "predictions has 3 values, but labels has 2"),
        ([], [], ValueError, "predictions is empty, wanted at least one example"),
        ([1], [], ValueError, "labels is empty"),
        ([[1, 0]], [[1, 0]], ValueError, r"predictions has shape \(1, 2\), wanted \(N,\)"),
        (1, 1, ValueError, r"predictions has shape \(\), wanted \(N,\)"),
        ([0.2, 0.8], [0, 1], TypeError, "predictions must be an array of integers, got float64"),
        ([0, 1], [0.0, 1.0], TypeError, "labels must be an array of integers, got float64"),
        ([0, 1], ["0", "1"], TypeError, "labels must be an array of integers, got <U1"),
        ([0, 1, 1], [0, -100, -100], ValueError, "labels hold -100, which is no class, 2 times"),
    ],
)
def test_wrong_input(metric, predictions, labels, error, message):
    with pytest.raises(error, match=message):
        metric(predictions, labels)
