"""A loss that compares all texts of a batch has the gradient of the whole batch, however the batch is cut."""

import numpy as np
import pytest

from npbert import Batch, BertConfig, BertForSentenceVectors, Tape
from npbert.layers import CoSENT, InBatchNegatives
from npbert.training.accumulate import accumulate, parts_of
from tests.computing import on_threads

CONFIG = BertConfig(30, 8, 2, 2, 12, max_position_embeddings=9)
LENGTHS = np.array([[3, 7], [2, 2], [9, 4], [5, 5], [6, 3], [2, 8]])


def make(loss_function=None, dropout=0.0, dtype=np.float64):
    config = BertConfig(**{**vars(CONFIG), "hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout})
    rng = np.random.default_rng(1)
    return BertForSentenceVectors(config, rng=rng, dtype=dtype, loss_function=loss_function)


def batch_of(labels):
    ids = np.random.default_rng(2).integers(0, 30, (*LENGTHS.shape, 9))
    return Batch(ids, attention_mask=np.arange(9) < LENGTHS[..., None], labels=labels)


NUMBERS = np.arange(12).reshape(6, 2)
SCORES = np.array([0.3, 0.9, -0.2, 0.3, 0.5, 0.1])


@pytest.mark.parametrize(("loss", "labels"), [(InBatchNegatives(both_ways=True), NUMBERS), (CoSENT(), SCORES)])
def test_any_parts_have_the_gradient_of_the_whole(loss, labels):
    model, batch, tape = make(loss), batch_of(labels), Tape()
    wanted = model.loss(batch, tape).loss
    model.loss_backward(0.5, tape)
    gradients = [parameter.grad for parameter in model.parameters()]
    scale = max(np.abs(gradient).max() for gradient in gradients)
    for parts in (1, 2, 4, 6):
        model.zero_grad()
        with on_threads(2):
            found = accumulate(model, batch, None, parts=parts, dloss=0.5)
        assert found.total == pytest.approx(wanted, rel=1e-14)
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            np.testing.assert_allclose(parameter.grad, gradient, rtol=0, atol=1e-13 * scale)


def test_both_passes_have_the_same_dropout():
    """The second forward of each part gives the vectors that the loss has seen."""
    model, batch = make(dropout=0.4), batch_of(NUMBERS)
    seen, again = [], []
    model.loss_function.forward = lambda vectors, texts, tape: seen.append(vectors) or 0.0
    model.loss_function.backward = lambda dloss, tape: np.zeros_like(seen[0])
    forward = model.forward
    model.forward = lambda packed, tape: again.append((forward(packed, tape), tape.keeps)) or again[-1][0]
    accumulate(model, batch, [3, 4], parts=3)
    first, second = ([vectors for vectors, keeps in again if keeps is kept] for kept in (False, True))
    assert len(first) == len(second) == 3
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(seen[0], make()(batch))


def test_parts_stay_small_however_large_the_batch_is():
    model = BertForSentenceVectors(BertConfig(9, 256, 1, 2, 8), rng=None)
    batch = Batch(np.ones((60, 2, 200), int), labels=np.arange(120).reshape(60, 2))
    rows = [part.sequences.num_rows for part in parts_of(model, batch, 0)]
    assert sum(rows) == 24_000
    assert max(rows) * 256 <= 2 * 400_000
