"""What is computed in blocks, against the textbook written out over whole arrays in float64."""

import math

import numpy as np
import pytest
from npbert.layers.blockwise import BLOCK as LARGE

from npbert import GELU, AddNorm, Dropout, LayerNorm, Linear, SoftmaxCrossEntropy, TanhGELU
from npbert.gradcheck import randomize
from npbert.layers import IGNORED
from tests.computing import assert_same_but_for_rounding, in_pieces, nothing_is_nan, on_threads

BLOCK = 60
ROWS = [(11, 5), (12, 5), (13, 5), (23, 5), (24, 5), (25, 5), (121, 3)]
SHAPES = [(59,), (60,), (61,), (59, 1), (60, 1), (61, 1), *ROWS, (1, 60), (3, 61), (2, 150), (4, 5, 7), (2, 3, 2, 6)]
REAL = [(LARGE // 768 + more, 768) for more in (0, 1, 250)] + [(LARGE // 64 + more, 64) for more in (-1, 0, 1)]
REAL += [(2, LARGE // 256 + 1, 128)]

small = pytest.mark.parametrize("shape", SHAPES, ids=str)
real = pytest.mark.parametrize("shape", REAL, ids=str)
threads = pytest.mark.parametrize("count", [1, 2, 4])


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def gelu(x):
    cdf = (1 + erf(x / np.sqrt(2))) / 2
    return x * cdf, cdf + x * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def tanh_gelu(x):
    u, du = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3), np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
    return x * (1 + np.tanh(u)) / 2, (1 + np.tanh(u)) / 2 + x * (1 - np.tanh(u) ** 2) / 2 * du


def norm(x, gamma, beta, eps):
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    x_hat, sigma = (x - mean) / np.sqrt(variance + eps), np.sqrt(variance + eps)
    return gamma * x_hat + beta, x_hat, sigma


def norm_backward(dy, x_hat, sigma, gamma):
    d = gamma * dy
    dx = (d - d.mean(axis=-1, keepdims=True) - x_hat * (d * x_hat).mean(axis=-1, keepdims=True)) / sigma
    leading = tuple(range(dy.ndim - 1))
    return dx, (dy * x_hat).sum(axis=leading), dy.sum(axis=leading)


def normal(shape, number=1):
    """Arrays of float32, and what they hold as float64."""
    rng = np.random.default_rng(0)
    singles = [rng.standard_normal(shape, np.float32) for _ in range(number)]
    return *singles, *(array.astype(np.float64) for array in singles)


def compare(got, wanted, dtype=np.float32, tolerance=1e-6):
    for one, another in zip(got, wanted, strict=True):
        assert_same_but_for_rounding(one, np.asarray(another, dtype), tolerance)


def check_activation(layer, textbook, shape):
    x, dy, wide, dwide = normal(shape, 2)
    y, cache = layer.forward(x)
    expected, slope = textbook(wide)
    compare([y, layer(x), layer.backward(dy, cache)], [expected, expected, dwide * slope])


def check_layer_norm(shape):
    x, dy, wide, dwide = normal(shape, 2)
    layer = LayerNorm(shape[-1], eps=1e-3)
    randomize(layer, np.random.default_rng(1))
    y, cache = layer.forward(x)
    dx = layer.backward(dy, cache)
    expected, x_hat, sigma = norm(wide, layer.gamma.value, layer.beta.value, 1e-3)
    wanted = norm_backward(dwide, x_hat, sigma, layer.gamma.value)
    compare([y, dx, layer.gamma.grad, layer.beta.grad], [expected, *wanted])


def check_add_norm(shape, p):
    x, f, dy, wide, wide_f, dwide = normal(shape, 3)
    layer = AddNorm(shape[-1], dropout=p, eps=1e-3)
    randomize(layer, np.random.default_rng(1))
    y, cache = layer.forward(x, f, np.random.default_rng(2))
    dx, df = layer.backward(dy, cache)
    kept = kept_by_dropout(shape, p) / (1 - p)
    expected, x_hat, sigma = norm(wide + wide_f * kept, layer.gamma.value, layer.beta.value, 1e-3)
    ds, dgamma, dbeta = norm_backward(dwide, x_hat, sigma, layer.gamma.value)
    compare([y, dx, df, layer.gamma.grad, layer.beta.grad], [expected, ds, ds * kept, dgamma, dbeta])
    compare([layer(x, f)], norm(wide + wide_f, layer.gamma.value, layer.beta.value, 1e-3)[:1])


def kept_by_dropout(shape, p):
    """16 bits an element, from words of 64."""
    words = np.random.default_rng(2).integers(2**64, size=-(-math.prod(shape) // 4), dtype=np.uint64)
    return (words.view(np.uint16)[: math.prod(shape)] >= round(p * 2**16)).reshape(shape) if p else np.ones(shape)


def check_cross_entropy(shape, share_ignored, first_is_ignored=False):
    logits, wide = normal(shape)
    rng = np.random.default_rng(1)
    labels = np.where(rng.random(shape[:-1]) < share_ignored, IGNORED, rng.integers(shape[-1], size=shape[:-1]))
    labels.flat[0] = IGNORED if first_is_ignored else labels.flat[0]
    labels.flat[-1] = 0
    layer = SoftmaxCrossEntropy()
    loss, cache = layer.forward(10 * logits, labels)
    p = np.exp(10 * wide) / np.exp(10 * wide).sum(axis=-1, keepdims=True)
    is_target = labels != IGNORED
    one_hot = np.eye(shape[-1])[np.where(is_target, labels, 0)]
    assert loss == pytest.approx(-np.log((p * one_hot).sum(axis=-1))[is_target].mean(), rel=1e-6)
    compare([layer.backward(0.5, cache)], [0.5 * (p - one_hot) * is_target[..., None] / is_target.sum()])
    assert layer.count_right(cache) == (wide.argmax(axis=-1) == labels).sum()


def check_linear(shape, features=9, dtype=np.float32, tolerance=1e-6):
    x, wide = normal(shape)
    layer = Linear(shape[-1], features, rng=None, dtype=dtype)
    randomize(layer, np.random.default_rng(1))
    weight, bias = layer.weight.value.astype(np.float64), layer.bias.value
    dy, dwide = normal((*shape[:-1], features))
    y, cache = layer.forward(x.astype(dtype))
    dx = layer.backward(dy.astype(dtype), cache)
    got = y, dx, layer.weight.grad, layer.bias.grad
    leading = tuple(range(len(shape) - 1))
    sums = np.tensordot(wide, dwide, (leading, leading)), dwide.sum(axis=leading)
    compare(got, [wide @ weight + bias, dwide @ weight.T, *sums], dtype, tolerance)


CHECKS = {
    "GELU": lambda shape: check_activation(GELU(), gelu, shape),
    "TanhGELU": lambda shape: check_activation(TanhGELU(), tanh_gelu, shape),
    "LayerNorm": check_layer_norm,
    "AddNorm": lambda shape: check_add_norm(shape, 0.3),
    "AddNorm without dropout": lambda shape: check_add_norm(shape, 0.0),
    "SoftmaxCrossEntropy": lambda shape: check_cross_entropy(shape, 0.0),
    "SoftmaxCrossEntropy of some": lambda shape: check_cross_entropy(shape, 0.4),
    "SoftmaxCrossEntropy of all but one": lambda shape: check_cross_entropy(shape, 0.0, True),
    "Linear": check_linear,
}
checks = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)


@small
@threads
@checks
def test_around_every_edge_of_a_block(check, shape, count):
    with on_threads(count), in_pieces(BLOCK, 100), nothing_is_nan():
        check(shape)


@real
@pytest.mark.parametrize("check", [check for name, check in CHECKS.items() if name != "Linear"])
def test_at_their_real_size(check, shape):
    with on_threads(2), nothing_is_nan():
        check(shape)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("rows", [650, 651, 3000])
def test_linear_at_its_real_size(rows, count):
    """In float64: over so many rows, two orders of adding differ by more than 1e-6 in float32."""
    with on_threads(count), nothing_is_nan():
        check_linear((rows, 160), 310, np.float64, 1e-13)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
@small
def test_dropout(p, shape):
    x, dy, wide, dwide = normal(shape, 2)
    y, keep = Dropout(p).forward(x, np.random.default_rng(2))
    kept = kept_by_dropout(shape, p)
    compare([y, Dropout(p).backward(dy, keep)], [wide * kept / (1 - p), dwide * kept / (1 - p)])
    np.testing.assert_array_equal(keep, kept)
