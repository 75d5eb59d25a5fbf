"""BertModel of which some positions are read, against the whole of it."""

import numpy as np
import pytest

from npbert import BertModel
from npbert.gradcheck import randomize
from tests.models.small import fixed_batch, small_config

READS = {"some": [5, 1, 3], "repeated": [2, 2, 6, 0, 2], "padding": [7, 1], "the first of each": [4, 0], "none": []}
SIDES = {"both": (True, True), "tokens": (True, False), "pooled": (False, True)}


def make(pooler, dtype=np.float64, **changes):
    model = BertModel(small_config(**changes), rng=None, dtype=dtype, add_pooling_layer=pooler)
    randomize(model, np.random.default_rng(0))
    return model


def gradients(model):
    found = {name: parameter.grad.copy() for name, parameter in model.named_parameters()}
    model.zero_grad()
    return found


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize(("pooler", "sides"), [(False, "tokens"), *((True, side) for side in SIDES)])
@pytest.mark.parametrize("mask", [[[1, 1, 1, 1], [1, 1, 0, 0]], [[1, 1, 1, 0], [0, 0, 0, 0]], [[1] * 4] * 2])
def test_reading_is_picking_from_the_whole(read, pooler, sides, mask):
    model, read, rng = make(pooler), np.array(read, int), np.random.default_rng(1)
    batch = fixed_batch(attention_mask=np.array(mask))
    (hidden, pooled), cache = model.forward(batch)
    tokens_count, pooled_count = SIDES[sides]
    dy, dpooled = rng.standard_normal((len(read), 6)), rng.standard_normal((2, 6)) if pooled_count else None
    dhidden = np.zeros((8, 6))
    np.add.at(dhidden, read, dy)
    model.backward((dhidden.reshape(hidden.shape) if tokens_count else None, dpooled), cache)
    wanted = gradients(model)

    (some, some_pooled), cache = model.forward(batch, None, read)
    np.testing.assert_allclose(some, hidden.reshape(8, 6)[read], rtol=1e-12, atol=1e-12)
    if pooler:
        np.testing.assert_allclose(some_pooled, pooled, rtol=1e-12)
    else:
        assert some_pooled is pooled is None
    model.backward((dy if tokens_count else None, dpooled), cache)
    largest = max(np.abs(array).max() for array in wanted.values())
    for name, array in gradients(model).items():
        np.testing.assert_allclose(array, wanted[name], rtol=1e-12, atol=1e-12 * largest, err_msg=name)

    called, called_pooled = model(batch, None, read)
    np.testing.assert_array_equal(called, some)
    np.testing.assert_array_equal(called_pooled, some_pooled)


@pytest.mark.parametrize("pooler", [False, True])
def test_the_same_seed_drops_the_same(pooler):
    model = make(pooler, np.float32, hidden_dropout_prob=0.3)
    read = np.array([5, 0], np.uint8)
    once, twice, other = (model.forward(fixed_batch(), np.random.default_rng(seed), read)[0] for seed in (1, 1, 2))
    assert once.last_hidden_state.dtype == np.float32
    assert once.last_hidden_state.shape == (2, 6)
    np.testing.assert_array_equal(once.last_hidden_state, twice.last_hidden_state)
    assert np.abs(once.last_hidden_state - other.last_hidden_state).max() > 0.01


@pytest.mark.parametrize("pooler", [False, True])
@pytest.mark.parametrize(
    ("read", "error", "message"),
    [
        (np.array([3, 8]), IndexError, r"read\[1\] is 8, but the number of positions is 8: wanted 0 to 7"),
        (np.array([-1]), IndexError, r"read\[0\] is -1"),
        (np.array([1.5]), TypeError, "read must be an array of integers, got float64"),
        (np.array([True]), TypeError, "read must be an array of integers, got bool"),
    ],
)
def test_wrong_positions_are_named_before_anything_is_computed(pooler, read, error, message):
    model = make(pooler)
    model.embeddings = None  # nothing may be asked of it
    for call in (model, model.forward):
        with pytest.raises(error, match=message):
            call(fixed_batch(), None, read)
