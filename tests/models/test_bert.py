"""BertModel: what it gives for a batch, and what it shows on the way, against plain formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Batch, BertModel, Tape, check_directions
from tests.models.plain_bert import PlainBert, plain_outputs
from tests.models.small import batches, fixed_batch, random_model, small_config

LAYERS, ROUNDING = 3, 1e-10


@given(batches(), st.integers(0, 9))
def test_each_sequence_is_as_if_alone_and_padding_is_0(batch, seed):
    model = random_model(BertModel, seed=seed)
    for output, wanted in zip(model(batch), plain_outputs(model, batch), strict=True):
        np.testing.assert_allclose(output, wanted, rtol=ROUNDING, atol=ROUNDING)
    assert not model(batch).last_hidden_state[batch.attention_mask == 0].any()


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)], ids=str)
def test_one_sequence_or_one_token(shape):
    model, batch = random_model(BertModel), Batch(np.arange(3).reshape(shape) if shape != (1, 1) else np.array([[3]]))
    for output, wanted in zip(model(batch), plain_outputs(model, batch), strict=True):
        np.testing.assert_allclose(output, wanted, rtol=ROUNDING, atol=ROUNDING)
    check_directions(model, batch, directions=2).raise_if_wrong()


def test_what_stands_on_padding_does_not_matter():
    model, batch = random_model(BertModel), fixed_batch()
    outputs = model(batch)
    batch.input_ids[1, 2:], batch.token_type_ids[1, 2:] = 4, 1
    for output, before in zip(model(batch), outputs, strict=True):
        np.testing.assert_array_equal(output, before)


def test_a_gradient_for_padding_does_not_matter():
    model, rng = random_model(BertModel), np.random.default_rng(0)
    dhidden, dpooled = rng.standard_normal((2, 4, 6)), rng.standard_normal((2, 6))
    tables = []
    for on_padding in (0, 1e3):
        dhidden[1, 2:] = on_padding
        tape = Tape()
        model.zero_grad()
        model.forward(fixed_batch(), tape)
        model.backward((dhidden, dpooled), tape)
        tables.append(model.embeddings.word_embeddings.weight.grad.copy())
    np.testing.assert_array_equal(*tables)
    assert not tables[0][[0, 4]].any()  # 0 is on padding alone, 4 nowhere
    assert tables[0][[1, 5, 2, 6, 3]].any(axis=1).all()


def test_without_a_pooler_there_is_no_pooled_output():
    model = BertModel(small_config(), rng=None, add_pooling_layer=False)
    whole = BertModel(small_config(), rng=None)
    assert model(fixed_batch()).pooler_output is None
    names = {name for name, _ in whole.named_parameters()} - {name for name, _ in model.named_parameters()}
    assert names == {"pooler.dense.weight", "pooler.dense.bias"}


@given(batches(), st.integers(0, 9))
def test_hidden_states_and_attention_are_the_plain_formulas_of_each_sequence(batch, seed):
    model = random_model(BertModel, seed=seed, num_hidden_layers=LAYERS)
    hidden, attention = model.hidden_states(batch), model.attention_probabilities(batch)
    assert (list(hidden), list(attention)) == ([0, 1, 2, 3], [1, 2, 3])
    plain, (count, length) = PlainBert(model), batch.input_ids.shape
    wanted = np.zeros((LAYERS + 1, count, length, 6))
    shares = np.zeros((LAYERS, count, 2, length, length))
    for s in range(count):
        t = np.flatnonzero(batch.attention_mask[s])
        states = plain.states(batch.input_ids[s, t], batch.token_type_ids[s, t], t)
        wanted[:, s, t] = states
        for layer, z in enumerate(states[:-1]):
            shares[layer, s][:, t[:, None], t] = plain.probabilities(f"encoder.layers.{layer}", z, z)
    np.testing.assert_allclose(list(hidden.values()), wanted, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(list(attention.values()), shares, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_array_equal(hidden[LAYERS], model(batch).last_hidden_state)
    real = np.broadcast_to(batch.attention_mask[:, None] != 0, (count, 2, length))
    for p in attention.values():
        assert not p[~real].any()
        np.testing.assert_allclose(p[real].sum(axis=-1), 1, rtol=1e-12)


@pytest.mark.parametrize("asked", [[2], [3, 1], (-1,), {-3, 3}, [1, -3], [-1, 2, -2], range(1, 3), [np.int64(2)], []])
def test_some_layers_are_those_of_all(asked):
    model, batch = random_model(BertModel, num_hidden_layers=LAYERS), fixed_batch()
    for feature in (model.hidden_states, model.attention_probabilities):
        every, some = feature(batch), feature(batch, asked)
        assert list(some) == list(asked)
        for layer, array in some.items():
            np.testing.assert_array_equal(array, every[layer if layer > 0 else LAYERS + 1 + layer])
    np.testing.assert_array_equal(model.hidden_states(batch, [-4])[-4], model.hidden_states(batch, [0])[0])


def test_layers_above_the_last_that_is_asked_for_do_not_run():
    model, batch = random_model(BertModel, num_hidden_layers=LAYERS), fixed_batch()
    wanted = model.hidden_states(batch)[1]
    model.encoder.layers[1:] = [None, None]
    np.testing.assert_array_equal(model.hidden_states(batch, [1, 0])[1], wanted)
    assert list(model.attention_probabilities(batch, [1])) == [1]


def test_float32_stays_float32():
    model, batch = random_model(BertModel, dtype=np.float32), fixed_batch()
    arrays = *model(batch), *model.hidden_states(batch).values(), *model.attention_probabilities(batch).values()
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}


def test_wrong_layers_and_ids_are_refused_before_anything_is_computed():
    model, batch = random_model(BertModel, num_hidden_layers=LAYERS), fixed_batch()
    model.embeddings = None  # nothing may be asked of it
    for feature, first in ((model.hidden_states, 0), (model.attention_probabilities, 1)):
        for layer in {4, first - 1 - LAYERS - 1, first - 1} - {-1}:
            with pytest.raises(IndexError, match=f"layer is {layer}, wanted {first} to 3, or {first - 4} to -1 from"):
                feature(batch, [1, layer])
    for ask in (model, model.hidden_states, model.attention_probabilities):
        with pytest.raises(IndexError, match=r"input_ids\[0, 0\] is 7, but vocab_size is 7"):
            ask(fixed_batch(input_ids=np.full((2, 4), 7)))
