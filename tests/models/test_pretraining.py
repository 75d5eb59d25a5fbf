"""BertForPreTraining: two heads, two losses, one backward."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import Batch, BertForPreTraining, SoftmaxCrossEntropy
from npbert.gradcheck import LossOf, check_directions, check_gradients, randomize
from npbert.layers import IGNORED
from tests.models.small import batches, fixed_batch, small_config
from tests.strategies import activations, away_from_kinks, rngs


def random_model(rng, **changes):
    model = BertForPreTraining(small_config(**changes), rng=rng, dtype=np.float64)
    randomize(model, rng)
    return model


@given(batches(), rngs, activations, st.sampled_from([0, 0.2]), st.sampled_from(["absolute", "sinusoidal"]))
def test_directions(batch, rng, activation, dropout, kind):
    config = {"hidden_act": activation, "hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    model = random_model(rng, position_embedding_type=kind, **config)
    with away_from_kinks():
        check_directions(LossOf(model), batch, rng).raise_if_wrong()


@settings(max_examples=2)
@given(batches(), rngs)
def test_every_derivative(batch, rng):
    model = random_model(rng, num_hidden_layers=1, hidden_dropout_prob=0.2)
    check_gradients(LossOf(model), batch, rng).raise_if_wrong()


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)], ids=str)
def test_one_sequence_or_one_token(shape):
    """The shapes that the drawn batches leave out, as they would hide mistakes; but they must work too."""
    rng = np.random.default_rng(0)
    batch = Batch(np.full(shape, 4), labels=np.full(shape, 2), next_sentence_label=np.ones(shape[0], int))
    check_directions(LossOf(random_model(rng, num_hidden_layers=1)), batch).raise_if_wrong()


def test_every_parameter_is_reached():
    model = random_model(np.random.default_rng(0))
    model.zero_grad()
    _, cache = model.loss(fixed_batch())
    model.backward(cache)
    names = dict(model.named_parameters())
    assert len(names) == 5 + 2 * 16 + 2 + 5 + 2
    for name, parameter in names.items():
        assert parameter.grad.any(), name


def test_the_decoder_is_the_token_table():
    model = random_model(np.random.default_rng(0))
    assert model.predictions.table is model.bert.embeddings.word_embeddings.weight
    names = [name for name, _ in model.named_parameters()]
    assert names[0] == "bert.embeddings.word_embeddings.weight"
    assert "predictions.table" not in names


def test_the_losses_are_means_over_targets_and_their_sum():
    model, batch = random_model(np.random.default_rng(0)), fixed_batch()
    (loss, mlm_loss, nsp_loss), _ = model.loss(batch)
    batch.labels, labels = None, batch.labels
    logits, relationship_logits = model(batch)
    assert logits.shape == (2, 4, 7)
    cross_entropy = SoftmaxCrossEntropy()
    assert mlm_loss == pytest.approx(cross_entropy(logits, labels), rel=1e-12)
    assert nsp_loss == pytest.approx(cross_entropy(relationship_logits, batch.next_sentence_label), rel=1e-12)
    assert loss == mlm_loss + nsp_loss


def test_with_labels_only_the_masked_positions_are_decoded():
    model, batch = random_model(np.random.default_rng(0)), fixed_batch()
    masked_logits = model(batch).prediction_logits
    masked = batch.labels != IGNORED
    batch.labels = None
    np.testing.assert_allclose(masked_logits, model(batch).prediction_logits[masked], rtol=1e-12)


def test_fresh_weights_know_nothing():
    model = BertForPreTraining(small_config(vocab_size=50, hidden_size=60), rng=np.random.default_rng(0))
    (_, mlm_loss, nsp_loss), _ = model.loss(fixed_batch())
    assert mlm_loss == pytest.approx(math.log(50), abs=0.2)
    assert nsp_loss == pytest.approx(math.log(2), abs=0.1)


def test_dropout_needs_an_rng_and_repeats_with_its_seed():
    model, batch = random_model(np.random.default_rng(0), hidden_dropout_prob=0.3), fixed_batch()
    evaluated = model.loss(batch)[0]
    assert evaluated == model.loss(batch)[0]
    trained = [model.loss(batch, np.random.default_rng(seed))[0] for seed in (1, 1, 2)]
    assert trained[0] == trained[1]
    assert len({losses.loss for losses in (evaluated, *trained)}) == 3


def test_half_the_loss_has_half_the_gradient():
    model, batch = random_model(np.random.default_rng(0)), fixed_batch()
    gradients = []
    for dloss in (1.0, 0.5):
        model.zero_grad()
        model.backward(model.loss(batch)[1], dloss)
        gradients.append(model.predictions.dense.weight.grad.copy())
    np.testing.assert_allclose(gradients[1], gradients[0] / 2, rtol=1e-13)


def test_each_loss_may_have_a_gradient_of_its_own():
    model, batch = random_model(np.random.default_rng(0)), fixed_batch()
    gradients = []
    for dloss in ((1.0, 0.0), (0.0, 1.0), (3.0, -2.0)):
        model.zero_grad()
        model.backward(model.loss(batch)[1], dloss)
        gradients.append([parameter.grad.copy() for parameter in model.parameters()])
    for words, pairs, both in zip(*gradients, strict=True):
        np.testing.assert_allclose(both, 3 * words - 2 * pairs, rtol=1e-11, atol=1e-14)
    names = [name for name, _ in model.named_parameters()]
    assert not gradients[0][names.index("seq_relationship.weight")].any()
    assert not gradients[1][names.index("predictions.bias")].any()


@given(batches(), rngs)
def test_targets_and_right_answers_are_counted(batch, rng):
    model = random_model(rng)
    _, cache = model.loss(batch)
    words, pairs = model(Batch(batch.input_ids, batch.token_type_ids, batch.attention_mask))
    assert model.target_counts(batch) == ((batch.labels != IGNORED).sum(), len(batch.labels))
    right = (words.argmax(axis=-1) == batch.labels).sum(), (pairs.argmax(axis=-1) == batch.next_sentence_label).sum()
    assert model.count_right(cache) == right


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"labels": None}, ValueError, "needs labels and next_sentence_label: labels is missing"),
        ({"next_sentence_label": None}, ValueError, "next_sentence_label is missing"),
        (
            {"labels": np.full((2, 4), IGNORED)},
            ValueError,
            "labels hold no target: all 8 are -100, so there is nothing to predict",
        ),
        ({"labels": np.zeros(2, int)}, ValueError, r"labels has shape \(2,\), wanted \(2, 4\)"),
        ({"labels": np.full((2, 4), 7)}, IndexError, r"labels\[0, 0\] is 7, but vocab_size is 7: wanted 0 to 6"),
        ({"labels": np.full((2, 4), -1)}, IndexError, r"labels\[0, 0\] is -1, but vocab_size is 7"),
        ({"labels": np.zeros((2, 4))}, TypeError, "labels must be an array of integers, got float64"),
        ({"next_sentence_label": [0, 2]}, IndexError, r"next_sentence_label\[1\] is 2, but the number of classes is 2"),
        ({"input_ids": np.full((2, 4), 9)}, IndexError, r"input_ids\[0, 0\] is 9, but vocab_size is 7"),
    ],
)
def test_errors_before_anything_is_computed(changes, error, message):
    model = random_model(np.random.default_rng(0))
    model.bert = None  # nothing may be asked of it
    with pytest.raises(error, match=message):
        model.loss(fixed_batch(**changes))
