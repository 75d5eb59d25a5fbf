"""What a BERT can be asked for besides its output: hidden states and attention, layer by layer."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given

from npbert import BertEmbeddings, BertModel, EncoderLayer, Softmax
from npbert.gradcheck import randomize
from tests.models.small import batches, fixed_batch, small_config
from tests.strategies import rngs

LAYERS = 3


def random_model(rng=None):
    model = BertModel(small_config(num_hidden_layers=LAYERS), rng=None, dtype=np.float64)
    randomize(model, rng or np.random.default_rng(0))
    return model


def outputs_in_forward(layer_class, model, batch):
    """What each layer of this class gives while the model runs, in order."""
    outputs, forward = [], layer_class.forward

    def recorded(self, *inputs):
        result = forward(self, *inputs)
        outputs.append(result[0])
        return result

    with mock.patch.object(layer_class, "forward", recorded):
        model.forward(batch)
    return outputs


@given(batches(), rngs)
def test_hidden_states_are_those_of_forward(batch, rng):
    model = random_model(rng)
    states = model.hidden_states(batch)
    assert list(states) == [0, 1, 2, 3]
    wanted = outputs_in_forward(BertEmbeddings, model, batch) + outputs_in_forward(EncoderLayer, model, batch)
    for state, expected in zip(states.values(), wanted, strict=True):
        np.testing.assert_array_equal(state, expected)
    np.testing.assert_array_equal(states[LAYERS], model(batch).last_hidden_state)


@given(batches(), rngs)
def test_attention_is_that_of_forward(batch, rng):
    model = random_model(rng)
    attention = model.attention_probabilities(batch)
    assert list(attention) == [1, 2, 3]
    for probabilities, expected in zip(attention.values(), outputs_in_forward(Softmax, model, batch), strict=True):
        np.testing.assert_array_equal(probabilities, expected)


@given(batches(), rngs)
def test_attention_is_a_share(batch, rng):
    batch_size, length = batch.input_ids.shape
    padded = (batch.attention_mask == 0) & batch.attention_mask.any(axis=1, keepdims=True)  # not where all is padding
    for probabilities in random_model(rng).attention_probabilities(batch).values():
        assert probabilities.shape == (batch_size, 2, length, length)
        np.testing.assert_allclose(probabilities.sum(axis=-1), 1, rtol=1e-12)
        assert not probabilities.transpose(0, 3, 1, 2)[padded].any()


@pytest.mark.parametrize("asked", [[2], [3, 1], (-1,), {-3, 3}, [1, -3], [-1, 2, -2], range(1, 3), [np.int64(2)], []])
def test_some_layers(asked):
    model, batch = random_model(), fixed_batch()
    for feature, count in ((model.hidden_states, LAYERS + 1), (model.attention_probabilities, LAYERS)):
        every = list(feature(batch).values())
        first = LAYERS + 1 - count
        some = feature(batch, asked)
        assert list(some) == list(asked)
        for layer, array in some.items():
            np.testing.assert_array_equal(array, every[layer if layer < 0 else layer - first])


def test_layer_0_is_the_embeddings():
    model, batch = random_model(), fixed_batch()
    embedded = model.embeddings(batch.input_ids, batch.token_type_ids)
    for layer in (0, -4):
        np.testing.assert_array_equal(model.hidden_states(batch, [layer])[layer], embedded)


def test_layers_above_the_last_that_is_asked_for_do_not_run():
    model, batch = random_model(), fixed_batch()
    wanted = model.hidden_states(batch)[1]
    model.encoder.layers[1:] = [None, None]
    np.testing.assert_array_equal(model.hidden_states(batch, [1, 0])[1], wanted)
    assert list(model.attention_probabilities(fixed_batch(), [1])) == [1]


def test_wrong_layers_before_anything_is_computed():
    model, batch = random_model(), fixed_batch()
    model.embeddings = None  # nothing may be asked of it
    for layer in (4, -5):
        with pytest.raises(IndexError, match=f"layer is {layer}, wanted 0 to 3, or -4 to -1 from the end"):
            model.hidden_states(batch, [1, layer])
    for layer in (4, 0, -4, -5):
        with pytest.raises(IndexError, match=f"layer is {layer}, wanted 1 to 3, or -3 to -1 from the end"):
            model.attention_probabilities(batch, [1, layer])


def test_wrong_ids_before_anything_is_computed():
    model, batch = random_model(), fixed_batch(input_ids=np.full((2, 4), 7))
    model.embeddings = None
    for feature in (model.hidden_states, model.attention_probabilities):
        with pytest.raises(IndexError, match=r"input_ids\[0, 0\] is 7, but vocab_size is 7"):
            feature(batch)


def test_float32_stays_float32():
    model = BertModel(small_config(), rng=np.random.default_rng(0))
    for feature in (model.hidden_states, model.attention_probabilities):
        assert {array.dtype for array in feature(fixed_batch()).values()} == {np.dtype(np.float32)}
