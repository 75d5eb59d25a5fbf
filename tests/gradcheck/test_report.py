"""What a report says, and when it is true."""

import numpy as np
import pytest

from npbert import EncoderLayer, Layer, ReLU
from npbert.gradcheck import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    GradientError,
    check_gradients,
)
from tests.gradcheck.scale import Scale, X


def test_the_report_names_the_worst_entry():
    class Wrong(Scale):
        def backward(self, dy, x):
            dx = super().backward(dy, x)
            self.s.grad[1] += 0.5
            return dx

    report = check_gradients(Wrong(), X)
    worst = report.worst[COMPLEX_STEP]
    assert (worst.name, worst.index) == ("s", (1,))
    assert worst.analytic - worst.numeric == pytest.approx(0.5)
    with pytest.raises(
        GradientError, match=r"WRONG, 9 derivatives of s, x; the worst:\n  s\[1\]: backward .*, relative error"
    ):
        report.raise_if_wrong()


def test_nan_is_wrong():
    class Wrong(Scale):
        def backward(self, dy, x):
            dx = super().backward(dy, x)
            dx[0, 0] = np.nan
            return dx

    report = check_gradients(Wrong(), X)
    assert not report.ok
    assert report.worst[COMPLEX_STEP].index == (0, 0)


def test_a_gradient_where_there_is_none_is_wrong():
    class Wrong(Scale):
        def forward(self, x):
            return x, x

        def backward(self, dy, x):
            self.s.grad += 1e-9
            return dy

    assert not check_gradients(Wrong(), X).ok


def test_a_report_is_as_true_as_it_is_right():
    class Wrong(Scale):
        def backward(self, dy, x):
            return 2 * super().backward(dy, x)

    assert check_gradients(Scale(), X)
    assert not check_gradients(Wrong(), X)


def test_methods_that_disagree_say_why():
    class Variance(Layer):
        def forward(self, x):
            return x.var(axis=-1, keepdims=True) * x.sum(), x

        def backward(self, dy, x):
            variance, centred = x.var(axis=-1, keepdims=True), x - x.mean(axis=-1, keepdims=True)
            return (dy * variance).sum() + dy * x.sum() * 2 * centred / x.shape[-1]

    report = check_gradients(Variance(), X)
    assert report.worst[FINITE_DIFFERENCES].relative_error < 1e-10
    assert "does forward use what complex numbers do not flow through" in str(report)
    assert "is a kink near" in str(check_gradients(ReLU(), np.array([1e-4, 1.0])))


def test_many_arrays_are_counted_and_few_are_named():
    encoder_layer = EncoderLayer(4, 2, 3, rng=np.random.default_rng(0), dtype=np.float64)
    assert "derivatives of 17 arrays; the worst" in str(
        check_gradients(encoder_layer, np.ones((1, 2, 4)) * np.arange(4))
    )
