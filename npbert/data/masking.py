"""Masking for the masked language model: the choice of words, and their replacements."""

from collections.abc import Sequence

import numpy as np

from npbert.core import IGNORED
from npbert.data.vocabulary import Vocabulary
from npbert.io.errors import SHARE, at_least


def mask_words(
    input_ids: Sequence[int],
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    *,
    probability: float = 0.15,
    max_predictions: int = 5,
    whole_words: bool = False,
) -> tuple[list[int], list[int]]:
    """Return the ids with some words masked, and the labels: the true id at those words, IGNORED (−100) elsewhere.

    The share `probability` of the tokens is chosen, at least 1 and at most `max_predictions`, never a special token.
    (Pre-training sets no such limit.) Of the chosen, 80 % become [MASK], 10 % a random ordinary word, and 10 % stay, so
    the model needs a good vector for every word: it cannot know which ones count. (Devlin et al. 2018, section 3.1,
    task 1. As in its code, the share is of all tokens, special ones included.) In exercise 12 you write it.

    whole_words: mask all tokens of a word or none. Words longer than the rest of the share are skipped, except the
    first. (The paper's later code.)

    Raises: ValueError for ids without an ordinary word, unless 0 < probability ≤ 1, or unless max_predictions is at
    least 1.
    """
    SHARE.check("probability", probability)
    at_least(1).check("max_predictions", max_predictions)
    candidates = np.flatnonzero(vocabulary.is_word[input_ids])
    if len(candidates) == 0:
        raise ValueError(f"input_ids is {vocabulary.decode(input_ids)}, wanted a word to mask")
    count = min(max(1, round(probability * len(input_ids))), max_predictions, len(candidates))

    chosen: list[int] = []
    if whole_words:  # a token begins a word if it continues none, or follows a gap
        begins = ~vocabulary.continues[np.take(input_ids, candidates)] | (np.diff(candidates, prepend=-2) > 1)
        words = np.split(candidates, np.flatnonzero(begins[1:]) + 1)
        for index in rng.permutation(len(words)):
            if not chosen or len(chosen) + len(words[index]) <= count:
                chosen += words[index].tolist()
    else:
        chosen = rng.choice(candidates, size=count, replace=False).tolist()

    masked, labels = list(input_ids), [IGNORED] * len(input_ids)
    for position in chosen:
        labels[position] = input_ids[position]
        draw = rng.random()
        if draw < 0.8:
            masked[position] = vocabulary.mask_id
        elif draw < 0.9:
            masked[position] = int(rng.choice(vocabulary.word_ids))
    return masked, labels
