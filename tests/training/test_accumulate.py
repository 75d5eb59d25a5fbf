"""A batch in parts has the gradient that it has as a whole, for every model, however its targets are spread."""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from npbert import IGNORED, Batch, Reads, Tape
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import LossOf
from npbert.io import ALONE
from npbert.training.accumulate import StepLosses, accumulate, gradients_of, parts_of
from npbert.training.parallel import Shares, add_up
from tests.computing import in_pieces, on_threads
from tests.tables import one_in

SAME = 1e-14
MODELS = [name for name, setting in CATALOGUE.items() if isinstance(setting.make()[0], LossOf)]
MODELS.remove("ReplacedTokenDetection")  # which draws its words anew for each part


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
        with on_threads(2):
            got = accumulate(model, batch, None, parts=parts)
        for parameter, one in zip(model.parameters(), wanted, strict=True):
            np.testing.assert_allclose(parameter.grad, (parts + 1) * one, rtol=0, atol=(parts + 1) * SAME * largest)
        np.testing.assert_allclose(got.losses, losses.means, rtol=SAME)
        assert got == StepLosses(got.losses, model.target_counts(batch), losses.counts_right)
        assert got.total == pytest.approx(sum(losses.means), rel=SAME)


def test_dropout_is_drawn_anew_for_each_part():
    first = accumulate(*make("BertForMaskedLM", [0]), [3]).total
    assert abs(accumulate(*make("BertForMaskedLM", [0, 0]), [3], parts=2).total - first) > 1e-6


@pytest.mark.parametrize("name", one_in(4, MODELS))
def test_parts_add_up_to_the_whole(name):
    for rows in ([2, 1, 1, 0], [0, 2]):
        check_parts(*make(name, rows))


def test_a_sequence_without_a_target_shares_a_part_with_one_that_has():
    model, batch = make("BertForPreTraining", [0, 1, 2, 0])
    batch.labels[:2] = IGNORED
    check_parts(model, batch)
    for parts in (1, 2, 3, 4):
        pieces = parts_of(model, batch, parts)
        assert len(pieces) == min(parts, 2)
        assert all((piece.batch.labels != IGNORED).any() for piece in pieces)


@dataclass(eq=False)
class Weighted(Batch):
    """A batch with an array of one's own."""

    weights: Any = None


LENGTHS = [9, 2, 5, 3, 7, 1]


def test_parts_are_neighbours_in_length_of_about_one_size_with_all_that_is_their_own():
    number = np.arange(6)
    ids, mask = np.broadcast_to(number[:, None], (6, 10)), np.arange(10) < np.array(LENGTHS)[:, None]
    batch = Weighted(ids, attention_mask=mask * 1, labels=number * 0.5, weights=-number)
    model, _ = make("BertForSequenceClassification")
    model.reads = Reads("first", "number")
    model.config = replace(model.config, vocab_size=6, max_position_embeddings=10)
    known = {1: [[*range(6)]], 2: [[1, 2, 3, 5], [0, 4]], 6: [[1, 5], [2, 3], [4], [0]]}
    for parts, wanted in known.items():
        pieces = [piece.batch for piece in parts_of(model, batch, parts)]
        assert [piece.input_ids[:, 0].tolist() for piece in pieces] == wanted
        for piece, mine in zip(pieces, wanted, strict=True):
            assert type(piece) is Weighted and piece.end_positions is None
            np.testing.assert_array_equal([piece.labels, piece.weights], [np.array(mine) * 0.5, -np.array(mine)])


def test_no_gradient_too_many_is_held(monkeypatch):
    model, batch = make("BertForPreTraining", [0, 1, 2, 1, 0, 2])
    held = []

    def watched(*sums):
        left = add_up(*sums)
        held.append(len(left))
        return left

    monkeypatch.setattr(import_module("npbert.training.accumulate"), "add_up", watched)
    for threads in (1, 2):
        held.clear()
        with on_threads(threads), in_pieces(50, 1):
            gradients_of(model, batch, [3], Shares(model, ALONE), parts=5)
        assert len(held) == -(-5 // threads) and max(held) < 3


def test_a_batch_without_a_target():
    model, batch = make("BertForPreTraining")
    batch.labels[:] = IGNORED
    for parts in (1, 2, 4):
        with pytest.raises(ValueError, match="labels has no target: all 15 are -100"):
            accumulate(model, batch, None, parts=parts)
