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

SIGMAS = 6
"""The allowed deviation of a share by chance."""

COUNT, LABELS = "how many places have a label", "the count of changed or chosen places without the true label"
CHOSEN, MASKED = "how often two places are chosen together", "how often two places become [MASK] together"
SHARES = "the mix of [MASK], another word and the word itself"
RANDOM, SAME = "how often each word is the random one", "how often two random words of a call are the same"


def given_of(seed: int) -> tuple[Vocabulary, list[int], dict[str, Any], int]:
    """Return the words of the toy dialogue, or two letters; the ids of a text, with some special tokens; options; and
    the number of calls."""
    words = load_dialogue(9).vocabulary if seed == 0 else Vocabulary("ab")
    ids = words.word_ids.tolist() * (1 + 5 * seed)
    text = [words.cls_id, *ids[:12], words.sep_id, *ids[5:14], words.sep_id, *[words.pad_id] * 4]
    options = {"probability": 0.4 + 0.6 * seed, "max_predictions": 9 + 90 * seed}
    return words, text, options, 1000 - 600 * seed


def run(thing: Any, seed: int) -> Iterator[Numbers]:
    """Return statistics of many calls: counts, and shares, which become the right ones if chance explains the
    difference."""
    vocabulary, ids, options, calls = given_of(seed)
    draws = np.array([masked_and_labels(thing, n, ids, vocabulary, options) for n in range(calls)])
    if not np.array_equal(draws[0], masked_and_labels(thing, 0, ids, vocabulary, options)):
        raise GradientError("a second call with the same generator gives another result; draw only from rng")
    masked, labels = draws[:, 0], draws[:, 1]
    true, words, is_word = np.array(ids), vocabulary.word_ids, vocabulary.is_word[ids]
    chosen = labels != IGNORED
    is_mask, is_same = chosen & (masked == vocabulary.mask_id), chosen & (masked == true)
    is_other = chosen & ~is_mask & ~is_same
    changed = chosen | (masked != true)
    yield {COUNT: chosen.sum(axis=1, dtype=float), LABELS: np.sum(changed & (labels != true), dtype=float)}

    number, count = is_word.sum(), chosen[0].sum()
    both = np.outer(is_word, is_word) * (count * (count - 1) / (number * (number - 1)))
    np.fill_diagonal(both, is_word * count / number)
    other = 0.1 * (1 - 1 / len(words))
    shares = np.array([np.mean(part[chosen]) for part in (is_mask, is_other, is_same)])
    others = masked[is_other]
    differs = 1 - np.array([np.mean(true[is_word] == word) for word in words])  # the true word does not show
    drawn, likely = np.zeros((2, len(vocabulary)))
    np.add.at(drawn, others, 1 / max(len(others), 1))
    likely[words] = differs / differs.sum()
    twice = [row[at][0] == row[at][1] for row, at in zip(masked, is_other, strict=True) if at.sum() > 1 and seed == 0]
    yield {
        SHARES: by_chance(shares, np.array([0.8, other, 0.2 - other]), chosen.sum()),
        CHOSEN: by_chance(together(chosen), both, calls),
        MASKED: by_chance(together(is_mask), 0.64 * both + 0.16 * np.diag(np.diag(both)), calls),
        RANDOM: by_chance(drawn, likely, len(others)),
        SAME: by_chance(np.array(np.mean(twice or [0])), 1 / len(words), len(twice)),
    }


def masked_and_labels(
    thing: Any, number: int, ids: list[int], vocabulary: Vocabulary, options: dict[str, Any]
) -> Array:
    """Return the result of a call with the generator of this number. Raises: GradientError for a wrong one."""
    given = list(ids)
    found = returned(thing(given, vocabulary, np.random.default_rng(number), **options), "masked, labels")
    if given != ids:
        raise GradientError("input_ids itself has changed; write into a copy, masked = list(input_ids)")
    if found.shape != (2, len(ids)) or found.dtype.kind not in "iu":
        wanted = f"two lists, masked and labels, of {len(ids)} whole numbers, as input_ids (np.zeros makes floats)"
        raise GradientError(f"the result has shape {found.shape} and dtype {found.dtype}, wanted {wanted}")
    return found


def together(happens: Array) -> Array:
    """Return the share of calls in which both happen, for each two places; on the diagonal, for each place."""
    return happens.T.astype(float) @ happens / len(happens)


def by_chance(found: Array, wanted: Any, count: Any) -> Array:
    """Return the shares, or the right ones if chance explains the difference. count: the number of cases."""
    far = SIGMAS * np.sqrt(wanted * (1 - wanted) / np.maximum(count, 1)) + 1e-9
    return np.where(np.abs(found - wanted) <= far, wanted, found)


PART = Part(right=mask_words, given=5, numbers=run, seeds=(0, 1), is_mended=False)
