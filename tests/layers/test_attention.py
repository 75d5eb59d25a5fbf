"""MultiHeadAttention with masks, heads and dropout."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import MultiHeadAttention
from npbert.gradcheck import randomize
from tests.strategies import attention_masks, prove, rngs, sizes, values

heads_and_widths = st.sampled_from([(1, 5), (2, 6), (3, 6), (2, 8)])


@given(st.data(), sizes, sizes, heads_and_widths, rngs, st.sampled_from([0, 0.2]))
def test_gradients(data, batch_size, length, shape, rng, dropout):
    num_heads, hidden_size = shape
    attention = MultiHeadAttention(hidden_size, num_heads, dropout=dropout, rng=rng, dtype=np.float64)
    x = rng.standard_normal((batch_size, length, hidden_size))
    mask = data.draw(st.none() | attention_masks(batch_size, length))
    prove(attention, x, mask, rng, rng=rng)


def random_attention(hidden_size=6, num_heads=2):
    attention = MultiHeadAttention(hidden_size, num_heads, rng=None, dtype=np.float64)
    randomize(attention, np.random.default_rng(0))
    return attention


@given(st.data(), sizes, sizes)
def test_one_position_at_a_time(data, batch_size, length):
    """The definition of the paper, with loops in place of reshapes."""
    attention = random_attention()
    x, mask = data.draw(values(batch_size, length, 6)), data.draw(attention_masks(batch_size, length))
    mask[:, 0] = 1
    expected = np.empty_like(x)
    q, k, v = attention.query(x), attention.key(x), attention.value(x)
    for b in range(batch_size):
        for t in range(length):
            heads = []
            for features in (slice(0, 3), slice(3, 6)):
                scores = [q[b, t, features] @ k[b, u, features] / np.sqrt(3) for u in range(length) if mask[b, u]]
                weights = np.exp(scores - np.max(scores))
                weights /= weights.sum()
                heads.append(weights @ v[b, mask[b] == 1, features])
            expected[b, t] = attention.output(np.concatenate(heads))
    np.testing.assert_allclose(attention(x, mask), expected, rtol=1e-11, atol=1e-11)


@given(st.data(), sizes, st.integers(3, 5))
def test_padding_has_no_say(data, batch_size, length):
    attention = random_attention()
    x = data.draw(values(batch_size, length, 6))
    mask = np.ones((batch_size, length), int)
    mask[:, -1] = 0
    other = x.copy()
    other[:, -1] += 5
    np.testing.assert_array_equal(attention(x, mask)[:, :-1], attention(other, mask)[:, :-1])
    np.testing.assert_allclose(attention(x, mask)[:, :-1], attention(x[:, :-1])[:, :], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sequence_of_padding_is_finite(dtype):
    attention = MultiHeadAttention(6, 2, rng=np.random.default_rng(0), dtype=dtype)
    x = np.random.default_rng(1).standard_normal((2, 3, 6)).astype(dtype)
    y, cache = attention.forward(x, np.zeros((2, 3), int))
    assert np.isfinite(y).all()
    assert np.isfinite(attention.backward(y, cache)).all()


def test_wrong_heads_and_masks():
    with pytest.raises(ValueError, match="hidden_size 6 is not divisible by num_heads 4"):
        MultiHeadAttention(6, 4, rng=None)
    with pytest.raises(ValueError, match="hidden_size 6 is not divisible by num_heads 0"):
        MultiHeadAttention(6, 0, rng=None)
    attention, x = MultiHeadAttention(6, 2, rng=None), np.zeros((2, 3, 6))
    with pytest.raises(ValueError, match=r"attention_mask has shape \(1, 3\), wanted \(2, 3\)"):
        attention.forward(x, np.ones((1, 3), int))
    with pytest.raises(TypeError, match="attention_mask must be an array of integers, got float64"):
        attention.forward(x, np.array([[0, 0, -1e4]] * 2))
    with pytest.raises(ValueError, match=r"attention_mask holds -10000, wanted only 1 \(real\) and 0 \(padding\)"):
        attention.forward(x, np.array([[0, 0, -10000]] * 2))
    with pytest.raises(ValueError, match=r"x has shape \(3, 6\), wanted \(B, T, D\)"):
        attention.forward(x[0])
