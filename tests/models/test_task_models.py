"""Every model with a loss: its outputs, losses and counts against plain formulas, and all that it refuses."""

import numpy as np
import pytest

from npbert import IGNORED, Batch, BertForSequenceClassification, Tape, check_directions
from npbert.gradcheck import LossOf
from tests.models.plain_bert import plain_outputs
from tests.models.small import fixed_batch, random_model
from tests.models.tasks import TASKS, each_task, questions, right, surprise

ROUNDING = 1e-11


def as_list(output):
    return list(output) if isinstance(output, tuple) else [output]


def gradients(model, batch, dloss):
    model.zero_grad()
    tape = Tape()
    model.loss(batch, tape)
    model.loss_backward(dloss, tape)
    tape.check_empty()
    return {name: parameter.grad.copy() for name, parameter in model.named_parameters()}


@each_task
@pytest.mark.parametrize("seed", range(3))
def test_outputs_are_the_plain_formulas_of_each_sequence_alone(task, seed):
    model, batch = task.model(), task.batch(seed, with_targets=False)
    for output, wanted in zip(as_list(model(batch)), plain_outputs(model, batch), strict=True):
        np.testing.assert_allclose(output, wanted, rtol=ROUNDING, atol=ROUNDING * np.abs(wanted).max())
        if output.shape[:2] == batch.attention_mask.shape:
            assert not output[batch.attention_mask == 0].any()


@each_task
@pytest.mark.parametrize("seed", range(3))
def test_losses_and_counts_are_the_plain_formulas(task, seed):
    model, batch = task.model(), task.batch(seed)
    losses, outputs = model.loss(batch), plain_outputs(model, batch)
    if task.asked is None:
        squares = [(outputs[0][n, 0] - label) ** 2 for n, label in enumerate(batch.labels)]
        wanted, counts, counts_right = [sum(squares) / len(squares)], (len(squares),), None
    else:
        asked = task.asked(outputs, batch)
        wanted, counts, counts_right = [list(map(each, asked)) for each in (surprise, len, right)]
        counts, counts_right = tuple(counts), tuple(counts_right)
    assert losses.means == pytest.approx(wanted, rel=ROUNDING)
    assert losses.loss == pytest.approx(sum(wanted), rel=ROUNDING)
    assert losses.counts_right == counts_right
    assert model.target_counts(batch) == counts


@each_task
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("of", ["loss", "outputs"])
def test_backward_is_the_derivative(task, seed, of):
    rates = {"hidden_dropout_prob": 0.2, "attention_probs_dropout_prob": 0.3, "classifier_dropout": 0.4}
    model = task.model(**rates)
    layer = LossOf(model) if of == "loss" else model
    batch = task.batch(seed, with_targets=of == "loss")
    check_directions(layer, batch, rng=np.random.default_rng(seed), directions=2).raise_if_wrong()


@each_task
def test_every_parameter_learns_and_half_the_loss_has_half_the_gradient(task):
    model, batch = task.model(), task.batch()
    whole, half = gradients(model, batch, 1.0), gradients(model, batch, 0.5)
    assert {name for name, gradient in whole.items() if np.abs(gradient).max() < 1e-12} == task.cancels | {
        f"bert.encoder.layers.{layer}.attention.key.bias" for layer in (0, 1)
    }
    for name, gradient in whole.items():
        np.testing.assert_allclose(half[name], gradient / 2, rtol=1e-13, atol=1e-16, err_msg=name)


@each_task
def test_dropout_needs_a_tape_with_an_rng_and_repeats_with_its_seed(task):
    model, batch = task.model(hidden_dropout_prob=0.4), task.batch()
    evaluated, on_a_tape = model.loss(batch), model.loss(batch, Tape())
    trained = [model.loss(batch, Tape(np.random.default_rng(seed))).loss for seed in (1, 1, 2)]
    assert evaluated == on_a_tape
    assert trained[0] == trained[1]
    assert len({evaluated.loss, *trained}) == 3


@each_task
def test_float32_stays_float32(task):
    model, batch = random_model(task.model_class, dtype=np.float32, **task.config), task.batch()
    assert {np.asarray(mean).dtype for mean in model.loss(batch).means} == {np.dtype(np.float32)}
    assert {gradient.dtype for gradient in gradients(model, batch, 1.0).values()} == {np.dtype(np.float32)}
    assert {output.dtype for output in as_list(model(task.batch(with_targets=False)))} == {np.dtype(np.float32)}


@pytest.mark.parametrize("name", ["pre-training", "masked LM"])
def test_with_labels_only_the_masked_tokens_are_decoded(name):
    model, batch = TASKS[name].model(), TASKS[name].batch()
    words, *others = plain_outputs(model, batch)
    for output, wanted in zip(as_list(model(batch)), [words[batch.labels != IGNORED], *others], strict=True):
        np.testing.assert_allclose(output, wanted, rtol=ROUNDING, atol=ROUNDING)
    batch.labels[...] = IGNORED
    assert as_list(model(batch))[0].shape == (0, 7)


@pytest.mark.parametrize("name", ["pre-training", "masked LM"])
def test_the_decoder_is_the_table_of_the_words(name):
    model = TASKS[name].model()
    assert model.predictions.table is model.bert.embeddings.word_embeddings.weight
    assert "predictions.table" not in dict(model.named_parameters())


def test_each_loss_of_pretraining_may_have_a_gradient_of_its_own():
    model, batch = TASKS["pre-training"].model(), TASKS["pre-training"].batch()
    words, pairs, both = (gradients(model, batch, dloss) for dloss in ((1.0, 0.0), (0.0, 1.0), (3.0, -2.0)))
    for name in both:
        np.testing.assert_allclose(both[name], 3 * words[name] - 2 * pairs[name], rtol=1e-11, atol=1e-14)
    assert not words["seq_relationship.weight"].any()
    assert not pairs["predictions.bias"].any()


def test_two_labels_are_a_classification():
    model = random_model(BertForSequenceClassification, num_labels=2)
    batch = fixed_batch(labels=[1, 0], next_sentence_label=None)
    (logits,) = plain_outputs(model, batch)
    assert model.loss(batch).loss == pytest.approx(surprise(questions(logits, batch.labels)), rel=ROUNDING)


def test_a_regression_takes_integers_and_ignores_nothing():
    model = TASKS["regression"].model()
    for labels in ([1, 2], [1.0, IGNORED], [1, IGNORED]):
        batch = fixed_batch(labels=labels, next_sentence_label=None)
        (predicted,) = plain_outputs(model, batch)
        assert model.loss(batch).loss == pytest.approx(np.mean((predicted[:, 0] - labels) ** 2), rel=ROUNDING)
        assert model.target_counts(batch) == (2,)

