"""Dropout, what other layers promise at special places, and what they refuse: NumPy alone would stretch what does not
fit, or turn its dtype. (check_gradients gives each block a dy of three times its rows.)"""

import math
import re
from functools import partial
from itertools import product

import numpy as np
import pytest

import npbert
from npbert import GELU, IGNORED, Dropout, Init, LayerNorm, ReLU, Sequences, Tanh, TanhGELU, Tape
from npbert.catalogue import CATALOGUE
from npbert.layers import Unpack
from tests.tables import one_in
from tests.test_catalogue import NO_MODELS


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_dropout_drops_a_share_of_p_of_what_are_no_neighbours_and_leaves_the_mean(p):
    x = np.ones((1000, 999))
    y = Dropout(p)(x, Tape(np.random.default_rng(0)))
    is_kept = y != 0
    assert abs(is_kept.mean() - (1 - p)) < 2e-3
    assert abs((is_kept[:, 1:] & is_kept[:, :-1]).mean() - (1 - p) ** 2) < 2e-3
    np.testing.assert_allclose(y, is_kept / (1 - p), rtol=1e-15)
    single = Dropout(p)(x.astype(np.float32), Tape(np.random.default_rng(0), keeps=False))
    np.testing.assert_array_equal(single != 0, is_kept)


@pytest.mark.parametrize("p", [0.0, 0.9])
def test_without_a_generator_or_a_rate_nothing_is_dropped_or_drawn(p):
    x, rng = np.arange(6.0), np.random.default_rng(0)
    layer, tape = Dropout(p), Tape(rng if p == 0 else None)
    for y in (layer(x), layer(x, npbert.NO_TAPE), layer(x, tape), layer.backward(x, tape)):
        np.testing.assert_array_equal(y, x)
    assert rng.random() == np.random.default_rng(0).random()


SLOPE_AT_0 = {ReLU: 0, Tanh: 1, GELU: 0.5, TanhGELU: 0.5}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", SLOPE_AT_0)
def test_activations_hide_no_nan_and_know_what_is_far_out(kind, dtype):
    layer, tape, x = kind(), Tape(), np.array([-1e6, -100, -20, 0, 20, 100, 1e6], dtype)
    wanted, slope = (np.sign(x), 0) if kind is Tanh else (np.maximum(x, 0), 1)
    for y in (layer(x, tape), layer(x)):
        np.testing.assert_array_equal(y, wanted, strict=True)
    slopes = [0, 0, 0, SLOPE_AT_0[kind], slope, slope, slope]
    np.testing.assert_allclose(layer.backward(np.ones_like(x), tape), slopes, rtol=1e-6, atol=1e-30)
    assert np.isnan(layer(np.array([np.nan], dtype))).all()


def test_softmax_and_cross_entropy_at_their_special_places():
    np.testing.assert_array_equal(npbert.Softmax()(np.array([[1e4, 1e4, -1e4]], np.float32)), [[0.5, 0.5, 0]])
    loss, tape = npbert.SoftmaxCrossEntropy(), Tape()
    assert loss(np.zeros((5, 7)), np.array([0, 1, 2, 3, IGNORED])) == pytest.approx(math.log(7), rel=1e-15)
    assert loss(np.array([[1e4, -1e4], [1e4, -1e4]], np.float32), np.array([0, 1]), tape) == 1e4
    np.testing.assert_array_equal(loss.backward(1.0, tape), [[0, 0], [0.5, -0.5]])


@pytest.mark.parametrize("size", [1e20, 1e38, np.inf])
def test_what_is_too_large_to_normalize_is_not_a_calm_number_and_what_has_no_variance_is_0(size):
    """A row whose squares overflow would be divided by inf, which makes 0 of it; and a constant row by 0."""
    norm = LayerNorm(4, Init(None, np.float32))
    with np.errstate(all="ignore"):
        y = norm(np.array([[size, -size, size, -size], [1, -1, 1, -1], [3] * 4], np.float32))
    assert np.isnan(y[0]).all()
    np.testing.assert_array_equal(y[1:], [[1, -1, 1, -1], [0] * 4])


