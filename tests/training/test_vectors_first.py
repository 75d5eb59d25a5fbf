"""A loss that compares all texts of a batch has the gradient of the whole batch, however the batch is cut."""

from dataclasses import replace

import numpy as np
import pytest

from npbert import Batch, BertForSentenceVectors, CoSENT, InBatchNegatives
from npbert.training.accumulate import accumulate
from tests.computing import on_threads
from tests.training.test_accumulate import check_parts
from tests.training.tiny import TINY

LENGTHS = np.array([[3, 7], [2, 2], [9, 4], [5, 5], [6, 3], [2, 8]])


def make(loss_function=None, *, dropout=0.0, dtype=np.float64):
    config = replace(TINY, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    rng = np.random.default_rng(1)
    return BertForSentenceVectors(config, rng=rng, dtype=dtype, loss_function=loss_function)


def batch_of(labels):
    ids = np.random.default_rng(2).integers(0, 30, (*LENGTHS.shape, 9))
    return Batch(ids, attention_mask=np.arange(9) < LENGTHS[..., None], labels=labels)


NUMBERS = np.arange(12).reshape(6, 2)
SCORES = np.array([0.3, 0.9, -0.2, 0.3, 0.5, 0.1])


@pytest.mark.parametrize(("loss", "labels"), [(InBatchNegatives(both_ways=True), NUMBERS), (CoSENT(), SCORES)])
def test_any_parts_have_the_gradient_of_the_whole(loss, labels):
    check_parts(make(loss), batch_of(labels))


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces of about ten tokens."""
    monkeypatch.setattr("npbert.compute.cut.LARGEST", 10 * TINY.hidden_size)


@pytest.mark.usefixtures("small_pieces")
def test_a_part_in_pieces_has_the_gradient_of_the_whole():
    test_any_parts_have_the_gradient_of_the_whole(InBatchNegatives(), NUMBERS)


@pytest.mark.usefixtures("small_pieces")
def test_both_passes_have_the_same_dropout_and_nothing_else_is_kept():
    """The second forward of each piece gives the vectors of the first."""
    model, found = make(dropout=0.4), {False: [], True: []}

    def forward(packed, tape):
        found[tape.keeps].append(type(model).forward(model, packed, tape))
        return found[tape.keeps][-1]

    model.forward = forward
    with on_threads(1):  # in the order of the parts
        accumulate(model, batch_of(NUMBERS), [3, 4], parts=2)
    first, second = found.values()
    assert len(first) == len(second) > 2
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
