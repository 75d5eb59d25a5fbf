"""Attention within reach, in bands: the same as the formula, wherever sequences are cut."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

from npbert import DistanceAttention, DotProductAttention, Init, RelativeBias, Sequences, Tape, randomize
from npbert.compute import attention_pieces, cut
from npbert.gradcheck import check_directions
from tests import textbook
from tests.computing import on_threads
from tests.strategies import read_of, rngs, sequences

BIAS = RelativeBias(16, 2, Init(None, dtype=np.float64), max_distance=7)
randomize(BIAS, np.random.default_rng(0))


@given(st.data(), sequences(), rngs, st.integers(1, 4), st.integers(1, 3), st.booleans())
@pytest.mark.parametrize("reach", [None, 0, 2, 6])
def test_bands_of_any_width_are_the_formula_and_so_is_their_backward(reach, data, some, rng, band, threads, has_bias):
    """Of a long sequence: with all keys each, and in DotProductAttention with probabilities that are computed again."""
    some = data.draw(st.just(some) | read_of(some).map(some.only))
    is_plain = reach is None and not has_bias
    layer = DotProductAttention(2) if is_plain else DistanceAttention(2, bias=BIAS if has_bias else None, reach=reach)
    q, k, v = (rng.standard_normal((count, 4)) for count in (some.num_queries, some.num_rows, some.num_rows))
    with mock.patch.multiple(cut, NARROWEST=band, LONG=2, BAND=band), on_threads(threads):
        np.testing.assert_allclose(layer(q, k, v, some), textbook.dot_product(layer, q, k, v, some), atol=1e-13)
        if some.num_queries:
            check_directions(layer, q, k, v, some, rng=None).raise_if_wrong()


def test_the_probabilities_of_a_long_sequence_are_not_kept():
    """So the memory of the attention of all to all grows with the length alone."""
    layer, x, tape = DotProductAttention(1), np.ones((cut.LONG + 1, 2), np.float32), Tape()
    layer(x, x, x, None, tape)
    assert "probabilities [None, None, None, None, None]," in repr(tape)


def test_the_scores_of_a_long_sequence_grow_with_its_length_alone():
    def scores(length):
        found = attention_pieces(Sequences([length]), 3, reach=64)
        return sum(np.prod(piece.scores_shape) for piece in found)

    assert scores(8192) < 4.1 * scores(2048)
    assert scores(8192) < 3 * 8192 * 3.1 * 64


def test_a_query_beyond_its_sequence_is_refused():
    """No band would reach it, and its row would be whatever was in memory."""
    q, k = np.ones((4, 4)), np.ones((3, 4))
    with pytest.raises(
        ValueError, match=r"query_positions are \[0 1 2 3\], wanted each below the length of its sequen"
    ):
        DistanceAttention(2, reach=1)(q, k, k, Sequences([3], [4]))
