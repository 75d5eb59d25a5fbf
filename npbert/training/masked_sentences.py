"""MaskedSentences: a few fixed masked sentences for sample predictions during training."""

from collections.abc import Sequence

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data.batch import Batch, pad_rows
from npbert.data.corpus import Corpus
from npbert.data.example import join_pair
from npbert.data.tokenizer import Tokenizer
from npbert.layers import Softmax
from npbert.models import TaskModel
from npbert.training.log import short

SENTENCES, GUESSES = 8, 5
_SHORTEST, _LONGEST, _TOKENS_A_MASK = 8, 24, 8


class MaskedSentences:
    """Up to eight sentences, spread over a corpus, with one to three words of each masked.

    They have 8 to 24 tokens, or are the beginnings of longer ones.
    """

    def __init__(self, corpus: Corpus, tokenizer: Tokenizer, *, max_length: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        longest = min(_LONGEST, max_length)
        self.tokenizer = tokenizer
        count = min(SENTENCES, len(corpus))
        pieces = [tokenizer.pieces(corpus.read(number * len(corpus) // count)) for number in range(count)]
        chosen = [_choose(tokenizer, piece, -(-SENTENCES // count), longest, rng) for piece in pieces]
        rows = [join_pair(ids, None, tokenizer)[0] for sentences in chosen for ids in sentences][:SENTENCES]
        self.labels = [_hide(ids, tokenizer, rng) for ids in rows]
        self.input_ids = [
            [tokenizer.mask_id if label != IGNORED else index for index, label in zip(ids, labels, strict=True)]
            for ids, labels in zip(rows, self.labels, strict=True)
        ]

    def show(self, model: TaskModel) -> dict[str, object]:
        """Return the model's predictions: for each sentence its tokens, and for each masked one its place, the true
        token with its probability, and the five most probable tokens. Empty without a sentence."""
        if not self.input_ids:
            return {}
        batch = Batch(
            pad_rows(self.input_ids, self.tokenizer.pad_id),
            attention_mask=pad_rows([[1] * len(ids) for ids in self.input_ids], 0),
            labels=pad_rows(self.labels, IGNORED),  # only labelled places get logits
        )
        output = model(batch)
        probabilities = Softmax()(getattr(output, "prediction_logits", output).astype(float))
        rows, sentences = iter(probabilities), []
        for ids, labels in zip(self.input_ids, self.labels, strict=True):
            places = [place for place, label in enumerate(labels) if label != IGNORED]
            hidden = [self._hidden(place, labels[place], next(rows)) for place in places]
            sentences.append({"tokens": self.tokenizer.decode(ids), "hidden": hidden})
        return {"kind": "masked", "sentences": sentences}

    def _hidden(self, place: int, label: int, probabilities: Array) -> dict[str, object]:
        best = np.argsort(-probabilities, kind="stable")[:GUESSES]
        guesses = [[token, short(probabilities[i])] for token, i in zip(self.tokenizer.decode(best), best, strict=True)]
        (token,) = self.tokenizer.decode([label])
        return {"place": place, "token": token, "probability": short(probabilities[label]), "guesses": guesses}


def _choose(
    tokenizer: Tokenizer, sentences: list[list[int]], count: int, longest: int, rng: np.random.Generator
) -> list[list[int]]:
    """Return `count` sentences of a piece, in order."""
    fitting = [ids for ids in sentences if _SHORTEST <= len(ids) + 2 <= longest]
    fitting = fitting or [ids[: longest - 2] for ids in sentences]
    known = [ids for ids in fitting if tokenizer.is_word[ids].any()]
    return [known[number] for number in sorted(rng.permutation(len(known))[:count])]


def _hide(ids: Sequence[int], tokenizer: Tokenizer, rng: np.random.Generator) -> list[int]:
    """Return the labels of a sentence: the true ids of whole words, one for every eight tokens, and −100 elsewhere.

    Words are masked before punctuation.
    """
    is_start = tokenizer.is_word & ~tokenizer.continues
    starts = [place for place, index in enumerate(ids) if is_start[index]] or [1]  # a byte-pair word has no start there
    words = [place for place in starts if tokenizer.decode([ids[place]])[0].isalpha()] or starts
    chosen = set(rng.permutation(words)[: max(1, len(ids) // _TOKENS_A_MASK)].tolist())
    labels, is_hidden = [], False
    for place, index in enumerate(ids):
        is_hidden = place in chosen or (is_hidden and bool(tokenizer.continues[index]))
        labels.append(int(index) if is_hidden else IGNORED)
    return labels
