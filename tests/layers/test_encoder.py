"""EncoderLayer and the stack of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Encoder, EncoderLayer
from npbert.gradcheck import check_directions, randomize
from tests.strategies import activations, attention_masks, away_from_kinks, prove, rngs, sizes


def make_layer(rng, activation="gelu", dropout=0.0):
    return EncoderLayer(
        6, 2, 5, dropout=dropout, attention_dropout=dropout / 2, activation=activation, rng=rng, dtype=np.float64
    )


@given(st.data(), sizes, sizes, activations, rngs, st.sampled_from([0, 0.3]))
def test_layer_gradients(data, batch_size, length, activation, rng, dropout):
    x, mask = rng.standard_normal((batch_size, length, 6)), data.draw(attention_masks(batch_size, length))
    with away_from_kinks():
        prove(make_layer(rng, activation, dropout), x, mask, rng, rng=rng)


@given(st.data(), st.integers(2, 3), rngs, st.sampled_from([0, 0.3]))
def test_stack_gradients(data, length, rng, dropout):
    x, mask = rng.standard_normal((2, length, 6)), data.draw(attention_masks(2, length))
    encoder = Encoder(make_layer(rng, dropout=dropout) for _ in range(2))
    randomize(encoder, rng)
    check_directions(encoder, x, mask, rng).raise_if_wrong()


def test_the_stack_is_its_layers_in_order():
    rng = np.random.default_rng(0)
    first, second = make_layer(rng), make_layer(rng)
    randomize(first, rng)
    randomize(second, rng)
    x = rng.standard_normal((2, 3, 6))
    np.testing.assert_array_equal(Encoder([first, second])(x), second(first(x)))
    assert np.abs(second(first(x)) - first(second(x))).max() > 0.1


def test_layers_do_not_share_weights():
    encoder = Encoder(make_layer(np.random.default_rng(0)) for _ in range(3))
    assert len(encoder.parameters()) == 3 * 16


def test_memory_falls_as_backward_runs():
    rng = np.random.default_rng(0)
    encoder = Encoder(make_layer(rng) for _ in range(3))
    y, caches = encoder.forward(rng.standard_normal((2, 3, 6)))
    assert len(caches) == 1 + 3
    encoder.backward(y, caches)
    assert caches == []
    with pytest.raises(ValueError, match="this cache has been used up by an earlier backward"):
        encoder.backward(y, caches)
