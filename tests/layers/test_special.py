"""Dropout, and what other layers promise at special places."""

import math

import numpy as np
import pytest

import npbert
from npbert import GELU, IGNORED, Dropout, Init, LayerNorm, ReLU, Tanh, TanhGELU, Tape
from tests.textbook import sinusoidal


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_dropout_drops_a_share_of_p_of_what_are_no_neighbours_and_leaves_the_mean(p):
    x = np.ones((1000, 999))
    y = Dropout(p).forward(x, Tape(np.random.default_rng(0)))
    is_kept = y != 0
    assert abs(is_kept.mean() - (1 - p)) < 2e-3
    assert abs((is_kept[:, 1:] & is_kept[:, :-1]).mean() - (1 - p) ** 2) < 2e-3
    np.testing.assert_allclose(y, is_kept / (1 - p), rtol=1e-15)
    single = Dropout(p).forward(x.astype(np.float32), Tape(np.random.default_rng(0), keeps=False))
    np.testing.assert_array_equal(single != 0, is_kept)


def test_dropout_s_backward_drops_what_its_forward_dropped():
    dropout, tape, x = Dropout(0.3), Tape(np.random.default_rng(0)), np.ones((7, 5))
    ys = [dropout.forward(x, tape) for _ in range(3)]
    assert len({y.tobytes() for y in ys}) == 3
    for y in reversed(ys):
        np.testing.assert_array_equal(dropout.backward(x, tape), y)


@pytest.mark.parametrize("p", [0.0, 0.9])
def test_without_a_generator_or_a_rate_nothing_is_dropped_or_drawn(p):
    x, rng = np.arange(6.0), np.random.default_rng(0)
    layer, tape = Dropout(p), Tape(rng if p == 0 else None)
    for y in (layer(x), layer.forward(x, npbert.NO_TAPE), layer.forward(x, tape), layer.backward(x, tape)):
        np.testing.assert_array_equal(y, x)
    assert rng.random() == np.random.default_rng(0).random()


SLOPE_AT_0 = {ReLU: 0, Tanh: 1, GELU: 0.5, TanhGELU: 0.5}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", SLOPE_AT_0)
def test_activations_hide_no_nan_and_know_what_is_far_out(kind, dtype):
    layer, tape, x = kind(), Tape(), np.array([-1e6, -100, -20, 0, 20, 100, 1e6], dtype)
    wanted, slope = (np.sign(x), 0) if kind is Tanh else (np.maximum(x, 0), 1)
    for y in (layer.forward(x, tape), layer(x)):
        np.testing.assert_array_equal(y, wanted, strict=True)
    slopes = [0, 0, 0, SLOPE_AT_0[kind], slope, slope, slope]
    np.testing.assert_allclose(layer.backward(np.ones_like(x), tape), slopes, rtol=1e-6, atol=1e-30)
    assert np.isnan(layer(np.array([np.nan], dtype))).all()


def test_an_activation_of_one_s_own_says_what_it_lacks():
    with pytest.raises(NotImplementedError, match="Swish needs value_and_slope"):
        type("Swish", (npbert.Elementwise,), {})().forward(np.ones((2, 3)))


@pytest.mark.parametrize("features", [6, 7])
def test_sinusoidal_positions_are_the_formula_and_learn_nothing(features):
    t, tape = np.array([0, 3, 49]), Tape()
    layer = npbert.SinusoidalPositions(50, features, Init(None, dtype=np.float64))
    np.testing.assert_allclose(layer.forward(t, tape), sinusoidal(t, features), rtol=1e-13, atol=1e-14)
    assert (layer.backward(np.ones((3, features)), tape), len(tape), layer.parameters()) == (None, 0, [])
    assert npbert.SinusoidalPositions(5, 4, Init(None))(t[:2]).dtype == np.float32


def test_softmax_and_cross_entropy_at_their_special_places():
    np.testing.assert_array_equal(npbert.Softmax()(np.array([[1e4, 1e4, -1e4]], np.float32)), [[0.5, 0.5, 0]])
    loss, tape = npbert.SoftmaxCrossEntropy(), Tape()
    assert loss(np.zeros((5, 7)), np.array([0, 1, 2, 3, IGNORED])) == pytest.approx(math.log(7), rel=1e-15)
    assert loss.forward(np.array([[1e4, -1e4], [1e4, -1e4]], np.float32), np.array([0, 1]), tape) == 1e4
    np.testing.assert_array_equal(loss.backward(1.0, tape), [[0, 0], [0.5, -0.5]])


def test_what_is_ignored_is_never_right():
    logits = np.array([[0.0, 3, 1], [2, 0, 1], [0, 0, 5], [9, 0, 0]])
    assert npbert.SoftmaxCrossEntropy().count_right(logits, np.array([1, 1, 2, IGNORED])) == 2


@pytest.mark.parametrize("size", [1e20, 1e38, np.inf])
def test_what_is_too_large_to_normalize_is_not_a_calm_number(size):
    """A row whose squares overflow would be divided by inf, which makes 0 of it."""
    norm = LayerNorm(4, Init(None, np.float32))
    with np.errstate(all="ignore"):
        y = norm(np.array([[size, -size, size, -size], [1, -1, 1, -1]], np.float32))
    assert np.isnan(y[0]).all()
    np.testing.assert_array_equal(y[1], [1, -1, 1, -1])
