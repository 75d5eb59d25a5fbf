"""A batch in parts has the gradient that it has as a whole, for every model, however its targets are spread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import (
    Batch,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from npbert.gradcheck import randomize
from npbert.training.accumulate import StepLosses, accumulate, split
from tests.models.small import VOCAB_SIZE, batches, fixed_batch, small_config
from tests.strategies import attention_masks, ids, seeds, targets

SAME = 1e-12
CLASSES = 3
Case = tuple[type[Any], dict[str, Any], Callable[[st.DrawFn], Batch]]


@st.composite
def sequences(draw: st.DrawFn, *leading: int) -> tuple[Any, ...]:
    shape = *(leading or (draw(st.integers(2, 5)),)), draw(st.integers(2, 5))
    mask = draw(attention_masks(int(np.prod(shape[:-1])), shape[-1])).reshape(shape)
    return draw(ids(VOCAB_SIZE, *shape)), draw(ids(2, *shape)), mask


def _of_tokens(classes: int) -> Callable[[st.DrawFn], Batch]:
    def draw_batch(draw: st.DrawFn) -> Batch:
        arrays = draw(sequences())
        return Batch(*arrays, draw(targets(classes, *arrays[0].shape)))

    return draw_batch


def _of_sequences(draw: st.DrawFn) -> Batch:
    arrays = draw(sequences())
    return Batch(*arrays, draw(targets(CLASSES, len(arrays[0]))))


def _of_numbers(draw: st.DrawFn) -> Batch:
    arrays = draw(sequences())
    return Batch(*arrays, np.random.default_rng(draw(seeds)).normal(2.0, 3.0, len(arrays[0])))


def _of_choices(draw: st.DrawFn) -> Batch:
    size = draw(st.integers(2, 4))
    return Batch(*draw(sequences(size, CLASSES)), draw(targets(CLASSES, size)))


def _of_answers(draw: st.DrawFn) -> Batch:
    arrays = draw(sequences())
    size, length = arrays[0].shape
    start = draw(targets(length, size))
    end = np.where(start < 0, start, draw(ids(length, size)))
    return Batch(*arrays, start_positions=start, end_positions=end)


CASES: dict[str, Case] = {
    "pre-training": (BertForPreTraining, {}, lambda draw: draw(batches())),
    "masked words": (BertForMaskedLM, {}, _of_tokens(VOCAB_SIZE)),
    "tokens": (BertForTokenClassification, {"num_labels": CLASSES}, _of_tokens(CLASSES)),
    "sequences": (BertForSequenceClassification, {"num_labels": CLASSES}, _of_sequences),
    "regression": (BertForSequenceClassification, {"num_labels": 1}, _of_numbers),
    "choices": (BertForMultipleChoice, {}, _of_choices),
    "answers": (BertForQuestionAnswering, {}, _of_answers),
}
every_model = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def make_model(case: Case, seed: int = 0) -> Any:
    model = case[0](small_config(**case[1]), rng=None, dtype=np.float64)
    randomize(model, np.random.default_rng(seed))
    return model


def whole(model: Any, batch: Batch) -> tuple[list[Any], StepLosses]:
    """The gradients and losses of the batch, by the model alone."""
    model.zero_grad()
    losses, cache = model.loss(batch)
    right = model.count_right(cache)
    model.backward(cache)
    parts = tuple(losses[1:]) if isinstance(losses, tuple) else (losses,)
    return gradients(model), StepLosses(parts, model.target_counts(batch), right)


def gradients(model: Any) -> list[Any]:
    return [parameter.grad.copy() for parameter in model.parameters()]


def check_parts(model: Any, batch: Batch, accumulate: Callable[..., StepLosses]) -> None:
    """Assert that the batch in any number of parts gives what it gives as a whole."""
    wanted, wanted_losses = whole(model, batch)
    largest = max(np.abs(gradient).max() for gradient in wanted)
    for parts in range(1, len(batch.input_ids) + 1):
        model.zero_grad()
        losses = accumulate(model, batch, None, parts=parts)
        for ours, theirs in zip(gradients(model), wanted, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=SAME * largest)
        np.testing.assert_allclose(losses.losses, wanted_losses.losses, rtol=SAME)
        assert losses.total == pytest.approx(sum(wanted_losses.losses), rel=SAME)
        assert (losses.counts, losses.right) == (wanted_losses.counts, wanted_losses.right)


@every_model
@given(data=st.data(), seed=seeds)
def test_parts_add_up_to_the_whole(case, data, seed):
    check_parts(make_model(case, seed), case[2](data.draw), accumulate)


def unequal() -> Batch:
    """Four sequences with 1, 3, 2 and 1 masked words."""
    labels = np.full((4, 4), -100)
    labels[0, 1], labels[1, 1:], labels[2, :2], labels[3, 3] = 3, 2, 5, 6
    return Batch(np.arange(16).reshape(4, 4) % VOCAB_SIZE, labels=labels, next_sentence_label=np.array([0, 1, 1, 0]))


@pytest.mark.parametrize("case", [CASES["pre-training"], CASES["masked words"]], ids=["pre-training", "masked words"])
def test_a_mean_of_means_would_be_caught(case):
    def mean_of_means(model: Any, batch: Batch, rng: None, *, parts: int) -> StepLosses:
        sums, right = np.zeros(len(model.target_counts(batch))), []
        for piece in split(batch, parts):
            losses, cache = model.loss(piece)
            sums += np.array(losses[1:] if isinstance(losses, tuple) else [losses]) / parts
            right.append(model.count_right(cache))
            model.backward(cache, 1 / parts)
        return StepLosses(tuple(sums.tolist()), model.target_counts(batch), tuple(np.sum(right, axis=0)))

    check_parts(make_model(case), unequal(), accumulate)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_parts(make_model(case), unequal(), mean_of_means)


def test_what_is_there_is_added_to():
    model, batch = make_model(CASES["pre-training"]), unequal()
    wanted, _ = whole(model, batch)
    accumulate(model, batch, None, parts=2)
    for ours, theirs in zip(gradients(model), wanted, strict=True):
        np.testing.assert_allclose(ours, 2 * theirs, rtol=1e-9, atol=1e-10)


def test_right_targets_are_counted():
    model = make_model(CASES["tokens"])
    ids_only = Batch(np.arange(15).reshape(3, 5) % VOCAB_SIZE)
    labels = model(ids_only).argmax(axis=-1)
    labels[0, 0] = (labels[0, 0] + 1) % CLASSES  # one is wrong
    labels[1, 1:] = -100
    batch = Batch(ids_only.input_ids, labels=labels)
    for parts in (1, 2, 3):
        losses = accumulate(model, batch, None, parts=parts)
        assert (losses.counts, losses.right) == ((11,), (10,))


def test_a_regression_has_nothing_right():
    batch = Batch(np.ones((2, 3), int), labels=np.array([0.5, -1.0]))
    assert accumulate(make_model(CASES["regression"]), batch, None, parts=2).right is None


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_a_sequence_without_a_target_shares_a_part_with_one_that_has(parts):
    batch = unequal()
    batch.labels[:2] = -100
    check_parts(make_model(CASES["pre-training"]), batch, accumulate)
    pieces = split(batch, parts)
    assert len(pieces) == min(parts, 2)
    assert all((piece.labels != -100).any() for piece in pieces)


def test_dropout_is_drawn_anew_for_each_part():
    config = small_config(hidden_dropout_prob=0.5)
    model = BertForMaskedLM(config, rng=np.random.default_rng(0), dtype=np.float64)
    twice = Batch(np.tile(np.arange(5), (2, 1)), labels=np.tile([4, -100, -100, 3, -100], (2, 1)))
    one = Batch(twice.input_ids[:1], labels=twice.labels[:1])
    first = accumulate(model, one, np.random.default_rng(3)).total
    both = accumulate(model, twice, np.random.default_rng(3), parts=2).total
    assert abs(both - first) > 1e-6, "two draws of the same dropout would give the same loss"


@pytest.mark.parametrize("parts", range(1, 6))
def test_every_sequence_is_in_one_part(parts):
    batch = Batch(np.arange(10).reshape(5, 2), np.ones((5, 2), int), labels=np.arange(5), start_positions=np.arange(5))
    pieces = split(batch, parts)
    lengths = [len(piece.input_ids) for piece in pieces]
    assert len(pieces) == parts
    assert max(lengths) - min(lengths) <= 1
    assert sorted(np.concatenate([piece.labels for piece in pieces])) == [0, 1, 2, 3, 4]
    for piece in pieces:
        np.testing.assert_array_equal(piece.input_ids[:, 0] // 2, piece.labels)
        np.testing.assert_array_equal(piece.start_positions, piece.labels)
        assert piece.token_type_ids.all()
        assert piece.end_positions is None


@pytest.mark.parametrize("parts", [0, 3, -1])
def test_a_number_of_parts_that_cannot_be(parts):
    with pytest.raises(ValueError, match=f"a batch of 2 sequences cannot be split into {parts} parts"):
        accumulate(make_model(CASES["pre-training"]), fixed_batch(), None, parts=parts)


@pytest.mark.parametrize("parts", [1, 2])
def test_a_batch_without_any_target(parts):
    batch = fixed_batch(labels=np.full((2, 4), -100))
    with pytest.raises(ValueError, match="labels hold no target: all 8 are -100"):
        accumulate(make_model(CASES["pre-training"]), batch, None, parts=parts)
