"""BertModel: what it gives for a batch, and what it shows on the way, against plain formulas."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from npbert import Batch, BertModel, Tape
from npbert.models import Architecture
from tests import textbook
from tests.models.small import assert_all_close, batches, fixed_batch, random_model

LAYERS = 3


@given(batches(), st.integers(0, 9))
def test_each_sequence_is_as_if_alone_and_so_is_what_is_shown_of_it_and_padding_is_0(batch, seed):
    model = random_model(BertModel, seed=seed, num_hidden_layers=LAYERS)
    assert_all_close(model(batch), textbook.outputs(model, batch))
    hidden, attention = model.hidden_states(batch), model.attention_probabilities(batch)
    assert (list(hidden), list(attention)) == ([0, 1, 2, 3], [1, 2, 3])
    count, length = batch.input_ids.shape
    wanted, shares = np.zeros((LAYERS + 1, count, length, 6)), np.zeros((LAYERS, count, 2, length, length))
    for s in range(count):
        t = np.flatnonzero(batch.attention_mask[s])
        wanted[:, s, t] = textbook.hidden_states(model, batch.input_ids[s, t], batch.token_type_ids[s, t], t)
        for layer, z in zip(range(LAYERS), wanted[:, s, t], strict=False):
            part = model.encoder.layers[layer].attention
            heads = (np.split(textbook.linear(of, z), 2, axis=1) for of in (part.query, part.key))
            shares[layer, s][:, t[:, None], t] = [textbook.probabilities(q, k) for q, k in zip(*heads, strict=True)]
    assert_all_close(tuple(hidden.values()), wanted)
    assert_all_close(tuple(attention.values()), shares)
    assert all((array[shares[0] == 0] == 0).all() for array in attention.values()), "padding is exactly 0"


@pytest.mark.parametrize("asked", [[3, 1], (-1,), {-3, 3}, [-1, 2, -2], range(1, 3), [np.int64(2)], []])
def test_some_layers_are_those_of_all_and_float32_stays_float32(asked):
    model, batch = random_model(BertModel, num_hidden_layers=LAYERS, dtype=np.float32), fixed_batch()
    for feature in (model.hidden_states, model.attention_probabilities):
        every, some = feature(batch), feature(batch, asked)
        assert list(some) == list(asked)
        for layer, array in some.items():
            wanted = every[layer if layer > 0 else LAYERS + 1 + layer]
            np.testing.assert_array_equal(array, wanted.astype(np.float32), strict=True)


DESCENDANTS = {
    "modernbert": {"pre_norm": True, "gated": True, "rotary": (10.0, 100.0), "reach": (None, 3)},
    "mpnet": {"first_position": 2, "relative_buckets": 6},
    "albert": {"groups": 1},
}


@pytest.mark.parametrize("name", DESCENDANTS)
def test_the_attention_that_is_shown_is_what_forward_kept(name):
    architecture, tape = Architecture(name, **DESCENDANTS[name]), Tape()
    model = random_model(BertModel, num_hidden_layers=LAYERS, hidden_size=8, architecture=architecture)
    batch = Batch([[1, 5, 5, 2]])
    model(batch, tape)
    kept = [entry.values["probabilities"] for entry in tape.entries if "probabilities" in entry.values]
    assert_all_close(tuple(model.attention_probabilities(batch).values()), tuple(p for (p,) in kept))


@pytest.mark.parametrize(("name", "first", "layer"), [("hidden_states", 0, 4), ("attention_probabilities", 1, 0)])
def test_wrong_layers_are_refused_before_anything_is_computed(name, first, layer):
    model = random_model(BertModel, num_hidden_layers=LAYERS)
    model.embeddings = None  # nothing may be asked of it
    with pytest.raises(IndexError, match=f"layers is {layer}, wanted {first} to 3, or {first - 4} to -1 from"):
        getattr(model, name)(fixed_batch(), [1, layer])
