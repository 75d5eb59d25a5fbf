"""What a call gets in place of the inputs."""

import numpy as np
import pytest

from npbert.gradcheck.inputs import for_a_call


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_every_call_draws_what_the_generator_would(bits):
    rng = np.random.Generator(bits(7))
    rng.random(3)
    first, second = for_a_call(rng), for_a_call(rng)
    wanted = rng.random(5)
    np.testing.assert_array_equal(first.random(5), wanted)
    np.testing.assert_array_equal(second.random(5), wanted)


def test_all_else_is_handed_on():
    x = np.ones(3)
    assert for_a_call(x) is x
    assert for_a_call(None) is None
