"""Masked sentences for the page, from text: [MASK] says what is to be guessed, and an answer what is right there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.core import IGNORED
from npbert.data.example import Example
from npbert.data.tokenizer import SPECIAL, Tokenizer
from npbert.models import BertForMaskedLM
from npbert.pages.number.export import MOST_TOKENS
from npbert.suggest import did_you_mean

MASK = SPECIAL["mask_id"]


def masked_sentences(
    model: BertForMaskedLM, tokenizer: Tokenizer, texts: Sequence[str], answers: Sequence[str] = ()
) -> list[Example]:
    """An example for each text, in which the answers stand for its [MASK]s, from the first text to the last.

    answers: a token for every [MASK] of all texts. Without any, the model's own best guess is taken for the answer.

    Raises: ValueError for a text without [MASK] or too long for the page or the model, for more or fewer answers than
    there are [MASK]s, and for an answer that is no token of the vocabulary.
    """
    encodings = tokenizer.encode(texts)
    longest = min(MOST_TOKENS, model.config.max_position_embeddings)
    for text, encoding in zip(texts, encodings, strict=True):
        if tokenizer.mask_id not in encoding.ids:
            hint = f" (in capitals: {MASK})" if MASK.lower() in text else ""
            raise ValueError(f"there is no {MASK}{hint} in {text[:60]!r}, so nothing is to be guessed")
        if len(encoding.ids) > longest:
            raise ValueError(f"{text[:60]!r} has {len(encoding.ids)} tokens, wanted at most {longest}")
    masks = sum(encoding.ids.count(tokenizer.mask_id) for encoding in encodings)
    if answers and len(answers) != masks:
        given = f"{len(answers)} answer{'s' * (len(answers) > 1)}"
        raise ValueError(f"{given} for {masks} {MASK}: wanted one for each, or none")
    right = iter(_ids_of(answers, tokenizer) if answers else _guesses(model, tokenizer, encodings))
    return [_example(encoding, tokenizer.mask_id, right) for encoding in encodings]


def vocabulary_of(tokenizer: Tokenizer) -> list[str]:
    """The V tokens by id."""
    return tokenizer.decode(range(len(tokenizer)))


def _example(encoding: Any, mask_id: int, right: Any) -> Example:
    labels = [next(right) if index == mask_id else IGNORED for index in encoding.ids]
    return Example(encoding.ids, encoding.type_ids, labels, 0)


def _ids_of(answers: Sequence[str], tokenizer: Tokenizer) -> list[int]:
    vocabulary = {token: index for index, token in enumerate(vocabulary_of(tokenizer))}
    unknown = [answer for answer in answers if answer not in vocabulary]
    if unknown:
        hint = did_you_mean(unknown[0], list(vocabulary))
        raise ValueError(f"the answer {unknown[0]!r} is no token of the model's vocabulary{hint}")
    return [vocabulary[answer] for answer in answers]


def _guesses(model: BertForMaskedLM, tokenizer: Tokenizer, encodings: Sequence[Any]) -> list[int]:
    """The most probable token at each [MASK]."""
    guesses: list[int] = []
    for encoding in encodings:
        batch = tokenizer.batch([encoding])
        batch.labels = np.where(batch.input_ids == tokenizer.mask_id, 0, IGNORED)  # a label says: predict the word here
        guesses += model(batch).argmax(axis=-1).tolist()
    return guesses
