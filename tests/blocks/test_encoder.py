"""An encoder of which some rows are read, or that computes its layers again.

(That its backward is the derivative, for any rows: tests/test_gradients.py.)
"""

import tracemalloc

import numpy as np
import pytest

from npbert import Encoder, EncoderLayer, Init, Sequences, Tape, randomize

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


def test_reading_is_picking_from_the_whole_and_without_sequences_all_rows_are_one():
    encoder, nothing = make(), np.array([], int)
    for read in (nothing, np.array([11]), np.array([0, 3, 3, 8])):
        np.testing.assert_allclose(encoder(X, RAGGED, read), encoder(X, RAGGED)[read], rtol=1e-12)
    assert not derived(encoder, X, RAGGED, nothing, np.cos)["dx"].any()
    np.testing.assert_array_equal(encoder(X), encoder(X, Sequences([len(X)])))


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


def memory_of_a_step(checkpointing):
    """Bytes that a forward leaves, and at most during forward and backward, in layers' worth of input."""
    rng = np.random.default_rng(0)
    encoder = Encoder(EncoderLayer(32, 2, 128, Init(rng), dropout=0.1) for _ in range(6))
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
