"""Losses of vectors of texts beside torch: BERT by transformers, and pooling and losses by torch's own means."""

from itertools import product
from operator import itemgetter

import numpy as np
import pytest

from npbert import Batch, BertConfig, BertForSentenceVectors, Tape
from npbert.models.sentence_vectors import LOSSES
from npbert.training.accumulate import accumulate
from tests.later import later
from tests.parity import torch
from tests.parity.torch_comparison import assert_close, assert_gradients_close, gradients
from tests.tables import one_of_each

transformers = later("transformers", "transformers")

pytestmark = pytest.mark.torch

CONFIG = BertConfig(
    40, 12, 2, 3, 20, max_position_embeddings=9, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
)


def cosines(a, b):
    return torch.nn.functional.cosine_similarity(a, b, dim=-1)


def in_batch(vectors, both_ways=False):
    """The texts of the batch after the queries, the own ones first."""
    queries, texts = vectors[:, 0], vectors[:, 1:].transpose(0, 1).flatten(0, 1)
    scores = 20 * cosines(queries[:, None], texts[None])
    own = torch.arange(len(queries))
    loss = torch.nn.functional.cross_entropy(scores, own)
    back = torch.nn.functional.cross_entropy(scores[:, : len(queries)].T, own)
    return (loss + back) / 2 if both_ways else loss


def cosent(vectors, scores):
    cos = 20 * cosines(vectors[:, 0], vectors[:, 1])
    excess = (cos[None] - cos[:, None])[scores[:, None] > scores[None]]
    return torch.logsumexp(torch.cat([torch.zeros(1), excess]), dim=0)


def triplet(vectors):
    return torch.nn.TripletMarginLoss(margin=5.0, eps=0.0)(*vectors.unbind(1))


THEIRS = {
    "in-batch": (3, lambda vectors, _: in_batch(vectors)),
    "both-ways": (3, lambda vectors, _: in_batch(vectors, both_ways=True)),
    "triplet": (3, lambda vectors, _: triplet(vectors)),
    "cosent": (2, cosent),
    "cosine": (2, lambda v, scores: torch.nn.functional.mse_loss(cosines(v[:, 0], v[:, 1]), scores)),
}


@pytest.mark.parametrize(("name", "pooling"), one_of_each(itemgetter(0), product(LOSSES, ["mean", "cls", "max"])))
def test_losses_and_all_gradients_are_theirs_however_the_batch_is_cut(name, pooling, tmp_path):
    count, loss_of = THEIRS[name]
    rng, size = np.random.default_rng(3), 6
    ours = BertForSentenceVectors(CONFIG, rng=rng, dtype=np.float64, pooling=pooling, loss_function=LOSSES[name]())
    for parameter in ours.parameters():
        parameter.value += 0.1 * rng.standard_normal(parameter.value.shape)
    ours.bert.save_pretrained(tmp_path)
    theirs = transformers.BertModel.from_pretrained(tmp_path, dtype=torch.float64, add_pooling_layer=False)
    mask = np.arange(9) < rng.integers(2, 10, (size, count, 1))
    scores = rng.uniform(-1, 1, size).round(1)
    labels = np.arange(size * count).reshape(size, count) if count == 3 else scores
    batch = Batch(rng.integers(1, 40, mask.shape), attention_mask=mask.astype(int), labels=labels)
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    h = theirs(**{key: torch.tensor(array.reshape(-1, 9)) for key, array in inputs.items()}).last_hidden_state
    real = torch.tensor(mask.reshape(-1, 9, 1))
    pooled = {
        "mean": (h * real).sum(1) / real.sum(1),
        "cls": h[:, 0],
        "max": h.masked_fill(~real, -torch.inf).amax(1),
    }[pooling].reshape(size, count, -1)
    loss = loss_of(pooled, torch.tensor(scores))
    loss.backward()
    tape = Tape()
    assert_close("the loss", ours.loss(batch, tape).loss, loss)
    ours.loss_backward(1.0, tape)
    assert_gradients_close(gradients(ours.bert, theirs))
    ours.zero_grad()
    accumulate(ours, batch, None, parts=4)
    assert_gradients_close(gradients(ours.bert, theirs))
