"""Every model with a loss: its outputs, losses and counts against plain formulas, and the way back.

(That its backward is the derivative, with dropout too, is tested in tests/test_catalogue.py.)
"""

import numpy as np
import pytest

from npbert import IGNORED, Batch, Init, Linear, Reads, Tape
from npbert.catalogue import CATALOGUE, blocks
from npbert.shapes import Shapes
from tests import textbook
from tests.models.small import TASKS, assert_all_close, each_task

with_words = pytest.mark.parametrize("name", ["BertForPreTraining", "BertForMaskedLM"])


def make(name, seed=0):
    """A model of the catalogue and its batch with targets: awkward ones, or random ones of a seed."""
    settings = blocks(Shapes.drawn(np.random.default_rng(seed))) if seed else CATALOGUE
    loss_of, (batch,), _ = settings[name].make(seed=seed)
    return loss_of.model, batch


def without_targets(batch):
    return Batch(batch.input_ids, batch.token_type_ids, batch.attention_mask)


def questions(model, outputs, batch):
    """For each loss the logits of all possible answers, a row for each question, and the numbers of the right ones."""
    if model.reads.labels == "answer":  # possible are the real tokens of the sequence
        logits = [np.where(batch.attention_mask, scores, -np.inf) for scores in outputs]
        return [(np.concatenate(logits), np.concatenate([batch.start_positions, batch.end_positions]))]
    labels = batch.labels, batch.next_sentence_label
    return [(rows.reshape(-1, rows.shape[-1]), right.reshape(-1)) for rows, right in zip(outputs, labels, strict=False)]


def gradients(model, batch, dloss):
    model.zero_grad()
    tape = Tape()
    model.loss(batch, tape)
    model.loss_backward(dloss, tape)
    tape.check_empty()
    return {name: parameter.grad.copy() for name, parameter in model.named_parameters()}


@each_task
@pytest.mark.parametrize("seed", range(5))
def test_outputs_losses_and_counts_are_the_plain_formulas_of_each_sequence_alone(name, seed):
    model, batch = make(name, seed)
    outputs = textbook.outputs(model, without_targets(batch))
    assert_all_close(model(without_targets(batch)), outputs)
    if model.reads.labels == "number":
        wanted, counts, counts_right = [np.mean((outputs[0][:, 0] - batch.labels) ** 2)], (len(batch.labels),), ()
    else:
        asked = questions(model, outputs, batch)
        wanted = [textbook.cross_entropy(None, *each) for each in asked]
        counts = tuple(int((labels != IGNORED).sum()) for _, labels in asked)
        counts_right = tuple(int((rows.argmax(axis=1) == labels).sum()) for rows, labels in asked)
    losses = model.loss(batch)
    assert list(losses.means) == pytest.approx(wanted, rel=1e-11)
    assert losses.loss == pytest.approx(sum(wanted), rel=1e-11)
    assert losses.counts_right == counts_right
    assert model.target_counts(batch) == counts


@with_words
def test_with_labels_only_the_masked_tokens_are_decoded_by_the_table_of_the_words(name):
    model, batch = make(name)
    words, *others = textbook.outputs(model, without_targets(batch))
    assert_all_close(model(batch), [words[batch.labels != IGNORED], *others])
    assert "predictions.table" not in dict(model.named_parameters())


def test_each_loss_of_pretraining_may_have_a_gradient_of_its_own():
    model, batch = make("BertForPreTraining")
    words, pairs, both = (gradients(model, batch, dloss) for dloss in ((1.0, 0.0), (0.0, 1.0), (3.0, -2.0)))
    for name in both:
        np.testing.assert_allclose(both[name], 3 * words[name] - 2 * pairs[name], rtol=1e-11, atol=1e-14)
    assert not words["seq_relationship.weight"].any()
    assert not pairs["predictions.bias"].any()


def test_a_regression_takes_integers_and_ignores_nothing():
    model, batch = make(TASKS["regression"])
    batch.labels = np.array([1, IGNORED, 3])
    (predicted,) = textbook.outputs(model, batch)
    for reads, labels in (("number", batch.labels), ("numbers", batch.labels[:, None])):  # num_labels is 1
        model.reads, batch.labels = Reads("first", reads), labels
        assert model.loss(batch).loss == pytest.approx(np.mean((predicted[:, 0] - labels.ravel()) ** 2), rel=1e-11)
        assert model.target_counts(batch) == (3,)


def test_a_head_that_is_replaced_is_used():
    model, batch = make(TASKS["classification"])
    model.classifier = Linear(model.config.hidden_size, 3, Init(np.random.default_rng(0), dtype=np.float64))
    assert model(without_targets(batch)).shape[1] == 3
