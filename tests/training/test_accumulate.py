"""A batch in parts has the gradient that it has as a whole, for every model, however its targets are spread."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import IGNORED, Batch, Tape, TapeError
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import LossOf
from npbert.training.accumulate import StepLosses, accumulate, split

SAME = 1e-12
MODELS = [name for name, setting in CATALOGUE.items() if isinstance(setting.make()[0], LossOf)]


def make(name, rows=(0, 1, 2)):
    """A model of the catalogue, and of its three sequences these; the first of them has a target."""
    layer, (batch,), _ = CATALOGUE[name].make()
    return layer.model, Batch(**{name: array[list(rows)] for name, array in vars(batch).items() if array is not None})


def check_parts(model, batch):
    """Assert that the batch in any number of parts adds the gradients that it has as a whole."""
    model.zero_grad()
    tape = Tape()
    losses = model.loss(batch, tape)
    model.loss_backward(1.0, tape)
    wanted = [parameter.grad.copy() for parameter in model.parameters()]
    largest = max(np.abs(gradient).max() for gradient in wanted)
    for parts in range(1, len(batch.input_ids) + 1):
        got = accumulate(model, batch, None, parts=parts)
        for parameter, one in zip(model.parameters(), wanted, strict=True):
            np.testing.assert_allclose(parameter.grad, (parts + 1) * one, rtol=0, atol=(parts + 1) * SAME * largest)
        np.testing.assert_allclose(got.losses, losses.means, rtol=SAME)
        assert got == StepLosses(got.losses, model.target_counts(batch), losses.counts_right)
        assert got.total == pytest.approx(sum(losses.means), rel=SAME)


@pytest.mark.parametrize("name", MODELS)
@given(st.lists(st.integers(0, 2), max_size=4))
def test_parts_add_up_to_the_whole(name, rows):
    check_parts(*make(name, [*rows, 0]))


def test_a_sequence_without_a_target_shares_a_part_with_one_that_has():
    model, batch = make("BertForPreTraining", [0, 1, 2, 0])
    batch.labels[:2] = IGNORED
    check_parts(model, batch)
    for parts in (1, 2, 3, 4):
        pieces = split(batch, parts)
        assert len(pieces) == min(parts, 2)
        assert all((piece.labels != IGNORED).any() for piece in pieces)


def test_a_backward_that_is_forgotten_is_noticed():
    model, batch = make("BertForMaskedLM")
    model.bert.encode_backward = lambda dh, tape: None
    with pytest.raises(TapeError, match="backward is over, but the tape still holds what Encoder kept"):
        accumulate(model, batch, None)


def test_dropout_is_drawn_anew_for_each_part():
    first = accumulate(*make("BertForMaskedLM", [0]), [3]).total
    both = accumulate(*make("BertForMaskedLM", [0, 0]), [3], parts=2).total
    assert abs(both - first) > 1e-6, "two draws of the same dropout would give the same loss"


@dataclass(eq=False)
class Weighted(Batch):
    """A batch with an array of one's own."""

    weights: Any = None


@pytest.mark.parametrize("ids", [np.arange(10).reshape(5, 2), np.arange(20).reshape(5, 2, 2)], ids=["texts", "pairs"])
@pytest.mark.parametrize("parts", range(1, 6))
def test_every_sequence_is_in_one_part_of_about_one_size_with_all_that_is_its_own(parts, ids):
    first = ids.reshape(5, -1)[:, 0]
    pieces = split(Weighted(ids, np.ones_like(ids), labels=first * 0.5, start_positions=first, weights=-first), parts)
    assert sorted(len(piece.labels) for piece in pieces) == [(5 + part) // parts for part in range(parts)]
    assert sorted(np.concatenate([piece.start_positions for piece in pieces])) == first.tolist()
    for piece in pieces:
        assert type(piece) is Weighted
        assert piece.input_ids.shape[1:] == ids.shape[1:]
        mine = piece.input_ids.reshape(len(piece.input_ids), -1)[:, 0]
        for found, factor in ((piece.labels, 0.5), (piece.start_positions, 1), (piece.weights, -1)):
            np.testing.assert_array_equal(found, mine * factor)
        assert piece.token_type_ids.all()
        assert piece.end_positions is None


@pytest.mark.parametrize("parts", [0, 4, -1])
def test_what_cannot_be_split(parts):
    model, batch = make("BertForPreTraining")
    with pytest.raises(ValueError, match=f"a batch of 3 sequences cannot be split into {parts} parts"):
        accumulate(model, batch, None, parts=parts)
    batch.labels[:] = IGNORED
    with pytest.raises(ValueError, match="labels hold no target: all 15 are -100"):
        accumulate(model, batch, None, parts=abs(parts) % 3 + 1)
