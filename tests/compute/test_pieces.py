"""Attention in pieces: each query meets each key of its sequence."""

import itertools
import math

import numpy as np
import pytest

from npbert import Sequences
from npbert.compute import attention_pieces
from tests.computing import in_pieces


@pytest.mark.parametrize("block", [1, 5, 30, 10**6])
@pytest.mark.parametrize("num_heads", [1, 3])
@pytest.mark.parametrize("lengths", [[2, 2, 3], [1, 1, 1, 4, 4, 4, 1], [7], [3, 3, 3, 3]], ids=str)
@pytest.mark.parametrize("every", [1, 2, 3, 50])
def test_pieces_are_every_pair_of_a_sequence_once(block, num_heads, lengths, every):
    some = Sequences(np.array(lengths))
    read = np.arange(0, some.num_rows, every)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    wanted = np.repeat((owner[read][:, None] == owner)[None], num_heads, axis=0)
    some, met = some.only(read), np.zeros((num_heads, len(read), some.num_rows), int)
    with in_pieces(block):
        pieces = attention_pieces(some.query_lengths, some.lengths, num_heads)
    x, z = (np.repeat(np.arange(count)[:, None], num_heads, axis=1) for count in (len(read), some.num_rows))
    for piece in pieces:
        q, k = piece.queries(x)[..., 0], piece.keys(z)[..., 0]  # (n, heads, R) and (n, heads, T)
        assert (*q.shape, k.shape[2]) == piece.scores_shape
        assert math.prod(q.shape[:2]) == 1 or math.prod(piece.scores_shape) <= block
        heads = range(piece.heads.start, piece.heads.stop)
        for n, (at, head) in itertools.product(range(piece.n), enumerate(heads)):
            np.add.at(met, (head, q[n, at][:, None], k[n, at]), 1)
    np.testing.assert_array_equal(met, wanted)
