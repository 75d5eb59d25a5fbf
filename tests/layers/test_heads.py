"""Pooler, next-sentence head and masked-LM head."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from npbert import Embedding, Layer, MaskedLMHead, NextSentenceHead, Parameter, Pooler
from tests.strategies import activations, away_from_kinks, ids, prove, rngs, sizes, values


@given(st.data(), sizes, sizes, sizes, rngs)
def test_pooler_gradients(data, batch_size, length, hidden_size, rng):
    prove(Pooler(hidden_size, rng=rng, dtype=np.float64), data.draw(values(batch_size, length, hidden_size)), rng=rng)


def test_pooler_reads_only_the_first_position():
    rng = np.random.default_rng(0)
    pooler = Pooler(4, rng=rng, dtype=np.float64)
    y, cache = pooler.forward(rng.standard_normal((2, 3, 4)))
    dx = pooler.backward(y, cache)
    assert dx[:, 0].all()
    assert not dx[:, 1:].any()


@given(st.data(), sizes, sizes, rngs)
def test_next_sentence_gradients(data, batch_size, hidden_size, rng):
    head = NextSentenceHead(hidden_size, rng=rng, dtype=np.float64)
    prove(head, data.draw(values(batch_size, hidden_size)), rng=rng)


@given(st.data(), activations, sizes, st.integers(2, 7), rngs)
def test_masked_lm_gradients(data, activation, count, vocab_size, rng):
    table = Parameter(np.zeros((vocab_size, 6)))
    head = MaskedLMHead(table, activation=activation, rng=rng, dtype=np.float64)
    with away_from_kinks():
        prove(head, data.draw(values(count, 6)), rng=rng)


class EmbedAndDecode(Layer):
    """A table read by id and, tied, as the decoder: both derivatives meet in one gradient."""

    def __init__(self, vocab_size, rng):
        self.embedding = Embedding(vocab_size, 6, rng=rng, dtype=np.float64)
        self.head = MaskedLMHead(self.embedding.weight, rng=rng, dtype=np.float64)

    def forward(self, input_ids):
        h, embedding_cache = self.embedding.forward(input_ids)
        logits, head_cache = self.head.forward(h)
        return logits, (embedding_cache, head_cache)

    def backward(self, dlogits, cache):
        embedding_cache, head_cache = cache
        self.embedding.backward(self.head.backward(dlogits, head_cache), embedding_cache)


@given(st.data(), st.integers(2, 7), sizes, rngs)
def test_tied_table_gradients(data, vocab_size, length, rng):
    tied = EmbedAndDecode(vocab_size, rng)
    assert [name for name, _ in tied.named_parameters() if name.endswith("table")] == []
    prove(tied, data.draw(ids(vocab_size, 2, length)), rng=rng)
