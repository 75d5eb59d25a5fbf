"""A sum has the same bits in whatever order its parts come, and whoever has added up some of them."""

import random

import numpy as np
import pytest

from npbert.training.parallel import ALONE, TreeSum
from npbert.training.parallel.tree import nodes_of
from tests.training.parallel.together import Threads


def by_halves(parts):
    """The tree as it is drawn: the largest power of two that leaves something for the other side, and the rest."""
    if len(parts) == 1:
        return parts[0]
    half = 1 << (len(parts) - 1).bit_length() - 1
    return by_halves(parts[:half]) + by_halves(parts[half:])


def own_sums(parts, numbers):
    """What waits of these parts, added up by themselves."""
    sums = TreeSum(len(parts))
    for number in numbers:
        sums.add((0, number), [parts[number].copy()])
        assert len(sums.waiting) <= len(parts).bit_length() + 1
    return sums.waiting


@pytest.mark.parametrize("count", range(1, 14))
def test_the_same_bits_whoever_adds_what(count):
    parts = list(np.random.default_rng(count).normal(size=(count, 50)).astype(np.float32))
    wanted, draw = by_halves(parts), random.Random(count)
    for size in range(1, 6):
        nodes = []
        for rank in range(size):
            numbers = Threads(rank, size, None, None).own(range(count))
            assert list(numbers) == list(Threads(0, size, None, None).own(range(count), rank))
            waiting = own_sums(parts, numbers)
            assert list(waiting) == nodes_of(numbers, count)
            nodes += waiting.items()
        draw.shuffle(nodes)
        total = TreeSum(count)
        for node, arrays in nodes:
            total.add(node, arrays)
        np.testing.assert_array_equal(total.whole[0], wanted)
    if count > 3:
        assert (sum(parts[1:], parts[0]) != wanted).any(), "another order shows"


def test_a_sum_of_one_is_what_it_was():
    sums, row = TreeSum(1), np.arange(3.0)
    sums.add((0, 0), [row])
    assert sums.whole[0] is row
    ALONE.scatter_sum(sums, array := np.zeros(3), [0, 3])
    assert array.tolist() == [0, 1, 2]
