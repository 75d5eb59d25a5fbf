"""Sequences: which rows belong together, and which of them are queries."""

import numpy as np
import pytest

from npbert import Sequences


@pytest.mark.parametrize("lengths", [[2, 0, 1], [3, -1], [1.5, 2], [], [[1, 2]], 3], ids=str)
def test_lengths_are_whole_numbers_of_at_least_1(lengths):
    with pytest.raises(ValueError, match=r"^lengths are .*, wanted a list of whole numbers of at least 1$"):
        Sequences(lengths)


WRONG = [
    ([1, 0], "u8", ValueError, "^read is not in ascending order$"),
    ([0.0, 1.0], float, TypeError, "^read is an array of float64, wanted integers$"),
    ([0, 5], int, IndexError, r"read\[1\] is 5, wanted 0 to 4, as the number of rows"),
    ([-1], int, IndexError, "is -1"),
]


@pytest.mark.parametrize(("read", "dtype", "error", "message"), WRONG)
def test_rows_that_cannot_be_read(read, dtype, error, message):
    some, read = Sequences([2, 3]), np.array(read, dtype)
    with pytest.raises(error, match=message):
        some.only(read)
