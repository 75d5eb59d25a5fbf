"""What knowing next to nothing gives: the numbers that a pre-trained model is held against."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from npbert import Batch, Tokenizer
from npbert.data.corpus import Corpus
from npbert.training.pretrain import baselines, unigrams
from tests.training.tiny import VOCABULARY, write_checkpoint

N = -100
BATCHES = [
    Batch(np.zeros((2, 3), int), labels=np.array([[N, 1, N], [2, 1, N]]), next_sentence_label=np.array([0, 1])),
    Batch(np.zeros((1, 2), int), labels=np.array([[0, N]]), next_sentence_label=np.array([0])),
]
SHARES = np.array([0.2, 0.5, 0.3])


def test_words_by_their_frequency_and_pairs_by_theirs():
    got = baselines(BATCHES, SHARES, ("mlm", "nsp"))
    words = -(2 * math.log(0.5) + math.log(0.3) + math.log(0.2)) / 4
    pairs = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert got == pytest.approx(
        {
            "loss": words + pairs,
            "mlm_loss": words,
            "mlm_accuracy": 2 / 4,
            "nsp_loss": pairs,
            "nsp_accuracy": 2 / 3,
        }
    )
    assert baselines(BATCHES, SHARES, ("",)) == pytest.approx({"loss": words, "accuracy": 2 / 4})


def test_pairs_that_are_all_alike():
    got = baselines(BATCHES[1:], SHARES, ("mlm", "sop"))
    assert (got["sop_loss"], got["sop_accuracy"]) == (0, 1)


@pytest.mark.parametrize(("max_pieces", "pieces"), [(1000, [0, 1, 2]), (2, [0, 2]), (1, [0])])
def test_frequencies_in_pieces_spread_over_the_corpus(tmp_path: Path, max_pieces, pieces):
    tokenizer = Tokenizer.from_pretrained(write_checkpoint(tmp_path / "checkpoint"))
    (tmp_path / "corpus.txt").write_text("the cat .\nthe dog .\n\nthe old cat .\n\nred\n", encoding="utf-8")
    texts = ["the cat . the dog .", "the old cat .", "red"]
    words = " ".join(texts[piece] for piece in pieces).split()
    wanted = np.array([1 + words.count(token) for token in VOCABULARY])
    got = unigrams(Corpus([tmp_path / "corpus.txt"]), tokenizer, max_pieces=max_pieces)
    np.testing.assert_allclose(got, wanted / wanted.sum())
