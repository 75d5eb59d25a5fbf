"""BertModel: embeddings, encoder and pooler together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import BertModel
from npbert.gradcheck import check_directions, check_gradients, randomize
from tests.models.small import batches, fixed_batch, small_config
from tests.strategies import rngs


@given(batches(), rngs, st.sampled_from([0, 0.2]), st.sampled_from(["absolute", "sinusoidal"]))
def test_directions(batch, rng, dropout, kind):
    config = small_config(hidden_dropout_prob=dropout, position_embedding_type=kind)
    model = BertModel(config, rng=rng, dtype=np.float64)
    randomize(model, rng)
    check_directions(model, batch, rng).raise_if_wrong()


@settings(max_examples=2)
@given(batches(), rngs)
def test_every_derivative(batch, rng):
    model = BertModel(small_config(num_hidden_layers=1), rng=rng, dtype=np.float64)
    randomize(model, rng)
    check_gradients(model, batch, rng).raise_if_wrong()


def test_outputs_in_hugging_face_s_order():
    hidden, pooled = BertModel(small_config(), rng=np.random.default_rng(0))(fixed_batch())
    assert hidden.shape == (2, 4, 6)
    assert pooled.shape == (2, 6)
    assert hidden.dtype == pooled.dtype == np.float32


def test_padding_changes_nothing_elsewhere():
    model = BertModel(small_config(), rng=None, dtype=np.float64)
    randomize(model, np.random.default_rng(0))
    padded = model(fixed_batch())
    other = fixed_batch()
    other.input_ids[1, 2:] = 4
    np.testing.assert_array_equal(model(other).last_hidden_state[1, :2], padded.last_hidden_state[1, :2])
    short = model(type(other)(other.input_ids[1:, :2], other.token_type_ids[1:, :2]))
    np.testing.assert_allclose(short.last_hidden_state[0], padded.last_hidden_state[1, :2], rtol=1e-10)
    np.testing.assert_allclose(short.pooler_output[0], padded.pooler_output[1], rtol=1e-10)


def test_ids_alone_are_no_batch():
    with pytest.raises(TypeError, match="a model takes a Batch, got list"):
        BertModel(small_config(), rng=None)([[1, 2]])


def test_initial_values():
    model = BertModel(small_config(hidden_size=120, initializer_range=0.3), rng=np.random.default_rng(0))
    for name, parameter in model.named_parameters():
        if parameter.value.ndim == 2:
            assert abs(parameter.value.std() - 0.3) < 0.05, name
        else:
            assert (parameter.value == (1 if name.endswith("gamma") else 0)).all(), name


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"input_ids": np.array([[1, 5, 7, 2], [6, 3, 0, 0]])},
            IndexError,
            r"input_ids\[0, 2\] is 7, but vocab_size is 7: wanted 0 to 6",
        ),
        (
            {"input_ids": np.array([[1, 5, 5, 2], [6, -1, 0, 0]])},
            IndexError,
            r"input_ids\[1, 1\] is -1, but vocab_size is 7: wanted 0 to 6",
        ),
        (
            {"token_type_ids": np.array([[0, 0, 1, 2], [0, 1, 0, 0]])},
            IndexError,
            r"token_type_ids\[0, 3\] is 2, but type_vocab_size is 2: wanted 0 to 1",
        ),
        (
            {name: np.ones((2, 6), int) for name in ("input_ids", "token_type_ids", "attention_mask", "labels")},
            ValueError,
            "the sequences have 6 tokens, but max_position_embeddings is 5",
        ),
    ],
)
def test_errors_before_anything_is_computed(changes, error, message):
    model = BertModel(small_config(), rng=np.random.default_rng(0))
    model.embeddings = None  # nothing may be asked of it
    for run in (model, model.forward):
        with pytest.raises(error, match=message):
            run(fixed_batch(**changes))
