"""An encoder of which some rows are read, or that computes its layers again."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Encoder, EncoderLayer, Init, Sequences, Tape, randomize
from tests.computing import in_pieces, nothing_is_nan, on_threads
from tests.strategies import read_of, rngs, sequences

D = 6
RAGGED = Sequences([3, 1, 4, 4])
X = np.random.default_rng(1).standard_normal((12, D))


def make(num_layers=2, dropout=0.0, dtype=np.float64, *, checkpointing=False):
    options = {"dropout": dropout, "attention_dropout": dropout / 2, "layer_norm_eps": 1e-3}
    encoder = Encoder(EncoderLayer(D, 2, 5, Init(None, dtype=dtype), **options) for _ in range(num_layers))
    randomize(encoder, np.random.default_rng(0))
    encoder.gradient_checkpointing = checkpointing
    return encoder


def derived(encoder, x, some, read, dy, rng=None):
    """y, dx and the gradients of the parameters, by name."""
    tape = Tape(rng)
    y = encoder(x, some, read, tape)
    dx = encoder.backward(dy(y), tape)
    tape.check_empty()
    return {"y": y, "dx": dx, **{name: parameter.grad for name, parameter in encoder.named_parameters()}}


@given(st.data(), sequences(), rngs, st.integers(1, 3), st.integers(1, 4), st.booleans())
def test_reading_is_picking_from_the_whole(data, some, rng, num_layers, threads, checkpointing):
    read = data.draw(st.none() | read_of(some))
    x = rng.standard_normal((some.num_rows, D))
    rows = np.arange(len(x)) if read is None else read
    dy, dh = rng.standard_normal((len(rows), D)), np.zeros(x.shape)
    np.add.at(dh, rows, dy)
    whole = derived(make(num_layers), x, some, None, lambda y: dh)
    wanted = {**whole, "y": whole["y"][rows]}
    encoder = make(num_layers, checkpointing=checkpointing)
    with on_threads(threads), in_pieces(data.draw(st.sampled_from([1, 20, 10**6]))), nothing_is_nan():
        got = derived(encoder, x, some, read, lambda y: dy)
        inferred = encoder(x, some, read)
        if len(some.lengths) == 1:
            np.testing.assert_array_equal(encoder(x, None, read), inferred)
    largest = max([1.0, *(np.abs(array).max(initial=0) for array in wanted.values())])
    for name, array in wanted.items():
        np.testing.assert_allclose(got[name], array, rtol=1e-12, atol=1e-12 * largest, err_msg=name)
    np.testing.assert_allclose(inferred, wanted["y"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("read", [None, np.array([0, 3, 3, 8])])
def test_computing_again_gives_the_same_bits_also_with_dropout_and_a_layer_that_is_replaced(dtype, read):
    results = []
    for checkpointing in (False, True):
        encoder, rng = make(2, 0.4, dtype, checkpointing=checkpointing), np.random.default_rng(2)
        encoder.layers[1] = make(2, 0.4, dtype).layers[0]
        results.append({**derived(encoder, X.astype(dtype), RAGGED, read, np.cos, rng), "rng": rng.random()})
    plain, again = results
    for name, array in plain.items():
        np.testing.assert_array_equal(again[name], array, err_msg=name, strict=True)
    assert np.abs(plain["y"] - encoder(X.astype(dtype), RAGGED, read)).max() > 0.01, "there is dropout"


def memory_of_a_step(checkpointing, num_layers=6):
    """Bytes that a forward leaves, and at most during forward and backward, in layers' worth of input."""
    rng = np.random.default_rng(0)
    encoder = Encoder(EncoderLayer(32, 2, 128, Init(rng), dropout=0.1) for _ in range(num_layers))
    encoder.gradient_checkpointing = checkpointing
    x, some, tape = rng.standard_normal((512, 32), np.float32), Sequences([32] * 16), Tape(rng)
    assert all(parameter.grad.size for parameter in encoder.parameters())  # it is made when it is looked at
    tracemalloc.start()
    y = encoder(x, some, tape=tape)
    kept, _ = tracemalloc.get_traced_memory()
    encoder.backward(y, tape)
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
