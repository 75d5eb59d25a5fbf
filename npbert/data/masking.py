"""Masking for the masked language model: which words are hidden, and what stands in their place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npbert.data.vocabulary import Vocabulary
from npbert.layers import IGNORED


def mask_words(
    input_ids: Sequence[int],
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    *,
    probability: float = 0.15,
    max_predictions: int = 5,
) -> tuple[list[int], list[int]]:
    """The ids with some words masked, and the labels: the true id at those words, IGNORED (−100) elsewhere.

    The share `probability` of the tokens is chosen, at least 1 and at most `max_predictions`, never a special token. Of
    the chosen, 80 % become [MASK], 10 % a random ordinary word, and 10 % stay as they are, so that the model must keep
    a good vector for every word: it cannot know which it will be asked for. (Devlin et al. 2018, section 3.1, task 1.
    As in its code, the share is of all tokens, special ones included.)

    Raises: ValueError when there is no ordinary word to mask, unless 0 < probability ≤ 1, or unless max_predictions is
    at least 1.
    """
    if not 0 < probability <= 1:
        raise ValueError(f"probability is {probability}, wanted more than 0 and at most 1")
    if max_predictions < 1:
        raise ValueError(f"max_predictions is {max_predictions}, wanted at least 1")
    candidates = np.flatnonzero(np.isin(input_ids, vocabulary.word_ids))
    if len(candidates) == 0:
        raise ValueError(f"there is no word to mask in {vocabulary.decode(input_ids)}")
    count = min(max(1, round(probability * len(input_ids))), max_predictions, len(candidates))

    masked, labels = list(input_ids), [IGNORED] * len(input_ids)
    for position in rng.choice(candidates, size=count, replace=False):
        labels[position] = input_ids[position]
        masked[position] = _stand_in(input_ids[position], vocabulary, rng)
    return masked, labels


def _stand_in(word: int, vocabulary: Vocabulary, rng: np.random.Generator) -> int:
    draw = rng.random()
    if draw < 0.8:
        return vocabulary.mask_id
    if draw < 0.9:
        return int(rng.choice(vocabulary.word_ids))
    return word