WRONG = {
    "one row": (lambda a: a[:1], ValueError),
    "one feature": (lambda a: a[..., :1], ValueError),
    "an axis more": (lambda a: a[None], ValueError),
    "float32": (lambda a: a.astype(np.float32), TypeError),
    "a list": (lambda a: a.tolist(), TypeError),
}
WITH_ROWS = [name for name in NO_MODELS if np.ndim((made := CATALOGUE[name].make())[0](*made[1])) > 1]


DY = [each for each in product(WITH_ROWS, WRONG) if each != ("ReplacedTokenHead", "one feature")]  # it has no other


@pytest.mark.parametrize(("name", "wrong"), one_in(4, DY))
def test_a_dy_that_does_not_fit(name, wrong):
    layer, inputs, _ = CATALOGUE[name].make()
    change, error = WRONG[wrong]
    tape = Tape()
    dy = change(layer(*inputs, tape=tape))
    with pytest.raises(error):
        layer.backward(dy, tape)


@pytest.mark.parametrize("x", [[[1.0, 2.0]], np.ones((2, 3), int)], ids=str)
@pytest.mark.parametrize("layer", [GELU(), npbert.Softmax(), Dropout(0.5), npbert.UnitLength()])
def test_numbers_that_are_no_floats(layer, x):
    """NumPy would make float64 of them, and a model would go on in it without a word."""
    with pytest.raises(
        TypeError, match=rf"{type(layer).__name__}: x is (a list|.* of int64), wanted an array \(\.\.\.\) of floats"
    ):
        layer(x, Tape(np.random.default_rng(0)))


INIT, X, FEW = Init(None), np.zeros((5, 4), np.float32), np.arange(4)
HEADS, LOSS = npbert.DotProductAttention(2), npbert.SoftmaxCrossEntropy()
REFUSED = [
    (npbert.Linear(4, 3, INIT), ([[0.0] * 4],), "Linear: x is a list, wanted an array (N, 4) of float32"),
    (LayerNorm(4, INIT), (X.astype("f8"),), "LayerNorm: x is (5, 4) of float64, wanted an array (N, 4) of float32"),
    (HEADS, (X, X, X, Sequences([2, 3]).only(FEW[1:3])), "q is (5, 4) of float32, wanted an array (2, 4)"),
    (HEADS, [X[:, :3]] * 3, "num_heads is 2, wanted a divisor of the 3 features"),
    (npbert.MeanPooling(), (X, Sequences([2, 4])), "MeanPooling: x is (5, 4) of float32, wanted an array (6, 4)"),
    (Unpack(), (X, FEW, (2, 3)), "Unpack: x is (5, 4) of float32, wanted an array (4, 4)"),
    (npbert.Embedding(4, 2, INIT), (FEW - 1,), "ids[0] is -1, wanted 0 to 3, as the number of embeddings is 4"),
    (npbert.Gather(), (X, FEW + 2), "rows[3] is 5, wanted 0 to 4, as the number of rows is 5"),
    (LOSS, (X, np.full(5, IGNORED)), "labels has no target: all 5 are -100"),
    (LOSS, (X, FEW), "logits are (5, 4) and labels (4,), wanted (N, C) and (N,)"),
    (npbert.MeanSquaredError(), (X, X[:1]), "target has shape (1, 4), wanted (5, 4), as prediction"),
    (npbert.Dropout, (-0.1,), "dropout probability p is -0.1, wanted 0 ≤ p < 1"),
    (npbert.MultiHeadAttention, (6, 4, INIT), "num_heads is 4, wanted a divisor of hidden_size, 6"),
    (npbert.Encoder, ([],), "layers is empty, wanted at least one layer"),
    (partial(npbert.FeedForward, activation="selu"), (3, 4, INIT), "is 'selu', wanted one of gelu, gelu_new, "),
]


@pytest.mark.parametrize(("call", "inputs", "message"), REFUSED, ids=[message for *_, message in REFUSED])
def test_what_is_refused_is_named_with_what_was_wanted(call, inputs, message):
    with pytest.raises((ValueError, TypeError, IndexError), match=re.escape(message)):
        call(*inputs)
