"""TaskData: each example once an epoch, in an order that follows from the seed alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.data.task_data import START, Place, TaskData
from tests.strategies import seeds


@given(st.integers(1, 30), st.integers(1, 12), seeds, st.data())
def test_each_example_once_an_epoch_and_from_any_place_on(count, batch_size, seed, draw):
    data = TaskData(range(count), list, batch_size)
    whole = list(data.batches(seed))
    assert sorted(example for _, batch in whole for example in batch) == list(range(count))
    assert [place for place, _ in whole] == [Place(0, number) for number in range(len(data))]
    *sizes, last = [len(batch) for _, batch in whole]
    assert set(sizes) <= {batch_size}
    assert 1 <= last <= batch_size
    assert list(data.batches(seed, START)) == whole
    number = draw.draw(st.integers(0, len(whole)))
    assert list(data.batches(seed, Place(0, number))) == whole[number:]


def test_collate_makes_the_batch_of_32_at_most():
    batches = TaskData(range(33), lambda examples: {"it got": len(examples)}).batches(0)
    assert [batch for _, batch in batches] == [{"it got": 32}, {"it got": 1}]
    assert list(TaskData([], list).batches(0)) == []
    with pytest.raises(ValueError, match="batch_size is 0, wanted at least 1"):
        TaskData([3], list, 0)
