"""Accuracy, F1, macro F1 and Matthews: by hand, and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npbert.training import METRICS, accuracy, f1, macro_f1, matthews

OF_CLASSES = [accuracy, f1, macro_f1, matthews]
# Of 8 examples, 4 are positive; 3 of these and 2 others are predicted to be: TP 3, FN 1, FP 2, TN 2.
LABELS = [1, 1, 1, 1, 0, 0, 0, 0]
PREDICTIONS = [1, 1, 1, 0, 1, 1, 0, 0]
# Of 6 examples 5 are right; classes 0, 1, 2 are predicted 3, 2, 1 times and labels 2, 3, 1 times.
THREE_CLASSES = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize("dtype", [int, np.int8, np.uint8, np.uint64])
def test_two_classes_by_hand(dtype):
    pair = np.array(PREDICTIONS, dtype), LABELS
    assert accuracy(*pair) == 5 / 8
    assert f1(*pair) == pytest.approx(2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4))
    assert f1(*pair, positive=0) == pytest.approx(2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4))
    assert macro_f1(*pair) == pytest.approx((6 / 9 + 4 / 7) / 2)
    assert matthews(*pair) == pytest.approx((3 * 2 - 2 * 1) / math.sqrt(5 * 4 * 4 * 3))
    assert all(type(metric(*pair)) is float for metric in OF_CLASSES)


def test_more_classes_by_hand():
    assert accuracy(*THREE_CLASSES) == 5 / 6
    assert macro_f1(*THREE_CLASSES) == pytest.approx((4 / 5 + 4 / 5 + 1) / 3)
    covariance = 6 * 5 - (3 * 2 + 2 * 3 + 1 * 1)
    assert matthews(*THREE_CLASSES) == pytest.approx(covariance / math.sqrt((36 - 14) * (36 - 14)))
    assert macro_f1([0, 0, 1], [0, 0, 0]) == pytest.approx((4 / 5 + 0) / 2), "a class that is only predicted counts"


def test_many_examples_do_not_overflow():
    """The same examples again and again have the same correlation."""
    many = (np.tile(side, 20_000) for side in THREE_CLASSES)
    assert matthews(*many) == pytest.approx(matthews(*THREE_CLASSES), rel=1e-12)


@pytest.mark.parametrize("metric", OF_CLASSES)
@pytest.mark.parametrize("count", [2, 3, 7, 1001])
def test_all_right_is_exactly_one_and_one_class_for_another_nothing(metric, count):
    assert metric(np.arange(count) % 3, np.arange(count) % 3) == 1
    assert metric([1] * count, [0] * count) == 0


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(st.lists(st.tuples(st.integers(-2, 3), st.integers(-2, 3)), min_size=1, max_size=30), st.integers(-2, 4))
@settings(max_examples=50)
@example([(1, 1), (1, 1)], 1)
@example([(1, 0), (1, 0)], 1)
@example([(3, 0), (4, 1)], 2)
def test_equal_scikit_learn(pairs, positive):
    reference = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed: pip install scikit-learn")
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
        ([0, 1], ["0", "1"], TypeError, "labels must be an array of integers, got <U1"),
        ([0, 1, 1], [0, -100, -100], ValueError, "labels hold -100, which is no class, 2 times"),
    ],
)
def test_wrong_input(metric, predictions, labels, error, message):
    with pytest.raises(error, match=message):
        metric(predictions, labels)
