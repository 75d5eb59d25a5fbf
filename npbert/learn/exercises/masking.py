"""Exercise 12: masking. Facts of many calls on one text; a share is wrong if chance does not explain it.

What is wanted comes from the text of the exercise and from the library, and never from the answer.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import SPECIAL_TOKENS, Vocabulary, load_dialogue, mask_words
from npbert.gradcheck import GradientError
from npbert.learn.blank import Blank, Numbers, returned

SIGMAS = 6
"""The allowed deviation of a share by chance."""

SAMPLES = (load_dialogue(9).vocabulary, 9), (Vocabulary([*SPECIAL_TOKENS, *"ab"]), 99)
"""Vocabularies, each with max_predictions: the words of the toy dialogue, and two letters, as there a random word often
is the true one."""
CALLS = 8, 1000
"""By seed: a few calls with the words, for the facts of single ones; and many with each, for the shares, too."""

CHOICE, KIND = r"rng\.\w|candidates\[|return", r"< [\d(]|0?\.8\b|return"
LAST_KIND, LABELS, MASKED = (rf"(?s:.*){last}|return" for last in (r"< [\d(]", r"labels\[", r"(masked\[|word_ids)"))
"""What ends in the line to look at: the first that draws or compares, and the last that compares or writes."""


def draws(function: Any, seed: int) -> Iterator[Numbers]:
    """Return a number once all facts are as wanted. Raises: GradientError for the first that is not."""
    for words, most in SAMPLES[: 1 + seed]:
        word = words.word_ids.tolist() * 6
        ids = np.array([words.cls_id, *word[:12], words.sep_id, *word[5:14], words.sep_id, *[words.pad_id] * 4])
        *called, again = (call(function, ids, words, most, number) for number in (*range(CALLS[seed]), 0))
        if not np.array_equal(called[0], again) or np.ptp(called, axis=0).max() == 0:
            raise GradientError("the result does not follow from rng, or not from rng alone; draw only from rng")
        for fact in facts_of(ids, words, most, *np.stack(called, axis=1)):
            check_fact(function, *fact)
    yield {"the facts": np.ones(1)}


def call(function: Any, ids: Array, words: Vocabulary, most: int, seed: int) -> Array:
    """Return masked and labels, (2, N). Raises: GradientError for a wrong result; errors of the function."""
    given, rng = ids.tolist(), np.random.default_rng(seed)
    found = returned(function(given, words, rng, probability=1.0, max_predictions=most), "masked, labels")
    if not np.array_equal(given, ids):
        raise GradientError("input_ids itself has changed; write into a copy, masked = list(input_ids)")
    if found.shape != (2, len(ids)) or found.dtype.kind not in "iu":
        wanted = f"two lists, masked and labels, of {len(ids)} whole numbers, as input_ids (np.zeros makes floats)"
        raise GradientError(f"the result has shape {found.shape} and dtype {found.dtype}, wanted {wanted}")
    return found


def check_fact(function: Any, says: str, where: str, found: Array, wanted: Any, cases: int = 0) -> None:
    """Raise GradientError unless the numbers are as wanted: exactly, or as far as chance explains in so many cases."""
    by_chance = SIGMAS * np.sqrt(wanted * (1 - wanted) / cases) + 1e-9 if cases else 0
    wrong = np.argwhere(np.abs(found - wanted) > by_chance)
    if len(wrong):
        place = tuple(wrong[0])
        right = np.broadcast_to(wanted, found.shape)[place]
        lines, first = inspect.getsourcelines(function)
        seen = re.search(where, "".join(lines))
        number = seen.string[: seen.end()].count("\n") if seen else 0
        told = says.format(*place, found=found[place], wanted=right)
        raise GradientError(f"in the result, {told}; look around line {first + number}, {lines[number].strip()}")


def facts_of(ids: Array, words: Vocabulary, most: int, masked: Array, labels: Array) -> Iterator[tuple[Any, ...]]:
    """Yield the facts of these calls, as for check_fact: those of single ones, and of many the shares, too. What comes
    later may only follow from a wrong one. masked, labels: (calls, N)"""
    chosen, is_mask, is_word = labels != IGNORED, masked == words.mask_id, words.is_word[ids]
    where = CHOICE if (chosen & (masked == ids)).sum() > 2 else LABELS  # perhaps words that stay have no label
    calls, number = len(masked), is_word.sum()
    count = min(most, number)
    yield "{found} places have a label, wanted {wanted}, which is count", where, chosen.sum(axis=1), count
    of_special = np.where(is_word, IGNORED, labels)
    yield "labels[{1}] is {found}, but input_ids[{1}] is no ordinary word", CHOICE, of_special, IGNORED
    says = f"labels[{{1}}] is {{found}}, wanted {{wanted}}, which is input_ids[{{1}}], or {IGNORED}"
    yield says, LABELS, np.where(chosen, labels, ids), ids
    says = f"masked[{{1}}] is {{found}}, wanted {{wanted}}, as labels[{{1}}] is {IGNORED}"
    yield says, MASKED, np.where(chosen, ids, masked), ids
    if calls < CALLS[-1]:
        return

    is_random, random_word = ~is_mask & (masked != ids), 1 / len(words.word_ids)
    says = "{found:.1%} of the chosen words become [MASK], wanted {wanted:.1%}"
    yield says, KIND, is_mask[chosen].mean(), 0.8, chosen.sum()
    says = "{found:.1%} of the chosen words become another word, wanted {wanted:.1%}"
    yield says, LAST_KIND, is_random[chosen].mean(), 0.1 * (1 - random_word), chosen.sum()
    pairs = np.triu(np.outer(is_word, is_word), 1) * (count * (count - 1) / (number * (number - 1)))
    says = "input_ids[{0}] and input_ids[{1}] are both chosen in {found:.1%} of the calls, wanted {wanted:.1%}"
    yield says, CHOICE, np.triu(1 * chosen.T @ chosen, 1) / calls, pairs, calls
    says = "all chosen words become [MASK] in {found:.1%} of the calls, wanted {wanted:.1%}"
    yield says, KIND, np.mean(is_mask.sum(axis=1) == count), 0.8**count, calls

    often = chosen[:, is_word].sum(axis=0)
    says = "{found:.1%} of the words chosen at one place become [MASK], wanted {wanted:.1%}"
    yield says, KIND, is_mask[:, is_word].sum(axis=0) / often, 0.8, often.min()

    random, size = masked[is_random], len(words.tokens)
    likely = words.is_word - np.bincount(ids[is_word], minlength=size) / number  # a true word does not show
    says = "{found:.1%} of the random words, except true ones, are the word {0}, wanted {wanted:.1%}"
    yield says, MASKED, np.bincount(random, minlength=size) / len(random), likely / likely.sum(), len(random)
    says = "a random word is the same as the one before in {found:.1%} of the cases, wanted {wanted:.1%}"
    yield says, MASKED, np.mean(np.diff(random) == 0), random_word, len(random) - 1


BLANK = Blank(right=mask_words, given=5, numbers=draws, seeds=range(2))
