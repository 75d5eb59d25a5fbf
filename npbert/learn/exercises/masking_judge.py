"""Exercise 12, judged by what comes out of many draws: a random answer has no numbers of its own to compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import load_dialogue
from npbert.data.masking import mask_words
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercise import Finding, Mistake, Part
from npbert.learn.exercises import masking_findings as says

CALLS, PROBABILITY, MOST = 1500, 0.4, 9
OTHERS = ((0.4, 20, 11), (0.2, 20, 6), (1.0, 99, 21))  # probability, max_predictions and count of other calls
_SIGMAS = 6  # so far a share may be off by chance


class Draws(NamedTuple):
    """What came out of many calls: for each call the labels and what stands at each place, (calls, T).

    counts: of the calls of OTHERS, how many words were chosen.
    """

    ids: Array
    is_word: Array
    masked: Array
    labels: Array
    wanted: int
    mask_id: int
    counts: list[int]


@dataclass(frozen=True)
class MaskingPart(Part):
    """mask_words, judged by its draws."""

    mistakes: list[Mistake]
    name: str = "mask_words"
    right: Any = field(default=mask_words)

    def judge(self, thing: Any) -> Finding | None:
        file = getattr(thing, "__code__", None)
        found = attempt(lambda: _first_wrong(thing), file.co_filename if file else None)
        if isinstance(found, Failure):
            if found.is_blank:
                raise NotImplementedError(found.line)
            return found.finding
        return found


def _first_wrong(thing: Any) -> Finding | None:
    vocabulary = load_dialogue(9).vocabulary
    words = [int(word) for word in vocabulary.word_ids]
    ids = [vocabulary.cls_id, *words[:12], vocabulary.sep_id, *words[5:14], vocabulary.sep_id, *[vocabulary.pad_id] * 4]

    def call(seed: int, probability: float = PROBABILITY, most: int = MOST) -> Any:
        given = list(ids)
        result = thing(given, vocabulary, np.random.default_rng(seed), probability=probability, max_predictions=most)
        return result, given

    result, given = call(0)
    if not isinstance(result, tuple | list) or len(result) != 2 or any(len(part) != len(ids) for part in result):
        return Finding("mask_words should return two lists, masked and labels, each as long as input_ids.")
    if given != ids:
        return says.CALLERS_LIST
    if not _same(call(0)[0], result):
        return says.OTHER_GENERATOR
    results = [call(seed)[0] for seed in range(CALLS)]
    if all(_same(each, result) for each in results):
        return says.NOTHING_DRAWN
    masked, labels = (np.array([[int(i) for i in each[part]] for each in results]) for part in (0, 1))
    counts = [_count(call(0, probability, most)[0][1]) for probability, most, _ in OTHERS]
    draws = Draws(np.array(ids), vocabulary.is_word[ids], masked, labels, MOST, vocabulary.mask_id, counts)
    places = _wrong_labels(draws) or _wrong_choice(draws, vocabulary.pad_id)
    return places or _wrong_stand_ins(draws, vocabulary.is_word)


def _same(one: Any, other: Any) -> bool:
    return all(list(a) == list(b) for a, b in zip(one, other, strict=True))


def _count(labels: Any) -> int:
    return sum(int(label) != IGNORED for label in labels)


def _wrong_labels(draws: Draws) -> Finding | None:
    chosen = draws.labels != IGNORED
    if (draws.labels[chosen] != np.broadcast_to(draws.ids, chosen.shape)[chosen]).any():
        return _wrong_label(draws, chosen)
    replaced = (draws.masked != draws.ids).sum(axis=1)
    if chosen.all() or ((chosen == draws.is_word).all() and replaced.max() <= draws.wanted):
        return says.LABELS_EVERYWHERE
    if ((draws.masked != draws.ids) & ~chosen).any():
        return Finding("Some words are replaced, and have no label.", "Set labels[place] = input_ids[place] for each.")
    return says.NO_LABEL if _only_the_changed(draws, chosen) else None


def _wrong_label(draws: Draws, chosen: Array) -> Finding:
    """What stands in the place of true words, or of IGNORED."""
    if (draws.labels[chosen] == draws.masked[chosen]).all():
        return says.LABEL_OF_MASKED
    if (draws.masked == IGNORED).any():
        return says.LISTS_SWAPPED
    values, counts = np.unique(draws.labels[draws.labels != draws.ids], return_counts=True)
    other = values[counts.argmax()]
    if chosen.all() and len(values) == 1:
        return Finding(
            f"Words that were not chosen have the label {other}, and should have IGNORED, {IGNORED}.",
            "labels = [IGNORED] * len(input_ids) at the beginning. A loss is computed for every other label.",
        )
    if len(np.unique(draws.labels[chosen])) == 1:
        return Finding(
            f"Every label is {draws.labels[chosen][0]}, and should be the true id of its word.",
            "labels[place] = input_ids[place]: the model is asked which word stood there.",
        )
    return Finding(
        "Some labels are not the true word.", "labels[place] = input_ids[place], for each place that is chosen."
    )


def _only_the_changed(draws: Draws, chosen: Array) -> bool:
    """Whether of `count` words 80 % are [MASK], 10 % random ones, and no other has a label."""
    drawn = draws.wanted * len(chosen)
    masks = (draws.masked == draws.mask_id) & chosen
    found = np.array([masks.sum(), (chosen & ~masks).sum()]) / drawn
    stays = ((draws.masked == draws.ids) & chosen).sum() / drawn  # some random words are the true ones
    counts = chosen.sum(axis=1)
    is_that = not _is_off(found, np.array([0.8, 0.1]), drawn).any() and stays < 0.02
    return is_that and bool(counts.min() < counts.max() <= draws.wanted)


def _wrong_choice(draws: Draws, pad_id: int) -> Finding | None:
    chosen = draws.labels != IGNORED
    if chosen[:, draws.ids == pad_id].any():
        return says.PADDING_CHOSEN
    if chosen[:, ~draws.is_word].any():
        is_begin = np.arange(len(draws.ids)) < draws.is_word.sum()
        return says.NUMBERS_FOR_PLACES if (chosen.any(axis=0) == is_begin).all() else says.SPECIAL_CHOSEN
    counts = chosen.sum(axis=1)
    is_first = np.isin(np.arange(len(draws.ids)), np.unique(draws.ids, return_index=True)[1])
    if (chosen.any(axis=0) == (draws.is_word & is_first)).all():
        return says.FIRST_OF_EQUALS
    if (counts != draws.wanted).any() or draws.counts != [count for *_, count in OTHERS]:
        return _wrong_count(draws, counts)
    among = chosen[:, draws.is_word]
    share = draws.wanted / among.shape[1]
    if (among == among[0]).all():
        return says.SAME_PLACES
    if _is_off(among.mean(axis=0), share, CALLS).any():
        return _one_run(among) or says.NOT_EVENLY
    together = among.T.astype(float) @ among / CALLS
    share *= (draws.wanted - 1) / (among.shape[1] - 1)
    if _is_off(together[~np.eye(len(together), dtype=bool)], share, CALLS).any():
        return _one_run(among) or says.NOT_ON_THEIR_OWN
    return None


def _one_run(among: Array) -> Finding | None:
    """Whether the chosen are neighbours among the candidates, where the last is followed by the first."""
    begins = (among & ~np.roll(among, 1, axis=1)).sum(axis=1)
    return says.ONE_RUN if (begins == 1).all() else None


def _wrong_count(draws: Draws, counts: Array) -> Finding:
    """What is true of how many are chosen. counts: in each call; draws.counts: in the calls of OTHERS."""
    words = int(draws.is_word.sum())
    if counts.min() < counts.max():
        with_replacement = words * (1 - (1 - 1 / words) ** draws.wanted)  # so many different ones, on average
        is_that = abs(counts.mean() - with_replacement) < 0.12 and counts.max() <= draws.wanted
        return says.REPEATED if is_that else says.COUNT
    found = [int(counts[0]), *draws.counts]
    calls = [(PROBABILITY, MOST, draws.wanted), *OTHERS]
    wanted = [count for *_, count in calls]
    shown = ", ".join(f"{given} where `count` is {count}" for given, count in zip(found, wanted, strict=True))
    causes = {
        "That is always one fewer.": [count - 1 for count in wanted],
        "That is always one more.": [min(count + 1, words) for count in wanted],
        "That is probability times the number of candidates; `count` is worked out already.": [
            max(1, round(probability * words)) for probability, *_ in calls
        ],
        "That is probability times the number of candidates, and at most max_predictions; `count` is worked out "
        "already, from the length of the whole sequence.": [
            min(max(1, round(probability * words)), most) for probability, most, _ in calls
        ],
        "That does not heed max_predictions; `count`, which is worked out already, does.": [
            min(max(1, round(probability * len(draws.ids))), words) for probability, *_ in calls
        ],
        "That is max_predictions; `count` is worked out already.": [min(most, words) for _, most, _ in calls],
        "The number seems to be fixed; `count` differs from call to call.": [found[0]] * len(calls),
    }
    cause = next((f" {text}" for text, numbers in causes.items() if numbers == found), "")
    return Finding(
        "The wrong number of words is chosen.",
        f"In some calls: {shown}.{cause} rng.choice(candidates, size=count, replace=False) gives `count` places.",
    )


def _wrong_stand_ins(draws: Draws, is_word: Array) -> Finding | None:
    chosen = draws.labels != IGNORED
    is_mask = (draws.masked == draws.mask_id) & chosen
    true, now = draws.labels[chosen], draws.masked[chosen]
    stays = now == true
    words = now[~is_mask[chosen] & ~stays]
    masks = is_mask.sum(axis=1)
    if ((masks == 0) | (masks == draws.wanted)).all() and masks.any() and not masks.all():
        return says.ONE_DRAW
    if len(words) and not is_word[words].all():
        return says.SPECIAL_RANDOM
    if len(words) > 50 and len(set(words.tolist())) == 1:
        return says.SAME_RANDOM
    number = int(is_word.sum())
    found = np.array([is_mask[chosen].mean(), len(words) / len(now), stays.mean()])
    for (mask, word), finding in _SHARES.items():
        wanted = np.array([mask, word * (1 - 1 / number), 1 - mask - word + word / number])
        if not _is_off(found, wanted, len(now)).any():
            return finding or _dependent(is_mask, chosen) or _wrong_words(draws, chosen & ~is_mask, is_word)
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


def _dependent(is_mask: Array, chosen: Array) -> Finding | None:
    """Where the shares are right, whether it is chance alone that a chosen word becomes [MASK]."""
    masks = is_mask.sum(axis=1)
    if masks.min() == masks.max():
        return says.DEALT_OUT
    times = chosen.sum(axis=0)
    share = is_mask.sum(axis=0)[times > 0] / times[times > 0]
    return says.DEPENDS_ON_PLACE if _is_off(share, 0.8, times[times > 0]).any() else None


def _wrong_words(draws: Draws, others: Array, is_word: Array) -> Finding | None:
    """Where the shares are right, what is wrong with the random words. others: the chosen that are not [MASK]."""
    drawn = others & (draws.masked != draws.ids)
    words, all_words = draws.masked[drawn], np.flatnonzero(is_word)
    missing = np.setdiff1d(all_words, words)
    if not np.setdiff1d(words, draws.ids).size:
        return says.FROM_THE_SENTENCE
    if missing.size:
        return _never_drawn(missing, all_words)
    several = [set(row[at].tolist()) for row, at in zip(draws.masked, drawn, strict=True) if at.sum() > 1]
    if len(several) > 50 and all(len(each) == 1 for each in several):
        return says.RANDOM_SHARED
    true = np.bincount(draws.labels[draws.labels != IGNORED], minlength=len(is_word))[all_words]
    wanted = 1 - true / true.sum()  # a word that is the true one is not counted as a random one
    found = np.bincount(words, minlength=len(is_word))[all_words] / len(words)
    return says.RANDOM_UNEVEN if _is_off(found, wanted / wanted.sum(), len(words)).any() else None


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


_SHARES: dict[tuple[float, float], Finding | None] = {
    (0.8, 0.1): None,
    (1.0, 0.0): says.ALWAYS_MASK,
    (0.8, 0.0): says.NO_RANDOM,
    (0.8, 0.2): says.NO_SAME,
    (0.8, 0.02): says.SECOND_DRAW,
    (0.72, 0.1): says.MASK_REPLACED,
}


def _is_off(found: Array, wanted: Any, count: Any) -> Array:
    """Whether a share is farther from what is wanted than chance allows."""
    return np.abs(found - wanted) > _SIGMAS * np.sqrt(wanted * (1 - np.asarray(wanted)) / count) + 1e-9
