"""DotProductAttention: a few heads at a time are all heads at once."""

import math

import numpy as np
import pytest
from npbert.threads import run

from npbert import DotProductAttention
from npbert.layers import dot_product_attention as module
from npbert.layers.dot_product_attention import BLOCK
from tests.computing import assert_same_but_for_rounding, in_pieces, nothing_is_nan, on_threads


def heads(batch_size, num_heads, asking, length, features=3, dtype=np.float32):
    rng = np.random.default_rng(0)
    shapes = [(batch_size, num_heads, count, features) for count in (asking, length, length, asking)]
    mask = (np.arange(length) < rng.integers(0, length + 1, (batch_size, 1))).astype(int)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes], mask


def textbook(q, k, v, dc, mask, keep, p_dropped):
    """softmax(Q Kᵀ/√d + mask) V and its derivatives, in float64 over whole arrays."""
    q, k, v, dc = (array.astype(np.float64) for array in (q, k, v, dc))
    root = np.sqrt(q.shape[-1])
    scores = np.einsum("bhrd,bhtd->bhrt", q, k) / root
    if mask is not None:
        scores = scores + np.where(mask == 1, 0.0, -1e4)[:, None, None, :]
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    scale = np.ones_like(p) if keep is None else keep / (1 - p_dropped)
    dp = np.einsum("bhrd,bhtd->bhrt", dc, v) * scale
    dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / root
    return (
        np.einsum("bhrt,bhtd->bhrd", p * scale, v),
        np.einsum("bhrt,bhtd->bhrd", dscores, k),
        np.einsum("bhrt,bhrd->bhtd", dscores, q),
        np.einsum("bhrt,bhrd->bhtd", p * scale, dc),
    )


def assert_textbook(shape, dropout, masked, **options):
    (q, k, v, dc), mask = heads(*shape, **options)
    mask = mask if masked else None
    layer = DotProductAttention(dropout)
    with nothing_is_nan():
        c, cache = layer.forward(q, k, v, mask, np.random.default_rng(1))
        gradients = layer.backward(dc, cache)
        if dropout == 0:
            np.testing.assert_array_equal(layer(q, k, v, mask), c)
    keep = layer.dropout.draw((*shape[:3], shape[3]), np.random.default_rng(1))
    for got, wanted in zip((c, *gradients), textbook(q, k, v, dc, mask, keep, dropout), strict=True):
        assert_same_but_for_rounding(got, wanted.astype(q.dtype), 1e-6 if q.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("heads_in_a_piece", [0.5, 0.99, 1, 1.01, 2, 3, 3.9, 4, 4.1, 7, 8, 9, 12, 100])
@pytest.mark.parametrize(("asking", "length"), [(5, 5), (2, 7), (6, 1)])
def test_pieces(count, heads_in_a_piece, asking, length):
    """Three sequences of four heads; less than a head, some of a sequence, a whole one, several, and all."""
    with on_threads(count), in_pieces(max(1, int(heads_in_a_piece * asking * length))):
        for dropout in (0.0, 0.3):
            for masked in (False, True):
                assert_textbook((3, 4, asking, length), dropout, masked)


@pytest.mark.parametrize("shape", [(1, 1, 4, 4), (5, 1, 3, 3), (1, 5, 3, 3), (2, 3, 1, 1)], ids=str)
@pytest.mark.parametrize("block", [1, 9, 20, 1000])
def test_one_sequence_or_one_head(shape, block):
    with on_threads(2), in_pieces(block):
        assert_textbook(shape, 0.3, True, dtype=np.float64)


@pytest.mark.parametrize("length", [1, 64, 128, 256, math.isqrt(BLOCK), math.isqrt(BLOCK) + 1])
def test_at_its_real_size(length):
    """From all heads in a block to one head that is larger than a block; in float64, as so many terms are added."""
    with on_threads(2):
        assert_textbook((2, 3, length, length), 0.1, True, features=8, dtype=np.float64)


@pytest.mark.parametrize("block", [1, 1000])
def test_no_query_and_no_sequence(block):
    with in_pieces(block):
        for shape in ((2, 3, 0, 5), (0, 3, 4, 5)):
            (q, k, v, dc), _ = heads(*shape)
            c, cache = DotProductAttention().forward(q, k, v)
            gradients = DotProductAttention().backward(dc, cache)
            assert [array.shape for array in (c, *gradients)] == [array.shape for array in (q, q, k, v)]
            assert not any(array.any() for array in (c, *gradients))


def test_results_are_rows_of_vectors_without_a_copy():
    (q, k, v, dc), _ = heads(2, 3, 4, 5)
    c, cache = DotProductAttention().forward(q, k, v)
    for array in (c, *DotProductAttention().backward(dc, cache)):
        assert array.swapaxes(1, 2).flags.c_contiguous


@pytest.mark.parametrize("block", [1, 1000])
def test_a_sequence_of_padding_is_finite_and_ignores_the_mask(block):
    (q, k, v, _), _ = heads(2, 3, 4, 4)
    with in_pieces(block):
        masked = DotProductAttention()(q, k, v, np.array([[0] * 4, [1, 1, 0, 0]]))
        np.testing.assert_allclose(masked[0], DotProductAttention()(q, k, v)[0], atol=2e-3)  # 1e4 + s has few digits
        np.testing.assert_allclose(masked[1], DotProductAttention()(q, k[..., :2, :], v[..., :2, :])[1], rtol=1e-5)


def test_scores_are_those_before_the_softmax():
    (q, k, _, _), mask = heads(2, 3, 4, 4, dtype=np.float64)
    expected = np.einsum("bhrd,bhtd->bhrt", q, k) / np.sqrt(3) + np.where(mask == 1, 0, -1e4)[:, None, None]
    np.testing.assert_allclose(DotProductAttention().scores(q, k, mask), expected, rtol=1e-12)


def test_wrong_masks_and_rates():
    (q, k, v, _), _ = heads(2, 3, 4, 5)
    with pytest.raises(ValueError, match=r"attention_mask has shape \(2, 4\), wanted \(2, 5\)"):
        DotProductAttention().forward(q, k, v, np.ones((2, 4), int))
    with pytest.raises(ValueError, match="wanted 0 ≤ p < 1"):
        DotProductAttention(1.0)


@pytest.mark.parametrize("block", [1, 20, 39, 40, 80, 119, 120, 240, 359, 360, 1000])
def test_pieces_fit_a_block_unless_a_head_does_not(block, monkeypatch):
    """Of 20 scores in a head, six heads in a sequence, three sequences; and no fewer heads than fit."""
    seen = []
    monkeypatch.setattr(module, "run", lambda work, items: seen.extend(items) or run(work, items))
    (q, k, v, _), _ = heads(3, 6, 4, 5)
    with in_pieces(block):
        DotProductAttention().forward(q, k, v)
    scores = np.zeros((3, 6))
    for piece in seen:
        assert scores[piece].size * 20 <= max(block, 20)
        scores[piece] += 1
    assert (scores == 1).all()
    assert len(seen) == {1: 18, 20: 18, 39: 18, 40: 9, 80: 6, 119: 6, 120: 3, 240: 2, 359: 2, 360: 1, 1000: 1}[block]
