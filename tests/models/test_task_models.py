"""The models of the tasks: what they all promise. What is special to one is in test_heads.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import Batch
from npbert.gradcheck import LossOf, check_directions, check_gradients
from npbert.layers import IGNORED
from tests.models.tasks import TASKS, task_batches
from tests.strategies import activations, away_from_kinks, rngs

each_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
rates = st.sampled_from([0, 0.2])


@each_task
@given(st.data(), rngs, activations, rates, st.sampled_from(["absolute", "sinusoidal"]))
def test_directions(task, data, rng, activation, dropout, kind):
    config = {"hidden_act": activation, "hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    model = task.model(rng, position_embedding_type=kind, **config)
    with away_from_kinks():
        check_directions(LossOf(model), data.draw(task_batches(task)), rng).raise_if_wrong()


@each_task
@settings(max_examples=1)
@given(st.data(), rngs)
def test_every_derivative(task, data, rng):
    model = task.model(rng, num_hidden_layers=1, hidden_size=4, hidden_dropout_prob=0.2)
    check_gradients(LossOf(model), data.draw(task_batches(task)), rng).raise_if_wrong()


@each_task
def test_every_parameter_is_reached(task):
    model = task.model(np.random.default_rng(0))
    model.zero_grad()
    _, cache = model.loss(task.fixed_batch())
    model.backward(cache)
    names = {name for name, parameter in model.named_parameters() if np.abs(parameter.grad).max() < 1e-12}
    assert names == task.cancels | {f"bert.encoder.layers.{layer}.attention.key.bias" for layer in (0, 1)}


@each_task
@given(st.data(), rngs)
def test_the_loss_is_the_mean_over_the_targets(task, data, rng):
    model, batch = task.model(rng), data.draw(task_batches(task))
    assert model.loss(batch)[0] == pytest.approx(task.loss(model(batch), batch), rel=1e-9)


@each_task
@given(st.data(), rngs)
def test_targets_and_right_answers_are_counted(task, data, rng):
    model, batch = task.model(rng), data.draw(task_batches(task))
    _, cache = model.loss(batch)
    labels = [getattr(batch, name) for name in task.fixed]
    if model.config.num_labels == 1:
        assert (model.target_counts(batch), model.count_right(cache)) == ((labels[0].size,), None)
        return
    output = model(Batch(batch.input_ids, batch.token_type_ids, batch.attention_mask))
    outputs = output if isinstance(output, tuple) else (output,)
    right = [logits.argmax(axis=-1) == targets for logits, targets in zip(outputs, labels, strict=True)]
    assert model.target_counts(batch) == (sum(int((targets != IGNORED).sum()) for targets in labels),)
    assert model.count_right(cache) == (sum(int(hits.sum()) for hits in right),)


@each_task
def test_half_the_loss_has_half_the_gradient(task):
    model, batch = task.model(np.random.default_rng(0)), task.fixed_batch()
    gradients = []
    for dloss in (1.0, 0.5):
        model.zero_grad()
        model.backward(model.loss(batch)[1], dloss)
        gradients.append([parameter.grad.copy() for parameter in model.parameters()])
    for whole, half in zip(*gradients, strict=True):
        np.testing.assert_allclose(half, whole / 2, rtol=1e-13, atol=1e-16)


@each_task
@pytest.mark.parametrize("where", ["hidden_dropout_prob", "attention_probs_dropout_prob"])
def test_dropout_needs_an_rng_and_repeats_with_its_seed(task, where):
    model, batch = task.model(np.random.default_rng(0), **{where: 0.4}), task.fixed_batch()
    evaluated = model.loss(batch)[0]
    assert evaluated == model.loss(batch)[0]
    trained = [model.loss(batch, np.random.default_rng(seed))[0] for seed in (1, 1, 2)]
    assert trained[0] == trained[1]
    assert len({evaluated, *trained}) == 3


@each_task
def test_float32_stays_float32(task):
    model = task.model_class(task.model(np.random.default_rng(0)).config, rng=np.random.default_rng(0))
    loss, cache = model.loss(task.fixed_batch(), np.random.default_rng(0))
    model.backward(cache)
    assert loss.dtype == np.float32
    assert {parameter.grad.dtype for parameter in model.parameters()} == {np.dtype(np.float32)}


NONE = np.full((2, 4), IGNORED)
MISSING = "the loss needs labels, and the batch has none"


@pytest.mark.parametrize(
    ("name", "changes", "error", "message"),
    [
        ("masked LM", {"labels": None}, ValueError, MISSING),
        ("masked LM", {"labels": NONE}, ValueError, "labels hold no target: all 8 are -100"),
        ("masked LM", {"labels": [1, 2]}, ValueError, r"labels has shape \(2,\), wanted \(2, 4\)"),
        ("masked LM", {"labels": NONE[:, :3] + 100}, ValueError, r"labels has shape \(2, 3\), wanted \(2, 4\)"),
        ("masked LM", {"labels": np.zeros((2, 4))}, TypeError, "labels must be an array of integers, got float64"),
        ("masked LM", {"labels": NONE + 107}, IndexError, r"labels\[0, 0\] is 7, but vocab_size is 7: wanted 0 to 6"),
        ("masked LM", {"labels": NONE + 99}, IndexError, r"labels\[0, 0\] is -1, but vocab_size is 7"),
        ("classification", {"labels": None}, ValueError, MISSING),
        ("classification", {"labels": NONE[:, 0]}, ValueError, "labels hold no target: all 2 are -100"),
        ("classification", {"labels": [[1], [2]]}, ValueError, r"labels has shape \(2, 1\), wanted \(2,\)"),
        ("classification", {"labels": [1.0, 2.0]}, TypeError, "labels must be an array of integers, got float64"),
        ("classification", {"labels": [1, 4]}, IndexError, r"labels\[1\] is 4, but num_labels is 4: wanted 0 to 3"),
        ("classification", {"labels": [-1, 3]}, IndexError, r"labels\[0\] is -1, but num_labels is 4"),
        ("regression", {"labels": None}, ValueError, MISSING),
        ("regression", {"labels": [[1.5], [2]]}, ValueError, r"labels has shape \(2, 1\), wanted \(2,\)"),
        ("multiple choice", {"labels": None}, ValueError, MISSING),
        ("multiple choice", {"labels": NONE[:, 0]}, ValueError, "labels hold no target: all 2 are -100"),
        ("multiple choice", {"labels": NONE[:, :3]}, ValueError, r"labels has shape \(2, 3\), wanted \(2,\)"),
        ("multiple choice", {"labels": [1.0, 2.0]}, TypeError, "labels must be an array of integers, got float64"),
        ("multiple choice", {"labels": [1, 3]}, IndexError, r"labels\[1\] is 3, but the number of choices is 3"),
        ("token classification", {"labels": None}, ValueError, MISSING),
        ("token classification", {"labels": NONE}, ValueError, "labels hold no target: all 8 are -100"),
        ("token classification", {"labels": [1, 2]}, ValueError, r"labels has shape \(2,\), wanted \(2, 4\)"),
        ("token classification", {"labels": NONE * 1.0}, TypeError, "labels must be an array of integers, got float64"),
        ("token classification", {"labels": NONE + 104}, IndexError, r"labels\[0, 0\] is 4, but num_labels is 4"),
        ("question answering", {"start_positions": None}, ValueError, "start_positions is missing"),
        ("question answering", {"end_positions": None}, ValueError, "end_positions is missing"),
        (
            "question answering",
            {"start_positions": [1, IGNORED]},
            ValueError,
            r"disagree about which sequences have no answer \(-100\)",
        ),
        (
            "question answering",
            {"start_positions": NONE[:, 0], "end_positions": NONE[:, 0]},
            ValueError,
            "start_positions hold no target: all 2 are -100",
        ),
        ("question answering", {"end_positions": [3, 4]}, IndexError, "is 4, but the number of tokens is 4"),
        ("question answering", {"start_positions": [-1, 0]}, IndexError, "is -1, but the number of tokens is 4"),
    ],
)
def test_wrong_targets_before_anything_is_computed(name, changes, error, message):
    task = TASKS[name]
    model = task.model(np.random.default_rng(0))
    model.bert = None  # nothing may be asked of it
    with pytest.raises(error, match=message):
        model.loss(task.fixed_batch(**changes))


@each_task
def test_wrong_ids_before_anything_is_computed(task):
    batch = task.fixed_batch()
    batch.input_ids[0, ..., 1] = 7
    model = task.model(np.random.default_rng(0))
    model.bert.embeddings = None  # nothing may be asked of it
    for run in (model, model.forward, model.loss):
        with pytest.raises(IndexError, match=r"input_ids\[0, 1\] is 7, but vocab_size is 7: wanted 0 to 6"):
            run(batch)


@each_task
def test_batches_of_another_kind(task):
    model = task.model(np.random.default_rng(0))
    model.bert.embeddings = None
    other = Batch(np.ones((2, 4) if task.choices else (2, 3, 4), int), labels=[0, 1])
    wanted = r"\(2, 4\), wanted \(B, C, T\)" if task.choices else r"\(2, 3, 4\), wanted \(B, T\)"
    for run in (model, model.forward, model.loss):
        with pytest.raises(ValueError, match=f"input_ids has shape {wanted}"):
            run(other)
        with pytest.raises(TypeError, match="a model takes a Batch, got list"):
            run([[1, 2]])
