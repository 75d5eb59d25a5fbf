"""PackedBatch: which row is which token, whatever is padded, and in whatever order a head reads."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from npbert import Batch
from npbert.models.packed_batch import PackedBatch
from tests.models.small import batches, fixed_batch, small_config

INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("u", "") for bits in (8, 16, 32, 64)]


@st.composite
def batches_and_read(draw):
    """A batch, and places that a head reads there: in any order and dtype, some of them twice, or none at all."""
    batch = draw(batches())
    places = st.sampled_from(np.flatnonzero(batch.attention_mask).tolist())
    return batch, np.array(draw(st.lists(places, max_size=9)), draw(st.sampled_from(INTEGERS)))


@given(batches())
def test_rows_are_the_real_tokens_one_sequence_after_another_the_short_ones_first(batch):
    packed, length = PackedBatch(batch, small_config()), batch.input_ids.shape[1]
    rows = [(s, t) for s in packed.order for t in np.flatnonzero(batch.attention_mask[s])]
    lengths = batch.attention_mask.sum(axis=1)
    assert packed.shape == batch.input_ids.shape
    assert packed.order.tolist() == sorted(range(len(lengths)), key=lambda s: lengths[s])
    assert packed.order[packed.unsorted].tolist() == list(range(len(lengths)))
    assert packed.places.tolist() == [s * length + t for s, t in rows]
    assert packed.positions.tolist() == [t for _, t in rows]
    assert packed.input_ids.tolist() == [batch.input_ids[row] for row in rows]
    assert packed.token_type_ids.tolist() == [batch.token_type_ids[row] for row in rows]
    assert packed.sequences.lengths.tolist() == sorted(lengths)
    assert packed.where(packed.places[::-1]).tolist() == list(range(len(rows)))[::-1]
    assert packed.positions[packed.first].tolist() == [np.flatnonzero(real)[0] for real in batch.attention_mask]


@given(batches_and_read())
@example((Batch([[1] * 200] * 2), np.array([1, 0, 100, 1], np.int8)))
def test_what_is_read_is_found_in_the_order_in_which_it_was_asked_for(drawn):
    batch, read = drawn
    packed = PackedBatch(batch, small_config(max_position_embeddings=200), read)
    computed = packed.places[packed.read_rows]
    assert (np.diff(packed.read_rows) > 0).all()
    assert set(computed) == set(read.tolist())
    assert computed[packed.where(read)].tolist() == read.tolist()
    looking = packed.sequences.only(packed.read_rows).looking
    neighbours = list(zip(packed.sequences.lengths, looking, strict=True))
    assert neighbours == sorted(neighbours), "they are as long as each other, and read as often"


@pytest.mark.parametrize("dtype", [*INTEGERS, np.dtype(bool)], ids=str)
def test_a_mask_and_ids_of_any_dtype(dtype):
    batch = fixed_batch()
    ids = batch.input_ids if dtype.kind == "b" else batch.input_ids.astype(dtype)
    packed = PackedBatch(Batch(ids, None, batch.attention_mask.astype(dtype)), small_config())
    assert packed.places.tolist() == [4, 5, 0, 1, 2, 3]
    assert packed.input_ids.tolist() == [6, 3, 1, 5, 5, 2]


LONG = {"input_ids": [[1] * 6], "token_type_ids": None, "attention_mask": None}
IDS, TYPES = [[1, 5, 9, 2], [6, 3, 0, 0]], [[0, 0, 1, 3], [0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("changes", "read", "error", "message"),
    [
        ({}, [3, 8], IndexError, r"read\[1\] is 8, but the number of tokens is 8: wanted 0 to 7"),
        ({}, [-1], IndexError, r"read\[0\] is -1, but the number of tokens is 8"),
        ({}, [1.5], TypeError, "read must be an array of integers, got float64"),
        ({}, [True], TypeError, "read must be an array of integers, got bool"),
        ({}, [0, 7, 6], ValueError, r"token \[1, 3\] is to be read, but it is padding"),
        ({}, [4, 7, 6], ValueError, r"token \[1, 3\] is to be read, but it is padding"),
        ({"input_ids": IDS}, None, IndexError, r"input_ids\[0, 2\] is 9, but vocab_size is 9: wanted 0 to 8"),
        ({"input_ids": [[1] * 4, [1, 1, -1, 1]]}, None, IndexError, r"input_ids\[1, 2\] is -1, but vocab_size is 9"),
        ({"token_type_ids": TYPES}, None, IndexError, r"token_type_ids\[0, 3\] is 3, but type_vocab_size is 3: wanted"),
        (LONG, None, ValueError, "the sequences have 6 tokens, but max_position_embeddings is 5"),
    ],
)
def test_what_is_refused(changes, read, error, message):
    with pytest.raises(error, match=message):
        PackedBatch(fixed_batch(**changes), small_config(), None if read is None else np.array(read))


def test_padding_is_not_found():
    with pytest.raises(ValueError, match=r"token \[1, 2\] is to be read, but it is padding"):
        PackedBatch(fixed_batch(), small_config()).where(np.array([0, 6]))
