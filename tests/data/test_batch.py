"""Batch: what a user hands in is checked before anything is computed. TaskData: each example once an epoch."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from npbert import Batch
from npbert.data.batch import Position, TaskData
from tests.strategies import seeds


@pytest.mark.parametrize("ids", [[[1, 2, 3], [4, 5, 6]], [[[1, 2], [3, 4]]]])
def test_what_is_not_given_is_filled_in(ids):
    batch = Batch(ids)
    filled = {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "attention_mask": np.ones_like(ids)}
    np.testing.assert_equal({name: array for name, array in vars(batch).items() if array is not None}, filled)


IDS = np.zeros((2, 3), int)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"input_ids": IDS * 1.0}, TypeError, "input_ids is an array of float64, wanted integers"),
        ({"input_ids": [1, 2]}, ValueError, r"input_ids has shape \(2,\), wanted \(B, T\)"),
        ({"input_ids": [[], []]}, ValueError, r"input_ids has shape \(2, 0\), wanted \(B, T\)"),
        ({"token_type_ids": IDS[:1]}, ValueError, r"token_type_ids has shape \(1, 3\), wanted \(2, 3\), as input_ids"),
        ({"attention_mask": IDS - 1}, ValueError, r"attention_mask has a -1, wanted only 1 \(real\) and 0 \(padding\)"),
        ({"attention_mask": [[1, 0, 0], [0, 0, 0]]}, ValueError, r"attention_mask\[1\] is all 0, wanted at"),
        ({"labels": [["a"] * 3] * 2}, TypeError, "labels is an array of <U1, wanted integers"),
        ({"labels": IDS[:1]}, ValueError, r"labels has shape \(1, 3\), wanted one for each of the 2 sequences"),
        ({"next_sentence_label": [0]}, ValueError, r"next_sentence_label has shape \(1,\), wanted one for"),
    ],
)
def test_errors(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        Batch(**{"input_ids": IDS, **arguments})


def test_groups():
    flat = Batch(np.arange(12).reshape(4, 3), np.eye(4, 3, dtype=int), [[1, 1, 0]] * 4, labels=[1, 2, 3, 4])
    groups = flat.grouped(2)
    for name in ("input_ids", "token_type_ids", "attention_mask"):
        np.testing.assert_array_equal(getattr(groups, name), getattr(flat, name).reshape(2, 2, 3))
    assert groups.labels is None
    for batch, count in ((flat, 3), (flat, 0), (flat, 8), (groups, 2)):
        with pytest.raises(ValueError, match=rf"has shape .*, wanted groups of {count} sequences"):
            batch.grouped(count)


@given(st.integers(1, 30), st.integers(1, 12), seeds, st.data())
def test_each_example_once_an_epoch_and_from_any_place_on(count, batch_size, seed, draw):
    data = TaskData(range(count), list, batch_size)
    whole = list(data.batches(seed))
    assert sorted(example for _, batch in whole for example in batch) == list(range(count))
    assert [place for place, _ in whole] == [Position(0, number) for number in range(len(data))]
    *sizes, last = [len(batch) for _, batch in whole]
    assert set(sizes) <= {batch_size} and 1 <= last <= batch_size
    number = draw.draw(st.integers(0, len(whole)))
    assert list(data.batches(seed, Position(0, number))) == whole[number:]
