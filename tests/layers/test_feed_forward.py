"""FeedForward, with each of its activations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import FeedForward
from tests.strategies import activations, away_from_kinks, batches_of_vectors, prove, rngs, sizes


@given(st.data(), activations, sizes, sizes, rngs)
def test_gradients(data, activation, hidden_size, intermediate_size, rng):
    layer = FeedForward(hidden_size, intermediate_size, activation=activation, rng=rng, dtype=np.float64)
    with away_from_kinks():
        prove(layer, data.draw(batches_of_vectors(hidden_size)), rng=rng)


def test_unknown_activation():
    with pytest.raises(ValueError, match="activation is 'selu'"):
        FeedForward(3, 4, activation="selu", rng=None)
