"""Exercise 12: masking, checked by the statistics of many draws."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Vocabulary, load_dialogue
from npbert.data.masking import mask_words
from npbert.gradcheck import GradientError
from npbert.learn.exercise import Numbers, Part, returned

CALLS, SIGMAS = (1000, 400), 6
"""The number of calls, and the allowed deviation of a share by chance."""

OPTIONS = ((0.4, 9), (0.4, 20), (0.2, 20), (1.0, 99))
"""The probability and max_predictions of calls."""
COUNT = "how many places have a label"
UNTRUE, UNLABELLED = "the count of labels that are not the true word", "the count of words replaced without a label"
SPECIAL, NO_WORD = "the count of [CLS], [SEP] and [PAD] chosen", "the count of random words that are not ordinary words"
CANDIDATES, PAIRS = "how often each candidate is chosen", "how often two candidates are chosen together"
SHARES = "the share of [MASK]", "the share of another word", "the share of the word itself"
RANDOM, SAME = "how often each word is the random one", "how often two random words of a call are the same"
PLACES, SPREAD = "how often each place becomes [MASK]", "the variance of the number of [MASK] in a call"


def given_of(seed: int) -> tuple[Vocabulary, list[int]]:
    """Return the words of the toy dialogue, or two letters; and the ids of a text, with some special tokens."""
    words = load_dialogue(9).vocabulary if seed == 0 else Vocabulary("ab")
    ids = words.word_ids.tolist() * (1 + 5 * seed)
    return words, [words.cls_id, *ids[:12], words.sep_id, *ids[5:14], words.sep_id, *[words.pad_id] * 4]


def run(thing: Any, seed: int) -> Iterator[Numbers]:
    """Return statistics of many calls: counts, and shares, which become the right ones if chance explains the
    difference."""
    vocabulary, ids = given_of(seed)

    def masked_and_labels(number: int, probability: float, most: int) -> Array:
        given, rng = list(ids), np.random.default_rng(number)
        found = returned(thing(given, vocabulary, rng, probability=probability, max_predictions=most), "masked, labels")
        if given != ids:
            raise GradientError("input_ids itself has changed; write into a copy, masked = list(input_ids)")
        if found.shape != (2, len(ids)) or found.dtype.kind not in "iu":
            given_back = f"the result has shape {found.shape} and dtype {found.dtype}"
            wanted = f"two lists, masked and labels, of {len(ids)} whole numbers, as input_ids (np.zeros makes floats)"
            raise GradientError(f"{given_back}, wanted {wanted}")
        return found

    if not np.array_equal(masked_and_labels(0, *OPTIONS[0]), masked_and_labels(0, *OPTIONS[0])):
        raise GradientError("a second call with the same generator gives another result; draw only from rng")
    counts = [[(masked_and_labels(n, *each)[1] != IGNORED).sum() for n in range(60)] for each in OPTIONS]
    yield {COUNT: np.array(counts, float)}

    draws = np.array([masked_and_labels(number, *OPTIONS[3 * seed]) for number in range(CALLS[seed])])
    masked, labels = draws[:, 0], draws[:, 1]
    true, chosen, is_word = np.array(ids), labels != IGNORED, vocabulary.is_word[ids]
    is_mask = chosen & (masked == vocabulary.mask_id)
    is_other = chosen & ~is_mask & (masked != true)
    yield {
        UNTRUE: np.array(0.0 + np.sum(chosen & (labels != true))),
        UNLABELLED: np.array(0.0 + np.sum(~chosen & (masked != true))),
        SPECIAL: np.array(0.0 + np.sum(chosen[:, ~is_word])),
        NO_WORD: np.array(0.0 + np.sum(~np.isin(masked[is_other], vocabulary.word_ids))),
    }
    among, places = chosen[:, is_word].astype(float), chosen.sum(axis=0)
    number, count = among.shape[1], chosen[0].sum()
    together = (among.T @ among / len(draws))[~np.eye(number, dtype=bool)]
    yield {
        CANDIDATES: by_chance(among.mean(axis=0), count / number, len(draws)),
        PAIRS: by_chance(together, count * (count - 1) / (number * (number - 1)), len(draws)),
    }
    others, words = masked[is_other], vocabulary.word_ids
    other = 0.1 * (1 - 1 / len(words))
    of_word = 1 - np.array([np.mean(true[is_word] == word) for word in words])  # the true word does not show
    several = [row[at] for row, at in zip(masked, is_other, strict=True) if at.sum() > 1 and seed == 0]
    twice = [one == other for one, other, *_ in several]
    shares = np.array([np.mean(part[chosen]) for part in (is_mask, is_other, masked == true)])
    spread, wanted = is_mask.sum(axis=1).var(), 0.8 * 0.2 * count
    yield {
        **dict(zip(SHARES, by_chance(shares, np.array([0.8, other, 0.2 - other]), chosen.sum()), strict=True)),
        RANDOM: by_chance(np.array([np.mean(others == word) for word in words]), of_word / of_word.sum(), len(others)),
        SAME: by_chance(np.array(np.mean(twice or [0])), 1 / len(words), len(twice)),
        PLACES: by_chance(is_mask.sum(axis=0) / np.maximum(places, 1), 0.8 * (places > 0), places),
        SPREAD: np.array(wanted if 0.7 < spread / wanted < 1.4 else spread),
    }


def by_chance(found: Array, wanted: Any, count: Any) -> Array:
    """Return the shares, or the right ones if chance explains the difference. count: the number of cases of each."""
    wanted = np.broadcast_to(wanted, found.shape)
    far = SIGMAS * np.sqrt(wanted * (1 - wanted) / np.maximum(count, 1)) + 1e-9
    return np.where(np.abs(found - wanted) <= far, wanted, found)


PART = Part(right=mask_words, given=5, numbers=run, seeds=(0, 1), is_mended=False)
