"""A batch in parts has the gradient that it has as a whole, for every model, however its targets are spread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import (
    IGNORED,
    Batch,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    Tape,
    randomize,
)
from npbert.catalogue import CONFIG, V
from npbert.training.accumulate import StepLosses, accumulate, split

SAME = 1e-12
CLASSES = 3


def sequences(rng: np.random.Generator, *leading: int) -> tuple[Any, Any, Any]:
    """Ids, types and mask of two to five ragged sequences, or of `leading` sets of them."""
    *leading, length = shape = *(leading or (rng.integers(2, 6),)), rng.integers(2, 6)
    mask = np.arange(length) < rng.integers(1, length + 1, (*leading, 1))
    return rng.integers(V, size=shape), rng.integers(2, size=shape), mask.astype(int)


def some(rng: np.random.Generator, classes: int, allowed: Any) -> Any:
    """Labels for about half of what is allowed, and for the first of it."""
    has_label = allowed & (rng.random(allowed.shape) < 0.5)
    has_label.flat[allowed.argmax()] = True
    return np.where(has_label, rng.integers(classes, size=allowed.shape), IGNORED)


def of_tokens(classes: int) -> Callable[[np.random.Generator], Batch]:
    def draw(rng: np.random.Generator) -> Batch:
        ids, types, mask = sequences(rng)
        return Batch(ids, types, mask, some(rng, classes, mask == 1), rng.integers(2, size=len(ids)))

    return draw


def of_sequences(rng: np.random.Generator) -> Batch:
    ids, types, mask = sequences(rng)
    return Batch(ids, types, mask, some(rng, CLASSES, np.ones(len(ids), bool)))


def of_numbers(rng: np.random.Generator) -> Batch:
    ids, types, mask = sequences(rng)
    return Batch(ids, types, mask, rng.normal(2.0, 3.0, len(ids)))


def of_choices(rng: np.random.Generator) -> Batch:
    size = rng.integers(2, 5)
    return Batch(*sequences(rng, size, CLASSES), some(rng, CLASSES, np.ones(size, bool)))


def of_answers(rng: np.random.Generator) -> Batch:
    ids, types, mask = sequences(rng)
    lengths = mask.sum(axis=1)
    start = some(rng, 1, np.ones(len(ids), bool))
    start, end = (np.where(start < 0, IGNORED, rng.integers(lengths)) for _ in range(2))
    return Batch(ids, types, mask, start_positions=start, end_positions=end)


CASES: dict[str, Any] = {
    "pre-training": (BertForPreTraining, {}, of_tokens(V)),
    "masked words": (BertForMaskedLM, {}, of_tokens(V)),
    "tokens": (BertForTokenClassification, {"num_labels": CLASSES}, of_tokens(CLASSES)),
    "sequences": (BertForSequenceClassification, {"num_labels": CLASSES}, of_sequences),
    "regression": (BertForSequenceClassification, {"num_labels": 1}, of_numbers),
    "choices": (BertForMultipleChoice, {}, of_choices),
    "answers": (BertForQuestionAnswering, {}, of_answers),
}


def make_model(case: str) -> Any:
    model_class, changes, _ = CASES[case]
    model = model_class(replace(CONFIG, **changes), rng=None, dtype=np.float64)
    randomize(model, np.random.default_rng(0))
    return model


def gradients(model: Any) -> list[Any]:
    return [parameter.grad.copy() for parameter in model.parameters()]


def whole(model: Any, batch: Batch) -> tuple[list[Any], StepLosses]:
    """The gradients and losses of the batch, by the model alone."""
    model.zero_grad()
    tape = Tape()
    losses = model.loss(batch, tape)
    model.loss_backward(1.0, tape)
    return gradients(model), StepLosses(losses.means, model.target_counts(batch), losses.counts_right)


def check_parts(model: Any, batch: Batch) -> None:
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
        assert losses[1:] == wanted_losses[1:]


@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(0, 2**32 - 1))
def test_parts_add_up_to_the_whole(case, seed):
    check_parts(make_model(case), CASES[case][2](np.random.default_rng(seed)))


def unequal() -> Batch:
    """Four sequences with 1, 3, 2 and 1 masked words."""
    labels = np.full((4, 4), IGNORED)
    labels[0, 1], labels[1, 1:], labels[2, :2], labels[3, 3] = 3, 2, 5, 6
    return Batch(np.arange(16).reshape(4, 4) % V, labels=labels, next_sentence_label=np.array([0, 1, 1, 0]))


@pytest.mark.parametrize(("case", "kinds"), [("pre-training", 2), ("masked words", 1)])
def test_a_mean_of_the_parts_own_means_would_be_caught(case, kinds):
    model = make_model(case)
    check_parts(model, unequal())
    model.target_counts = lambda _: (1,) * kinds
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_parts(model, unequal())


def test_gradients_are_added_to_those_that_are_there():
    model, batch = make_model("pre-training"), unequal()
    wanted, _ = whole(model, batch)
    accumulate(model, batch, None, parts=2)
    for ours, theirs in zip(gradients(model), wanted, strict=True):
        np.testing.assert_allclose(ours, 2 * theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_right_targets_are_counted(parts):
    model, ids = make_model("tokens"), np.arange(15).reshape(3, 5) % V
    labels = model(Batch(ids)).argmax(axis=-1)
    labels[0, 0] = (labels[0, 0] + 1) % CLASSES  # one is wrong
    labels[1, 1:] = IGNORED
    losses = accumulate(model, Batch(ids, labels=labels), None, parts=parts)
    assert (losses.counts, losses.right) == ((11,), (10,))


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_a_sequence_without_a_target_shares_a_part_with_one_that_has(parts):
    batch = unequal()
    batch.labels[:2] = IGNORED
    check_parts(make_model("pre-training"), batch)
    pieces = split(batch, parts)
    assert len(pieces) == min(parts, 2)
    assert all((piece.labels != IGNORED).any() for piece in pieces)


def test_dropout_is_drawn_anew_for_each_part():
    config = replace(CONFIG, hidden_dropout_prob=0.5)
    model = BertForMaskedLM(config, rng=np.random.default_rng(0), dtype=np.float64)
    twice = Batch(np.tile(np.arange(5), (2, 1)), labels=np.tile([4, IGNORED, IGNORED, 3, IGNORED], (2, 1)))
    one = Batch(twice.input_ids[:1], labels=twice.labels[:1])
    first = accumulate(model, one, np.random.default_rng(3)).total
    both = accumulate(model, twice, np.random.default_rng(3), parts=2).total
    assert abs(both - first) > 1e-6, "two draws of the same dropout would give the same loss"


@pytest.mark.parametrize("parts", range(1, 6))
def test_every_sequence_is_in_one_part_of_about_one_size(parts):
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


@pytest.mark.parametrize("parts", [0, 5, -1])
def test_a_number_of_parts_that_cannot_be(parts):
    with pytest.raises(ValueError, match=f"a batch of 4 sequences cannot be split into {parts} parts"):
        accumulate(make_model("pre-training"), unequal(), None, parts=parts)


@pytest.mark.parametrize("parts", [1, 2])
def test_a_batch_without_any_target(parts):
    batch = replace(unequal(), labels=np.full((4, 4), IGNORED))
    with pytest.raises(ValueError, match="labels hold no target: all 16 are -100"):
        accumulate(make_model("pre-training"), batch, None, parts=parts)
