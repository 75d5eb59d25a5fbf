"""Blocks cover every element once, at any size."""

import numpy as np
import pytest
from npbert.optim.blocks import BLOCK, in_blocks

from npbert.layers import Parameter
from npbert.optim import AdamW


@pytest.mark.parametrize("shape", [(1,), (BLOCK - 1,), (BLOCK,), (BLOCK + 1,), (3, BLOCK // 2), (2, 3, 5)], ids=str)
def test_every_element_is_visited_once(shape):
    a, b = np.zeros(shape), np.arange(np.prod(shape), dtype=float).reshape(shape)
    for x, y in in_blocks(a, b):
        assert len(x) <= BLOCK
        x += y
    np.testing.assert_array_equal(a, b)


def test_what_is_not_contiguous_is_changed_too():
    array = np.zeros((3, 4)).T
    for (x,) in in_blocks(array):
        x += 1
    assert (array == 1).all()


def test_a_large_parameter_is_stepped_as_a_small_one_is():
    """Adam is elementwise, so an element's neighbours make no difference, not even in the last bit."""
    rng = np.random.default_rng(0)
    value, grads = rng.standard_normal((2, BLOCK)), rng.standard_normal((3, 2, BLOCK))

    def stepped(value, grads):
        parameter = Parameter(value.copy())
        optimizer = AdamW([parameter], lr=0.1)
        for grad in grads:
            parameter.grad[...] = grad
            optimizer.step()
        return parameter.value

    ends = [slice(0, 3), slice(BLOCK - 3, BLOCK)]
    for end in ends:
        np.testing.assert_array_equal(stepped(value, grads)[:, end], stepped(value[:, end], grads[:, :, end]))
