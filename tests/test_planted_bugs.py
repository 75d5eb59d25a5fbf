"""Wrong gradients that shipped elsewhere, planted one by one: the checks must reject every one of them.

Each twin differs from the right layer by one mistake, and meets the same inputs. That the right ones are believed is in
test_catalogue.py.
"""

import pytest

from npbert.core import TapeError
from npbert.gradcheck import GradientError, check_directions, check_gradients
from tests.planted import FAILING, PLANTED, WRONG, build, load_all

load_all()


def verdict(check, layer, inputs, rng):
    """What the check says: right or wrong, or the error in words. (What is said of the error: test_explain….)"""
    try:
        return "right" if check(layer, *inputs, rng=rng).ok else WRONG
    except (GradientError, TapeError, ValueError) as error:
        return str(error)


@pytest.mark.parametrize(("planted_twin", "says"), PLANTED.values(), ids=PLANTED)
def test_a_wrong_derivative_is_rejected(planted_twin, says):
    """Along directions; and one by one, where they are not many. (One is right: others are made from it.)"""
    assert says in verdict(check_directions, *build(*planted_twin))
    if says == WRONG and not planted_twin[0].startswith(("Encoder", "Checkpointed", "Bert")):
        assert says in verdict(check_gradients, *build(*planted_twin))


@pytest.mark.parametrize(("check", "right", "twin"), FAILING.values(), ids=FAILING)
def test_wrong_behaviour_is_rejected(check, right, twin):
    check(right)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(twin)
