"""Every model with a loss: its outputs, losses and counts against plain formulas, and the way back."""

import numpy as np
import pytest

from npbert import IGNORED, Tape, check_directions
from npbert.gradcheck import LossOf
from tests.models.plain_bert import plain_outputs
from tests.models.small import as_list, assert_all_close
from tests.models.tasks import TASKS, each_task, right, surprise

with_words = pytest.mark.parametrize("task", [TASKS["pre-training"], TASKS["masked LM"]], ids=["two heads", "one head"])


def gradients(model, batch, dloss):
    model.zero_grad()
    tape = Tape()
    model.loss(batch, tape)
    model.loss_backward(dloss, tape)
    tape.check_empty()
    return {name: parameter.grad.copy() for name, parameter in model.named_parameters()}


@each_task
@pytest.mark.parametrize("seed", range(3))
def test_outputs_losses_and_counts_are_the_plain_formulas_of_each_sequence_alone(task, seed):
    model, batch, unlabelled = task.model(), task.batch(seed), task.batch(seed, with_targets=False)
    outputs = plain_outputs(model, batch)
    assert_all_close(model(unlabelled), outputs)
    for output in as_list(model(unlabelled)):
        if output.shape[:2] == batch.attention_mask.shape:
            assert not output[batch.attention_mask == 0].any()
    if task.asked is None:
        wanted, counts, counts_right = [np.mean((outputs[0][:, 0] - batch.labels) ** 2)], (len(batch.labels),), None
    else:
        wanted, counts, counts_right = (tuple(map(each, task.asked(outputs, batch))) for each in (surprise, len, right))
    losses = model.loss(batch)
    assert losses.means == pytest.approx(wanted, rel=1e-11)
    assert losses.loss == pytest.approx(sum(wanted), rel=1e-11)
    assert losses.counts_right == counts_right
    assert model.target_counts(batch) == counts


@each_task
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("of", ["loss", "outputs"])
def test_backward_is_the_derivative(task, seed, of):
    model = task.model(hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.3, classifier_dropout=0.4)
    layer, batch = LossOf(model) if of == "loss" else model, task.batch(seed, with_targets=of == "loss")
    check_directions(layer, batch, rng=np.random.default_rng(seed), directions=2).raise_if_wrong()


@each_task
def test_every_parameter_learns_and_half_the_loss_has_half_the_gradient(task):
    model, batch = task.model(), task.batch()
    whole, half = gradients(model, batch, 1.0), gradients(model, batch, 0.5)
    key_biases = {f"bert.encoder.layers.{layer}.attention.key.bias" for layer in (0, 1)}
    assert {name for name, grad in whole.items() if np.abs(grad).max() < 1e-12} == key_biases.union(task.cancels)
    for name, grad in whole.items():
        np.testing.assert_allclose(half[name], grad / 2, rtol=1e-13, atol=1e-16, err_msg=name)


@with_words
def test_with_labels_only_the_masked_tokens_are_decoded_by_the_table_of_the_words(task):
    model, batch = task.model(), task.batch()
    words, *others = plain_outputs(model, batch)
    assert_all_close(model(batch), [words[batch.labels != IGNORED], *others])
    batch.labels[...] = IGNORED
    assert as_list(model(batch))[0].shape == (0, 9)
    assert model.predictions.table is model.bert.embeddings.word_embeddings.weight
    assert "predictions.table" not in dict(model.named_parameters())


def test_each_loss_of_pretraining_may_have_a_gradient_of_its_own():
    model, batch = TASKS["pre-training"].model(), TASKS["pre-training"].batch()
    words, pairs, both = (gradients(model, batch, dloss) for dloss in ((1.0, 0.0), (0.0, 1.0), (3.0, -2.0)))
    for name in both:
        np.testing.assert_allclose(both[name], 3 * words[name] - 2 * pairs[name], rtol=1e-11, atol=1e-14)
    assert not words["seq_relationship.weight"].any()
    assert not pairs["predictions.bias"].any()


def test_a_regression_takes_integers_and_ignores_nothing():
    model, batch = TASKS["regression"].model(), TASKS["regression"].batch()
    batch.labels = np.array([1, IGNORED, 3, 0])
    (predicted,) = plain_outputs(model, batch)
    assert model.loss(batch).loss == pytest.approx(np.mean((predicted[:, 0] - batch.labels) ** 2), rel=1e-11)
    assert model.target_counts(batch) == (4,)
