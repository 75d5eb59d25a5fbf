"""What is special to the head of each task."""

import numpy as np
import pytest

from npbert import Batch, BertForPreTraining, Dropout
from npbert.layers import IGNORED
from tests.models.tasks import CHOICES, CLASSES, TASKS
from tests.models.test_task_models import each_task

SHAPES = {
    "masked LM": (3, 7),
    "classification": (2, CLASSES),
    "regression": (2, 1),
    "multiple choice": (2, CHOICES),
    "token classification": (2, 4, CLASSES),
}
READ_TOKENS = {"masked LM", "token classification", "question answering"}


def random_model(name, **changes):
    return TASKS[name].model(np.random.default_rng(0), **changes)


@pytest.mark.parametrize(("name", "shape"), SHAPES.items())
def test_shapes(name, shape):
    assert random_model(name)(TASKS[name].fixed_batch()).shape == shape


@pytest.mark.parametrize("name", TASKS)
def test_a_head_that_reads_tokens_has_no_pooler(name):
    model = random_model(name)
    names = {name for name, _ in model.named_parameters()}
    assert (model.bert.pooler is None) == (name in READ_TOKENS)
    assert ("bert.pooler.dense.weight" in names) == (name not in READ_TOKENS)


@pytest.mark.parametrize("name", ["classification", "regression", "multiple choice", "token classification"])
@pytest.mark.parametrize(("classifier", "hidden", "rate"), [(0.5, 0, 0.5), (None, 0.3, 0.3), (0, 0.3, 0)])
def test_dropout_before_the_classifier(name, classifier, hidden, rate):
    model = random_model(name, classifier_dropout=classifier, hidden_dropout_prob=hidden)
    assert model.dropout.p == rate


@pytest.mark.parametrize("name", ["classification", "multiple choice", "token classification"])
def test_the_classifier_reads_what_dropout_leaves(name):
    """Without dropout in BERT, the first draw is the head's."""
    model, batch = random_model(name, classifier_dropout=0.5), TASKS[name].fixed_batch()
    evaluated = model(batch)
    with_dropout, _ = model.forward(batch, np.random.default_rng(1))
    assert not np.allclose(with_dropout, evaluated)
    arrays = batch.input_ids, batch.token_type_ids, batch.attention_mask
    hidden, pooled = model.bert(Batch(*(array.reshape(-1, 4) for array in arrays)))
    dropped, _ = Dropout(0.5).forward(hidden if name in READ_TOKENS else pooled, np.random.default_rng(1))
    np.testing.assert_allclose(with_dropout.reshape(-1), model.classifier(dropped).reshape(-1), rtol=1e-12)


def test_masked_lm_decodes_the_masked_positions_only():
    model, batch = random_model("masked LM"), TASKS["masked LM"].fixed_batch()
    masked_logits, masked = model(batch), batch.labels != IGNORED
    batch.labels = None
    assert model(batch).shape == (2, 4, 7)
    np.testing.assert_allclose(masked_logits, model(batch)[masked], rtol=1e-12)
    np.testing.assert_array_equal(model.forward(batch)[0], model(batch))


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_masked_lm_is_pretraining_without_the_other_task(activation):
    model = random_model("masked LM", hidden_act=activation, layer_norm_eps=0.1)
    other = BertForPreTraining(model.config, rng=np.random.default_rng(0), dtype=np.float64)
    parameters = dict(other.named_parameters())
    for name, parameter in model.named_parameters():
        parameters[name].value[...] = parameter.value
    batch = TASKS["masked LM"].fixed_batch()
    np.testing.assert_array_equal(model(batch), other(batch).prediction_logits)


def test_the_decoder_is_the_token_table():
    model = random_model("masked LM")
    assert model.predictions.table is model.bert.embeddings.word_embeddings.weight
    assert "predictions.table" not in dict(model.named_parameters())


def test_two_labels_are_a_classification():
    task = TASKS["classification"]
    model, batch = random_model("classification", num_labels=2), task.fixed_batch(labels=[1, 0])
    assert model.loss(batch)[0] == pytest.approx(task.loss(model(batch), batch), rel=1e-12)


def test_a_regression_takes_integers_and_ignores_nothing():
    model, task = random_model("regression"), TASKS["regression"]
    assert model.loss(task.fixed_batch(labels=[1, 2]))[0] == model.loss(task.fixed_batch(labels=[1.0, 2.0]))[0]
    batch = task.fixed_batch(labels=[1.0, IGNORED])
    assert model.loss(batch)[0] == pytest.approx(task.loss(model(batch), batch))


def test_choices_are_scored_by_themselves():
    model, batch = random_model("multiple choice"), TASKS["multiple choice"].fixed_batch()
    scores = model(batch)
    np.testing.assert_array_equal(model.forward(batch)[0], scores)
    # the second question has the first two choices the other way round
    assert scores[0, :2] == pytest.approx(scores[1, 1::-1], rel=1e-12)
    assert abs(scores[0, 0] - scores[0, 1]) > 1e-5
    batch.input_ids[0, 2] = 3
    others = np.delete(model(batch).reshape(-1), 2)
    np.testing.assert_allclose(others, np.delete(scores.reshape(-1), 2), rtol=1e-12)


def test_the_start_is_column_0_and_the_end_column_1():
    model, batch = random_model("question answering"), TASKS["question answering"].fixed_batch()
    scores = model.bert(batch).last_hidden_state @ model.qa_outputs.weight.value + model.qa_outputs.bias.value
    for output in (model(batch), model.forward(batch)[0]):
        assert output._fields == ("start_logits", "end_logits")
        np.testing.assert_allclose(output.start_logits, scores[:, :, 0], rtol=1e-12)
        np.testing.assert_allclose(output.end_logits, scores[:, :, 1], rtol=1e-12)


def test_a_question_without_an_answer_has_no_say():
    model, task = random_model("question answering"), TASKS["question answering"]
    batch = task.fixed_batch(start_positions=[1, IGNORED], end_positions=[2, IGNORED])
    loss, cache = model.loss(batch)
    model.zero_grad()
    model.backward(cache)
    assert loss == pytest.approx(task.loss(model(batch), batch))
    words = model.bert.embeddings.word_embeddings.weight.grad
    assert words[[1, 5, 2]].any(axis=1).all()
    assert not words[[6, 3, 0]].any()  # only the second question has them


@each_task
def test_without_targets_there_are_still_logits(task):
    batch = task.fixed_batch(**dict.fromkeys(task.fixed))
    model = task.model(np.random.default_rng(0))
    called, (y, _) = model(batch), model.forward(batch)
    for one, other in zip(called, y, strict=True):
        np.testing.assert_array_equal(one, other)
