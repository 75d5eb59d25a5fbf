"""Whole layers and models in the smallest of pieces on several threads: the proofs hold, and nothing depends on it."""

import numpy as np
import pytest

from npbert import Adam, BertForPreTraining, clip_by_global_norm
from npbert.gradcheck import check_directions, check_gradients
from tests.computing import in_pieces, nothing_is_nan, on_threads
from tests.models.small import fixed_batch, small_config
from tests.planted import settings


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("block", [1, 10])
@pytest.mark.parametrize("name", ["ATTENTION", "ATTENTION_OF_SOME_ROWS", "ADD_NORM", "LAYER_NORM", "CROSS_ENTROPY"])
def test_layers_are_proved(name, block, count):
    setting = getattr(settings, name)
    with on_threads(count), in_pieces(block), nothing_is_nan():
        layer, inputs = setting.make(setting.right)
        check_gradients(layer, *inputs).raise_if_wrong()


ENCODERS = ["ENCODER_LAYER", "ENCODER_LAYER_OF_SOME_ROWS", "ENCODER"]
MODELS = ["MODEL", "MODEL_OF_SOME_POSITIONS", "PRETRAINING", "MASKED_LM", "MULTIPLE_CHOICE"]


@pytest.mark.parametrize("block", [1, 10, 60])
@pytest.mark.parametrize("name", ENCODERS + MODELS)
def test_encoders_and_models_are_proved(name, block):
    setting = getattr(settings, name)
    with on_threads(2), in_pieces(block), nothing_is_nan():
        layer, inputs = setting.make(setting.right)
        check_directions(layer, *inputs).raise_if_wrong()


def dropping_model(dtype):
    config = small_config(hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.2, initializer_range=1.0)
    return BertForPreTraining(config, rng=np.random.default_rng(0), dtype=dtype)


def derived(dtype):
    """The loss of pre-training, with dropout, and its derivatives."""
    model = dropping_model(dtype)
    (loss, *_), cache = model.loss(fixed_batch(), np.random.default_rng(1))
    model.backward(cache)
    return [np.array(loss), *(parameter.grad for parameter in model.parameters())]


def trained(dtype):
    """The values that three steps of training leave behind."""
    model, rng = dropping_model(dtype), np.random.default_rng(1)
    optimizer = Adam(model.parameters(), lr=1e-3)
    for _ in range(3):
        model.zero_grad()
        _, cache = model.loss(fixed_batch(), rng)
        model.backward(cache)
        clip_by_global_norm(model.parameters(), 1.0)
        optimizer.step()
    return [parameter.value for parameter in model.parameters()]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("block", [1, 7, 50, 10**6])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_the_number_of_threads_and_the_size_of_blocks_change_nothing_but_the_rounding(count, block, dtype, tolerance):
    """Less than some digits of the largest derivative: a padded score of −10⁴ costs each softmax four of them."""
    expected = derived(dtype)
    with on_threads(count), in_pieces(block, block), nothing_is_nan():
        got = derived(dtype)
    largest = max(np.abs(array).max() for array in expected)
    assert got[0] == pytest.approx(expected[0], rel=tolerance / 10)
    for one, another in zip(got, expected, strict=True):
        assert one.dtype == dtype
        assert np.abs(one - another).max() <= tolerance * largest


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_same_seed_gives_the_same_bits(dtype, count):
    with on_threads(count), in_pieces(7, 20):
        once, twice = trained(dtype), trained(dtype)
    for one, another in zip(once, twice, strict=True):
        np.testing.assert_array_equal(one, another)
