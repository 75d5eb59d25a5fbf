"""Is right proved, and wrong seen, entry by entry and along directions?"""

import numpy as np
import pytest

from npbert import Embedding, Layer, LayerNorm, Linear, ReLU
from npbert.gradcheck import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    LossOf,
    check_directions,
    check_gradients,
    randomize,
)
from tests.gradcheck.scale import Scale, X


def test_right_is_proved():
    report = check_gradients(Scale(), X)
    assert report.ok
    assert report.count == 3 + 6
    assert set(report.worst) == {FINITE_DIFFERENCES, COMPLEX_STEP}
    assert report.worst[COMPLEX_STEP].relative_error < 1e-15
    assert report.worst[FINITE_DIFFERENCES].relative_error < 1e-11
    assert str(report).startswith("proved, 9 derivatives of s, x; the worst:\n  ")
    report.raise_if_wrong()


@pytest.mark.parametrize("check", [check_gradients, check_directions])
def test_a_small_error_is_seen_by_both_methods(check):
    class Wrong(Scale):
        def backward(self, dy, x):
            dx = super().backward(dy, x)
            dx[1, 2] *= 1 + 1e-5
            return dx

    report = check(Wrong(), X)
    assert not report.ok
    assert all(worst.relative_error > 1e-7 for worst in report.worst.values())


def test_the_loss_of_a_model_is_a_layer():
    class Model(Layer):
        def __init__(self):
            self.linear = Linear(3, 1, rng=np.random.default_rng(0), dtype=np.float64)

        def loss(self, x):
            y, cache = self.linear.forward(x)
            return ((y * y).sum(), "and others"), (y, cache)

        def backward(self, cache, dloss=1.0):
            y, linear_cache = cache
            self.linear.backward(2 * y * dloss, linear_cache)

    model = LossOf(Model())
    randomize(model, np.random.default_rng(0))
    assert check_gradients(model, np.arange(3)[None, :]).ok


def test_directions_cover_parameters_and_inputs():
    rng = np.random.default_rng(0)
    norm = LayerNorm(20, dtype=np.float64)
    randomize(norm, rng)
    report = check_directions(norm, rng.standard_normal((30, 20)), directions=5)
    assert report.ok
    assert report.count == 5


def test_no_direction_and_no_method_prove_nothing():
    assert check_directions(Scale(), X, directions=1).ok
    with pytest.raises(ValueError, match="directions is 0, wanted at least 1"):
        check_directions(Scale(), X, directions=0)
    for tolerances in ({}, {"fd": 1e-7}):
        with pytest.raises(ValueError, match="wanted one or both of"):
            check_gradients(Scale(), X, tolerances=tolerances)
    with pytest.raises(ValueError, match="there is nothing to prove"):
        check_gradients(ReLU(), np.zeros((0, 3)))


def test_randomize_leaves_no_blind_spot():
    norm = LayerNorm(1000)
    randomize(norm, np.random.default_rng(0))
    for parameter in norm.parameters():
        assert parameter.value.dtype == np.float32
        assert np.abs(parameter.value).max() > 0.9
        assert 0.5 < parameter.value.std() < 0.65


def test_integer_inputs_are_handed_on():
    embedding = Embedding(4, 3, rng=np.random.default_rng(0), dtype=np.float64)
    assert check_gradients(embedding, np.array([[1, 1, 3]])).count == 12
