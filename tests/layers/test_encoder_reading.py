"""An encoder of which some positions are read, and one that computes its layers again, against the plain one."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import Encoder, EncoderLayer
from npbert.gradcheck import randomize
from tests.strategies import attention_masks, rngs, sizes

B, T, D = 3, 4, 6
RAGGED = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 0, 0]])
HOLES = np.array([[1, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 0]])
MASKS = {"none": None, "full": np.ones((B, T), int), "ragged": RAGGED, "holes": HOLES, "all padding": 0 * RAGGED}
READS = {
    "one": [5],
    "in order": [0, 1, 4, 9],
    "unordered and repeated": [9, 0, 2, 0, 9, 9, 1],
    "padding": [3, 10, 3, 0],
    "of the sequence that is all padding": [6, 4],
    "all": range(B * T),
    "all, backwards and twice": [*range(B * T)[::-1], *range(B * T)],
    "none": [],
}


def make(num_layers=2, dropout=0.0, dtype=np.float64):
    rng = np.random.default_rng(0)
    options = {"dropout": dropout, "attention_dropout": dropout / 2, "rng": None, "dtype": dtype}
    encoder = Encoder(EncoderLayer(D, 2, 5, layer_norm_eps=1e-3, **options) for _ in range(num_layers))
    randomize(encoder, rng)
    return encoder


def gradients(encoder):
    found = {name: parameter.grad.copy() for name, parameter in encoder.named_parameters()}
    encoder.zero_grad()
    return found


def assert_all_same(got, wanted):
    """Every array within 1e-12 of the largest of all: the gradients of key biases are 0 but for rounding."""
    assert got.keys() == wanted.keys()
    largest = max([1.0, *(np.abs(array).max(initial=0) for array in wanted.values())])
    for name, array in wanted.items():
        np.testing.assert_allclose(got[name], array, rtol=1e-12, atol=1e-12 * largest, err_msg=name)


def assert_reading_is_picking(encoder, x, mask, read, rng):
    flat = (len(x) * x.shape[1], D)
    h, caches = encoder.forward(x, mask)
    dy, dh = rng.standard_normal((len(read), D)), np.zeros(flat)
    np.add.at(dh, read, dy)
    wanted = {"y": h.reshape(flat)[read], "dx": encoder.backward(dh.reshape(x.shape), caches), **gradients(encoder)}
    for gradient_checkpointing in (False, True):
        encoder.gradient_checkpointing = gradient_checkpointing
        y, caches = encoder.forward(x, mask, None, read)
        assert_all_same({"y": y, "dx": encoder.backward(dy, caches), **gradients(encoder)}, wanted)
        np.testing.assert_array_equal(encoder(x, mask, None, read), y)


@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_reading_is_picking_from_the_whole(num_layers, mask, read):
    rng = np.random.default_rng(1)
    assert_reading_is_picking(make(num_layers), rng.standard_normal((B, T, D)), mask, np.array(read, int), rng)


@settings(max_examples=30)
@given(st.data(), sizes, sizes, rngs)
def test_reading_is_picking_whatever_is_read(data, batch_size, length, rng):
    anything = st.lists(st.integers(0, 1), min_size=batch_size * length, max_size=batch_size * length)
    masks = attention_masks(batch_size, length) | anything.map(lambda mask: np.reshape(mask, (batch_size, length)))
    read = data.draw(st.lists(st.integers(0, batch_size * length - 1), max_size=9))
    mask = data.draw(masks).astype(data.draw(st.sampled_from([int, bool])), order=data.draw(st.sampled_from("CF")))
    x = rng.standard_normal((batch_size, length, D))
    assert_reading_is_picking(make(), x, mask, np.array(read, int), rng)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_computed_of_padding(dtype):
    """So whatever it holds, also NaN, reaches nothing, and the dtype stays."""
    encoder, read = make(dtype=dtype), np.array([1, 8, 0])
    mask = RAGGED.copy()
    mask[1, 0] = 1
    x = np.random.default_rng(1).standard_normal((B, T, D)).astype(dtype)
    clean = encoder(x, mask, None, read)
    x[mask == 0] = np.nan
    y, caches = encoder.forward(x, mask, None, read)
    dx = encoder.backward(y, caches)
    np.testing.assert_array_equal(y, clean)
    assert y.dtype == dx.dtype == dtype
    assert not dx[mask == 0].any()
    assert np.isfinite(dx).all()


@pytest.mark.parametrize(
    ("read", "error", "message"),
    [
        (np.array([0, 12]), IndexError, r"read\[1\] is 12, but the number of positions is 12"),
        (np.array([-1]), IndexError, r"read\[0\] is -1"),
        (np.array([1.0]), TypeError, "read must be an array of integers, got float64"),
        (np.ones(12, bool), TypeError, "read must be an array of integers, got bool"),
    ],
)
def test_wrong_positions(read, error, message):
    encoder = make()
    for mask in (None, RAGGED):
        for call in (encoder, encoder.forward):
            with pytest.raises(error, match=message):
                call(np.zeros((B, T, D)), mask, None, read)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("read", [None, np.array([8, 0, 3, 8])])
def test_computing_again_gives_the_same_bits(dtype, dropout, read):
    x = np.random.default_rng(1).standard_normal((B, T, D)).astype(dtype)
    results = []
    for gradient_checkpointing in (False, True):
        encoder, rng = make(3, dropout, dtype), np.random.default_rng(2)
        encoder.gradient_checkpointing = gradient_checkpointing
        y, caches = encoder.forward(x, RAGGED, rng, read)
        encoder.gradient_checkpointing = not gradient_checkpointing  # a cache knows how it was made
        after = rng.random()
        dx = encoder.backward(np.cos(y), caches)
        assert caches == []
        with pytest.raises(ValueError, match="used up by an earlier backward"):
            encoder.backward(y, caches)
        results.append({"y": y, "dx": dx, "rng": after, "then": rng.random(), **gradients(encoder)})
    plain, again = results
    for name, array in plain.items():
        np.testing.assert_array_equal(again[name], array, err_msg=name)
    assert dropout == 0 or np.abs(plain["y"] - make(3, 0, dtype).forward(x, RAGGED, None, read)[0]).max() > 0.01


def test_two_forwards_before_two_backwards_when_computing_again():
    encoder, rng = make(2, 0.3), np.random.default_rng(2)
    encoder.gradient_checkpointing = True
    first, second = np.random.default_rng(1).standard_normal((2, B, T, D))
    alone = encoder.forward(first, RAGGED, np.random.default_rng(2))
    expected = encoder.backward(alone[0], alone[1])
    y, caches = encoder.forward(first, RAGGED, rng)
    encoder.forward(second, RAGGED, rng)
    np.testing.assert_array_equal(encoder.backward(y, caches), expected)


def memory_of_a_step(gradient_checkpointing, num_layers=6):
    """Bytes that a forward leaves, and at most during forward and backward, in layers' worth of input."""
    rng = np.random.default_rng(0)
    encoder = Encoder(EncoderLayer(32, 2, 128, dropout=0.1, rng=rng) for _ in range(num_layers))
    encoder.gradient_checkpointing = gradient_checkpointing
    x = rng.standard_normal((16, 32, 32), np.float32)
    for parameter in encoder.parameters():
        parameter.grad[...] = 0
    tracemalloc.start()
    y, caches = encoder.forward(x, None, rng)
    kept, _ = tracemalloc.get_traced_memory()
    encoder.backward(y, caches)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept / x.nbytes, peak / x.nbytes


def test_computing_again_keeps_one_input_a_layer():
    plain_kept, plain_peak = memory_of_a_step(False)
    kept, peak = memory_of_a_step(True)
    assert 5 < kept < 7.5
    assert plain_kept > 10 * kept
    assert plain_peak > 2.5 * peak
    assert peak - kept < 2.2 * plain_kept / 6  # what one layer keeps, and what its backward makes
    _, peak_of_two = memory_of_a_step(True, num_layers=2)
    assert peak - peak_of_two < 4.5
