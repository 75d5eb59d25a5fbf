"""A batch in parts has the gradient that it has as a whole, for every model, however its targets are spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import IGNORED, Batch, Tape
from npbert.catalogue import CATALOGUE, V
from npbert.training.accumulate import StepLosses, accumulate, split

SAME = 1e-12
MODELS = [
    "BertForPreTraining",
    "BertForMaskedLM",
    "BertForSequenceClassification",
    "BertForSequenceClassification, regression",
    "BertForMultipleChoice",
    "BertForTokenClassification",
    "BertForQuestionAnswering",
]


def make(name: str, rows: Sequence[int]) -> tuple[Any, Batch]:
    """A model of the catalogue, and of its three sequences these; the first of them has a target."""
    layer, (batch,), _ = CATALOGUE[name].make()
    return layer.model, Batch(**{name: array[list(rows)] for name, array in vars(batch).items() if array is not None})


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


@pytest.mark.parametrize("name", MODELS)
@given(st.lists(st.integers(0, 2), max_size=4))
def test_parts_add_up_to_the_whole(name, rows):
    check_parts(*make(name, [*rows, 0]))


@pytest.mark.parametrize(("name", "kinds"), [("BertForPreTraining", 2), ("BertForMaskedLM", 1)])
def test_a_mean_of_the_parts_own_means_would_be_caught(name, kinds):
    model, batch = make(name, [0, 1, 2])
    model.target_counts = lambda _: (1,) * kinds
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_parts(model, batch)


def test_gradients_are_added_to_those_that_are_there():
    model, batch = make("BertForPreTraining", [0, 1, 2])
    wanted, _ = whole(model, batch)
    accumulate(model, batch, None, parts=2)
    for ours, theirs in zip(gradients(model), wanted, strict=True):
        np.testing.assert_allclose(ours, 2 * theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_right_targets_are_counted(parts):
    model, batch = make("BertForTokenClassification", [0, 1, 2])
    batch.labels = np.where(batch.attention_mask == 1, model(batch).argmax(axis=-1), IGNORED)
    batch.labels[0, 0] = (batch.labels[0, 0] + 1) % V  # one is wrong
    losses = accumulate(model, batch, None, parts=parts)
    assert (losses.counts, losses.right) == ((8,), (7,))


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_a_sequence_without_a_target_shares_a_part_with_one_that_has(parts):
    model, batch = make("BertForPreTraining", [0, 1, 2, 0])
    batch.labels[:2] = IGNORED
    check_parts(model, batch)
    pieces = split(batch, parts)
    assert len(pieces) == min(parts, 2)
    assert all((piece.labels != IGNORED).any() for piece in pieces)


def test_dropout_is_drawn_anew_for_each_part():
    first = accumulate(*make("BertForMaskedLM", [0]), np.random.default_rng(3)).total
    both = accumulate(*make("BertForMaskedLM", [0, 0]), np.random.default_rng(3), parts=2).total
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


@pytest.mark.parametrize("parts", [0, 4, -1])
def test_a_number_of_parts_that_cannot_be(parts):
    with pytest.raises(ValueError, match=f"a batch of 3 sequences cannot be split into {parts} parts"):
        accumulate(*make("BertForPreTraining", [0, 1, 2]), None, parts=parts)


@pytest.mark.parametrize("parts", [1, 2])
def test_a_batch_without_any_target(parts):
    model, batch = make("BertForPreTraining", [0, 1, 2])
    batch.labels[:] = IGNORED
    with pytest.raises(ValueError, match="labels hold no target: all 15 are -100"):
        accumulate(model, batch, None, parts=parts)
