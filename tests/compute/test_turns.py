"""Turns: of two threads that add, the first half is first, whichever thread is quicker."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.compute import in_turn
from npbert.compute.turns import Turns


@given(st.permutations([0] * 5 + [1] * 5))
def test_whoever_comes_first_the_order_is_the_same(order):
    """Each half adds its numbers 0, 1, … in its own order; together they are 0 of the first, 0 of the second, …"""
    turns, made, counts = Turns(), [], [0, 0]
    for half in order:
        with turns.of(half):
            in_turn(lambda half=half, number=counts[half]: made.append((number, half)))
        counts[half] += 1
    of_one = [[number for number, half in made if half == which] for which in (0, 1)]
    assert of_one == [[*range(5)]] * 2
    assert all(made.index((number, 0)) < made.index((number, 1)) for number in range(5))


@pytest.mark.parametrize("begins", [0, 1])
def test_nobody_waits_and_nothing_is_lost(begins):
    turns, made = Turns(), []

    def add(half):
        with turns.of(half):
            for number in range(200):
                in_turn(lambda number=number: made.append((number, half)))

    for half in (begins, 1 - begins):
        thread = threading.Thread(target=add, args=(half,))
        thread.start()
        thread.join(100)
        assert not thread.is_alive()
    assert sorted(made) == [(number, half) for number in range(200) for half in (0, 1)]


def test_an_addition_of_nobody_s_half_is_made_at_once():
    made = []
    in_turn(lambda: made.append(1))
    with Turns().of(1):
        in_turn(lambda: made.append(2))
    in_turn(lambda: made.append(3))
    assert made == [1, 3]
