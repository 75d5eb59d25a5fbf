"""BertEmbeddings: token + position + segment, LayerNorm, dropout."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import BertEmbeddings
from tests.strategies import ids, prove, rngs, sizes


@given(st.data(), sizes, sizes, sizes, rngs, st.sampled_from(["absolute", "sinusoidal"]), st.sampled_from([0, 0.3]))
def test_gradients(data, vocab_size, batch_size, length, rng, kind, dropout):
    embeddings = BertEmbeddings(
        vocab_size,
        6,
        max_position_embeddings=length + 1,
        position_embedding_type=kind,
        dropout=dropout,
        rng=rng,
        dtype=np.float64,
    )
    input_ids = data.draw(ids(vocab_size, batch_size, length))
    prove(embeddings, input_ids, data.draw(ids(2, batch_size, length)), rng, rng=rng)


@pytest.mark.parametrize(("kind", "tables"), [("absolute", 3), ("sinusoidal", 2)])
def test_every_table_gets_a_gradient(kind, tables):
    rng = np.random.default_rng(0)
    embeddings = BertEmbeddings(5, 6, max_position_embeddings=3, position_embedding_type=kind, rng=rng)
    _, cache = embeddings.forward(np.array([[0, 1, 1]]), np.array([[0, 0, 1]]))
    embeddings.backward(rng.standard_normal((1, 3, 6), np.float32), cache)
    gradients = {name: p.grad for name, p in embeddings.named_parameters() if "embeddings" in name}
    assert len(gradients) == tables
    assert all(gradient.any() for gradient in gradients.values())


@pytest.mark.parametrize("types", [np.array([[0, 0]]), np.array([0, 0, 1])])
def test_types_of_another_shape(types):
    embeddings = BertEmbeddings(5, 6, max_position_embeddings=3, rng=None)
    with pytest.raises(ValueError, match=r"have shapes \(1, 3\) and \(.*\), wanted \(B, T\) for both"):
        embeddings.forward(np.array([[0, 1, 1]]), types)


def test_unknown_positions():
    with pytest.raises(ValueError, match="position_embedding_type is 'rotary', wanted absolute or sinusoidal"):
        BertEmbeddings(5, 6, max_position_embeddings=3, position_embedding_type="rotary", rng=None)
