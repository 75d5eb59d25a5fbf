"""Exercise 12: what is wrong with the random words, where as many are drawn as should be."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.learn.exercise import Finding
from npbert.learn.exercises import masking_findings as says
from npbert.learn.exercises.masking_draws import Draws, is_off


def are_no_words(words: Array, draws: Draws) -> Finding | None:
    """Whether some of what was drawn is no ordinary word. words: all that was put in the place of another."""
    found = np.unique(words)
    if not len(words) or np.isin(found, draws.words).all():
        return None
    if len(words) > 50:
        if found.tolist() == [number for number in range(len(draws.words)) if number != draws.mask_id]:
            return says.NUMBERS_FOR_WORDS
        if not np.setdiff1d(found, draws.ids).size:
            return says.SPECIAL_OF_THE_SENTENCE
    return says.SPECIAL_RANDOM


def wrong_words(draws: Draws) -> Finding | None:
    """Whether each ordinary word is drawn equally often, and anew for each place."""
    drawn = draws.chosen & ~draws.is_mask & (draws.masked != draws.ids)
    words = draws.masked[drawn]
    missing = np.setdiff1d(draws.words, words)
    if not np.setdiff1d(words, draws.ids).size:
        return says.FROM_THE_SENTENCE
    if missing.size:
        return _never_drawn(missing, draws.words)
    several = [set(row[at].tolist()) for row, at in zip(draws.masked, drawn, strict=True) if at.sum() > 1]
    if len(several) > 50 and all(len(each) == 1 for each in several):
        return says.RANDOM_SHARED
    most = int(draws.words.max()) + 1
    true = np.bincount(draws.labels[draws.chosen], minlength=most)[draws.words]
    wanted = 1 - true / true.sum()  # a word that is the true one is not counted as a random one
    found = np.bincount(words, minlength=most)[draws.words] / len(words)
    return says.RANDOM_UNEVEN if is_off(found, wanted / wanted.sum(), len(words)).any() else None


def never_the_true_one(draws: Draws) -> Finding | None:
    """Whether a word that becomes a random one is always another one. Of two words, every second would be the same."""
    stays = ((draws.masked == draws.ids) & draws.chosen).sum() / draws.chosen.sum()
    others, count = 1 - 1 / len(draws.words), int(draws.chosen.sum())
    is_right = not is_off(stays, 1 - 0.8 - 0.1 * others, count)
    return says.NEVER_THE_TRUE_ONE if not is_right and not is_off(stays, 0.1, count) else None


def _never_drawn(missing: Array, words: Array) -> Finding:
    which = f"{len(missing)} of the {len(words)} words are"
    if missing.tolist() == words[-1:].tolist():
        which = "the last of the words is"
    elif missing.tolist() == words[:1].tolist():
        which = "the first of the words is"
    elif missing.tolist() == words[-len(missing) :].tolist():
        which = f"the last {len(missing)} of the {len(words)} words are"
    elif missing.tolist() == words[: len(missing)].tolist():
        which = f"the first {len(missing)} of the {len(words)} words are"
    return Finding(
        f"{which[:1].upper()}{which[1:]} never drawn as the random word.",
        "Each word of the vocabulary should have the same chance: rng.choice(vocabulary.word_ids). (rng.integers(low, "
        "high) gives numbers below high.)",
    )
