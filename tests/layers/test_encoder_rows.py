"""EncoderRows: which rows of a batch are computed, and which of them are read."""

import numpy as np
import pytest
from npbert.layers.encoder_rows import EncoderRows

SHAPE = 3, 4, 2
MASK = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 0, 0]])
REAL = [0, 1, 2, 4, 5, 6, 7, 8, 9]  # the second sequence is all padding, so it attends to itself


def test_without_positions_all_is_computed():
    for mask, kept in ((None, None), (np.ones((3, 4), int), None), (MASK, MASK)):
        rows = EncoderRows(SHAPE, mask, None)
        assert rows.grid is None
        assert rows.queries is None
        assert rows.attention_mask is kept
        x = np.ones(SHAPE)
        assert rows.input(x) is rows.output(x) is rows.dinput(x) is rows.doutput(x) is x


@pytest.mark.parametrize(
    ("read", "places", "queries", "query_of"),
    [
        ([2, 0], REAL, [0, 2], [1, 0]),
        ([9, 9, 4, 9], REAL, [3, 8], [1, 1, 0, 1]),
        ([3], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [3], [0]),
        ([11, 2, 11], [0, 1, 2, 4, 5, 6, 7, 8, 9, 11], [2, 9], [1, 0, 1]),
        ([], REAL, [], []),
    ],
)
@pytest.mark.parametrize("dtype", [int, bool, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_padding_is_left_out_unless_it_is_read(read, places, queries, query_of, dtype, order):
    rows = EncoderRows(SHAPE, MASK.astype(dtype, order=order), np.array(read, int))
    assert rows.grid.shape == (3, 4)
    np.testing.assert_array_equal(rows.grid.places, places)
    np.testing.assert_array_equal(rows.queries, queries)
    np.testing.assert_array_equal(rows.query_of, query_of)


def test_without_padding_every_row_is_there():
    rows = EncoderRows(SHAPE, np.ones((3, 4), int), np.array([7, 1, 7]))
    assert rows.grid is None
    np.testing.assert_array_equal(rows.queries, [1, 7])
    np.testing.assert_array_equal(rows.query_of, [1, 0, 1])


def test_only_the_last_layer_is_asked_for_what_is_read():
    layers = list(EncoderRows(SHAPE, MASK, np.array([5, 2])).of_layers("abc"))
    assert [layer for layer, _ in layers] == ["a", "b", "c"]
    assert layers[0][1] is layers[1][1] is None
    np.testing.assert_array_equal(layers[2][1], [2, 4])
    assert list(EncoderRows(SHAPE, MASK, None).of_layers("ab")) == [("a", None), ("b", None)]


def test_backwards():
    rng = np.random.default_rng(0)
    rows = EncoderRows(SHAPE, MASK, np.array([11, 2, 11, 0]))
    x, dh = rng.standard_normal(SHAPE), rng.standard_normal((10, 2))
    np.testing.assert_allclose((rows.input(x) * dh).sum(), (x * rows.dinput(dh)).sum(), rtol=1e-12)
    h, dy = rng.standard_normal((3, 2)), rng.standard_normal((4, 2))
    np.testing.assert_allclose((rows.output(h) * dy).sum(), (h * rows.doutput(dy)).sum(), rtol=1e-12)
    np.testing.assert_allclose(rows.doutput(dy), [dy[3], dy[1], dy[0] + dy[2]], rtol=1e-15)
    assert rows.doutput(dy.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("read", "error", "message"),
    [
        ([0, 12], IndexError, r"read\[1\] is 12, but the number of positions is 12: wanted 0 to 11"),
        ([-1], IndexError, r"read\[0\] is -1"),
        ([0.0], TypeError, "read must be an array of integers, got float64"),
        ([True], TypeError, "read must be an array of integers, got bool"),
    ],
)
def test_wrong_positions(read, error, message):
    with pytest.raises(error, match=message):
        EncoderRows(SHAPE, MASK, np.array(read))


def test_wrong_masks():
    for read in (None, np.array([0])):
        with pytest.raises(ValueError, match=r"attention_mask has shape \(4, 3\), wanted \(3, 4\)"):
            EncoderRows(SHAPE, MASK.T, read)
        with pytest.raises(ValueError, match="attention_mask holds 2"):
            EncoderRows(SHAPE, MASK * 2, read)
        with pytest.raises(TypeError, match="attention_mask must be an array of integers"):
            EncoderRows(SHAPE, np.where(MASK == 1, 0.0, -1e4), read)
