"""SoftmaxCrossEntropy and MeanSquaredError."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import MeanSquaredError, SoftmaxCrossEntropy
from npbert.gradcheck import check_gradients
from npbert.layers import IGNORED
from tests.strategies import sizes, targets, values

leading_shapes = st.lists(sizes, min_size=1, max_size=3)


@given(st.data(), leading_shapes, sizes)
def test_cross_entropy_gradients(data, shape, num_classes):
    logits, labels = data.draw(values(*shape, num_classes)), data.draw(targets(num_classes, *shape))
    check_gradients(SoftmaxCrossEntropy(), logits, labels).raise_if_wrong()


@given(st.data(), leading_shapes, sizes)
def test_cross_entropy_is_the_mean_surprise(data, shape, num_classes):
    logits, labels = data.draw(values(*shape, num_classes)), data.draw(targets(num_classes, *shape))
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    surprises = [-math.log(p[place][label]) for place, label in np.ndenumerate(labels) if label != IGNORED]
    loss = SoftmaxCrossEntropy()(logits, labels)
    assert loss == pytest.approx(sum(surprises) / len(surprises), rel=1e-12)


def test_knowing_nothing_costs_ln_c():
    loss = SoftmaxCrossEntropy()(np.zeros((5, 7)), np.array([0, 1, 2, 3, IGNORED]))
    assert loss == pytest.approx(math.log(7), rel=1e-15)


def test_ignored_rows_get_no_gradient_and_others_sum_to_0():
    layer, labels = SoftmaxCrossEntropy(), np.array([2, IGNORED, 0])
    _, cache = layer.forward(np.random.default_rng(0).standard_normal((3, 4)), labels)
    dlogits = layer.backward(1.0, cache)
    assert not dlogits[1].any()
    np.testing.assert_allclose(dlogits.sum(axis=-1), 0, atol=1e-16)


def test_huge_logits_are_finite():
    layer = SoftmaxCrossEntropy()
    loss, cache = layer.forward(np.array([[1e4, -1e4], [1e4, -1e4]], np.float32), np.array([0, 1]))
    assert loss == pytest.approx(1e4)
    np.testing.assert_allclose(layer.backward(1.0, cache), [[0, 0], [0.5, -0.5]], atol=1e-7)


@pytest.mark.parametrize("wrong", [-1, 3, -99])
def test_a_label_beyond_the_classes_is_named(wrong):
    with pytest.raises(IndexError, match=rf"labels\[1\] is {wrong}, but the number of classes is 3: wanted 0 to 2"):
        SoftmaxCrossEntropy().forward(np.zeros((2, 3)), np.array([0, wrong]))


def test_classes_are_counted_on_the_last_axis():
    logits = np.zeros((1, 2, 5))
    assert SoftmaxCrossEntropy()(logits, np.array([[4, 3]])) == pytest.approx(math.log(5))
    with pytest.raises(IndexError, match=r"labels\[0, 1\] is 5, but the number of classes is 5"):
        SoftmaxCrossEntropy().forward(logits, np.array([[4, 5]]))


def test_wrong_labels():
    with pytest.raises(ValueError, match=r"labels hold no target: all 2 are -100"):
        SoftmaxCrossEntropy().forward(np.zeros((2, 3)), np.array([IGNORED, IGNORED]))
    with pytest.raises(ValueError, match=r"labels have shape \(3,\), but logits \(2, 3\) want \(2,\)"):
        SoftmaxCrossEntropy().forward(np.zeros((2, 3)), np.array([0, 1, 2]))
    with pytest.raises(TypeError, match="labels must be an array of integers, got bool"):
        SoftmaxCrossEntropy().forward(np.zeros((2, 3)), np.array([True, False]))
    with pytest.raises(TypeError, match="labels must be an array of integers, got float64"):
        SoftmaxCrossEntropy().forward(np.zeros((2, 3)), np.array([0.0, 1.0]))


@given(st.data(), leading_shapes)
def test_mean_squared_error_gradients(data, shape):
    check_gradients(MeanSquaredError(), data.draw(values(*shape)), data.draw(values(*shape))).raise_if_wrong()


def test_mean_squared_error_is_a_mean():
    assert MeanSquaredError()(np.array([1.0, 2, 3]), np.array([1.0, 4, 0])) == pytest.approx(13 / 3)


def test_mean_squared_error_wants_equal_shapes_and_something():
    with pytest.raises(ValueError, match=r"prediction has shape \(3,\), but target \(3, 1\)"):
        MeanSquaredError().forward(np.zeros(3), np.zeros((3, 1)))
    with pytest.raises(ValueError, match="are empty"):
        MeanSquaredError().forward(np.zeros(0), np.zeros(0))
