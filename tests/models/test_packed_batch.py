"""PackedBatch: which row is which token, whatever is padded, and in whatever order a head reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Batch
from npbert.models.packed_batch import PackedBatch
from tests.models.small import VOCAB_SIZE, fixed_batch, masks, small_config
from tests.strategies import ids

INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("u", "") for bits in (8, 16, 32, 64)]


@st.composite
def padded(draw):
    """A batch of one to four sequences of one to five tokens, with padding anywhere."""
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    return Batch(draw(ids(VOCAB_SIZE, *shape)), draw(ids(2, *shape)), draw(masks(*shape)))


@st.composite
def padded_and_read(draw):
    """A batch, and places that a head reads there: in any order and dtype, some of them twice, or none at all."""
    batch = draw(padded())
    places = st.sampled_from(np.flatnonzero(batch.attention_mask).tolist())
    return batch, np.array(draw(st.lists(places, max_size=9)), draw(st.sampled_from(INTEGERS)))


@given(padded())
def test_rows_are_the_real_tokens_one_sequence_after_another_the_short_ones_first(batch):
    packed = PackedBatch(batch, small_config())
    length = batch.input_ids.shape[1]
    assert packed.shape == batch.input_ids.shape
    assert sorted(packed.order) == list(range(len(batch.input_ids)))
    rows = [(s, t) for s in packed.order for t in np.flatnonzero(batch.attention_mask[s])]
    np.testing.assert_array_equal(packed.places, [s * length + t for s, t in rows])
    np.testing.assert_array_equal(packed.positions, [t for _, t in rows])
    np.testing.assert_array_equal(packed.input_ids, [batch.input_ids[place] for place in rows])
    np.testing.assert_array_equal(packed.token_type_ids, [batch.token_type_ids[place] for place in rows])
    np.testing.assert_array_equal(packed.sequences.lengths, batch.attention_mask.sum(axis=1)[packed.order])
    assert (np.diff(packed.sequences.lengths) >= 0).all()
    assert packed.read_rows is None
    np.testing.assert_array_equal(packed.places[packed.where(packed.places[::-1])], packed.places[::-1])


@given(padded_and_read())
def test_what_is_read_is_found_in_the_order_in_which_it_was_asked_for(drawn):
    batch, read = drawn
    packed = PackedBatch(batch, small_config(), read)
    assert (np.diff(packed.read_rows) > 0).all()
    assert set(packed.places[packed.read_rows]) == set(read.tolist())
    np.testing.assert_array_equal(packed.places[packed.read_rows][packed.where(read)], read)
    looking = packed.sequences.only(packed.read_rows).looking
    by_length = list(zip(packed.sequences.lengths, looking, strict=True))
    assert by_length == sorted(by_length), "neighbours are as long as each other, and read as often"


@given(padded())
def test_the_first_of_a_sequence_is_its_first_real_token(batch):
    wanted = [s * batch.input_ids.shape[1] + np.flatnonzero(real)[0] for s, real in enumerate(batch.attention_mask)]
    for read in (None, np.flatnonzero(batch.attention_mask), np.array(wanted[::-1])):
        packed = PackedBatch(batch, small_config(), read)
        computed = packed.places if read is None else packed.places[packed.read_rows]
        np.testing.assert_array_equal(computed[packed.first], wanted)


@pytest.mark.parametrize("dtype", [*INTEGERS, np.dtype(bool)], ids=str)
def test_a_mask_and_ids_of_any_dtype(dtype):
    config, batch = small_config(), fixed_batch()
    ids = batch.input_ids if dtype == bool else batch.input_ids.astype(dtype)
    one, other = PackedBatch(batch, config), PackedBatch(Batch(ids, None, batch.attention_mask.astype(dtype)), config)
    np.testing.assert_array_equal(other.places, one.places)
    np.testing.assert_array_equal(other.input_ids, one.input_ids)


def ones(*shape):
    return Batch(np.ones(shape, int))


@pytest.mark.parametrize(
    ("batch", "read", "error", "message"),
    [
        (fixed_batch(), [3, 8], IndexError, r"read\[1\] is 8, but the number of tokens is 8: wanted 0 to 7"),
        (fixed_batch(), [-1], IndexError, r"read\[0\] is -1, but the number of tokens is 8"),
        (fixed_batch(), [1.5], TypeError, "read must be an array of integers, got float64"),
        (fixed_batch(), [True], TypeError, "read must be an array of integers, got bool"),
        (fixed_batch(), [0, 7, 6], ValueError, r"token \[1, 3\] is to be read, but it is padding"),
        (fixed_batch(input_ids=[[1, 5, 7, 2], [6, 3, 0, 0]]), None, IndexError, r"ids\[0, 2\] is 7, but vocab_size is 7"),
        (fixed_batch(input_ids=[[1, 5, 5, 2], [6, 3, -1, 0]]), None, IndexError, r"input_ids\[1, 2\] is -1, but vocab"),
        (fixed_batch(token_type_ids=[[0, 0, 1, 2], [0] * 4]), None, IndexError, r"ids\[0, 3\] is 2, but type_vocab_size"),
        (ones(2, 6), None, ValueError, "the sequences have 6 tokens, but max_position_embeddings is 5"),
        (ones(2, 3, 4), None, ValueError, r"input_ids has shape \(2, 3, 4\), wanted \(B, T\)"),
        ([[1, 2]], None, TypeError, "a model takes a Batch, got list"),
    ],
)
def test_what_is_refused(batch, read, error, message):
    with pytest.raises(error, match=message):
        PackedBatch(batch, small_config(), None if read is None else np.array(read))


def test_as_many_tokens_as_there_are_positions_are_taken():
    assert PackedBatch(ones(2, 5), small_config()).shape == (2, 5)


def test_padding_is_not_found():
    with pytest.raises(ValueError, match=r"token \[1, 2\] is to be read, but it is padding"):
        PackedBatch(fixed_batch(), small_config()).where(np.array([0, 6]))
