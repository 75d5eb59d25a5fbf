"""Exercise 12: what is wrong with what becomes of the chosen words: [MASK], a random word, or nothing."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.learn.exercise import Finding
from npbert.learn.exercises import masking_findings as says
from npbert.learn.exercises.masking_draws import Draws, is_off
from npbert.learn.exercises.masking_words import are_no_words, wrong_words


def wrong_stand_ins(draws: Draws) -> Finding | None:
    """Where the shares are not 80, 10 and 10 %, or not drawn for each word; or what is wrong with the random words."""
    chosen, is_mask = draws.chosen, draws.is_mask
    true, now = draws.labels[chosen], draws.masked[chosen]
    stays = now == true
    words = now[~is_mask[chosen] & ~stays]
    masks = is_mask.sum(axis=1)
    if ((masks == 0) | (masks == draws.wanted)).all() and masks.any() and not masks.all():
        return says.ONE_DRAW
    no_words = are_no_words(words, draws)
    if no_words:
        return no_words
    if len(words) > 50 and len(set(words.tolist())) == 1:
        return says.SAME_RANDOM
    number = len(draws.words)
    found: Array = np.array([is_mask[chosen].mean(), len(words) / len(now), stays.mean()])
    for (mask, word), finding in _SHARES.items():
        wanted: Array = np.array([mask, word * (1 - 1 / number), 1 - mask - word + word / number])
        if not is_off(found, wanted, len(now)).any():
            return finding or _dependent(draws) or wrong_words(draws)
    if masks.min() == masks.max() and 0 < masks[0] < draws.wanted:
        return says.DEALT_OUT
    percent = ", ".join(
        f"{share:.0%} {what}" for share, what in zip(found, ("[MASK]", "another word", "stay"), strict=True)
    )
    return Finding(
        f"The shares are not 80, 10 and 10 %, but: {percent}.",
        "Draw one number for each chosen word: below 0.8 it becomes [MASK], from there to 0.9 a random word, and from "
        "0.9 it stays.",
    )


def _dependent(draws: Draws) -> Finding | None:
    """Where the shares are right, whether it is chance alone that a chosen word becomes [MASK]."""
    masks = draws.is_mask.sum(axis=1)
    if masks.min() == masks.max():
        return says.DEALT_OUT
    times = draws.chosen.sum(axis=0)
    share = draws.is_mask.sum(axis=0)[times > 0] / times[times > 0]
    return says.DEPENDS_ON_PLACE if is_off(share, 0.8, times[times > 0]).any() else None


_SHARES: dict[tuple[float, float], Finding | None] = {
    (0.8, 0.1): None,
    (1.0, 0.0): says.ALWAYS_MASK,
    (0.8, 0.0): says.NO_RANDOM,
    (0.8, 0.2): says.NO_SAME,
    (0.8, 0.02): says.SECOND_DRAW,
    (0.72, 0.1): says.MASK_REPLACED,
    (0.0, 0.9): says.MASK_OVERWRITTEN,
    (0.9, 0.0): says.WORD_OVERWRITTEN,
    (0.1, 0.8): says.MASK_AND_WORD_SWAPPED,
    (0.1, 0.1): says.MOST_STAY,
    (0.8, 0.18): says.SECOND_DRAW_OF_NINE_TENTHS,
}
"""By the shares of [MASK] and of a random word (which may be the true one): what they come from."""
