"""What is done to the inputs of a call."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from npbert import Sequences
from npbert.data import Batch
from npbert.gradcheck.inputs import copy_of, different, read_only


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_every_call_draws_what_the_generator_would(bits):
    rng = np.random.Generator(bits(7))
    rng.random(3)
    copy = copy_of(rng)
    np.testing.assert_array_equal(copy.random(5), rng.random(5))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 4), (3, 4), (0, 3)])
def test_every_float_is_another_one_elsewhere(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    other = different(x)
    assert (type(other), other.shape, other.dtype) == (np.ndarray, shape, x.dtype)
    assert (other != x).all()
    assert (different(np.zeros(shape)) != 0).all()


def test_whole_numbers_move_but_for_those_in_order():
    np.testing.assert_array_equal(different(np.array([[1, 0], [2, 3]])), [[2, 3], [1, 0]])
    np.testing.assert_array_equal(different(np.array([3, 0, 0])), [0, 3, 0])
    np.testing.assert_array_equal(different(np.array([0, 3, 3])), [0, 3, 3])
    sequences = different(Sequences(np.array([4, 2, 1])).only(np.array([0, 0, 6])))
    np.testing.assert_array_equal(sequences.lengths, [1, 2, 4])
    np.testing.assert_array_equal(sequences.query_lengths, [1, 0, 2])


def test_a_batch_is_frozen_and_its_rows_are_moved():
    batch = Batch([[1, 2], [3, 0]], attention_mask=[[1, 1], [1, 0]], labels=[0.5, 2.0])
    frozen, other = read_only(batch), different(batch)
    for name in ("input_ids", "token_type_ids", "attention_mask", "labels"):
        assert not getattr(frozen, name).flags.writeable
        assert getattr(batch, name).flags.writeable
        np.testing.assert_array_equal(getattr(frozen, name), getattr(batch, name))
    np.testing.assert_array_equal(other.input_ids, [[3, 0], [1, 2]])
    np.testing.assert_array_equal(other.attention_mask, [[1, 0], [1, 1]])
    assert (other.labels != batch.labels).all()
    assert read_only("relu") == different("relu") == "relu"


@dataclass
class Counted:
    x: np.ndarray
    count: int = field(init=False)

    def __post_init__(self):
        self.count = len(self.x)


def test_a_field_that_is_not_given_is_made_again():
    copy = read_only(Counted(np.arange(3.0)))
    assert copy.count == 3
    assert not copy.x.flags.writeable
