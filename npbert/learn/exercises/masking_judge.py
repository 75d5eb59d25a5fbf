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

CALLS, PROBABILITY, MOST = 1500, 0.4, 9
_SIGMAS = 6  # so far a share may be off by chance

CALLERS_LIST = Finding(
    "input_ids itself is changed, and the next epoch will find no words to hide.",
    "The list belongs to the caller. Write into a copy: masked = list(input_ids).",
)
OTHER_GENERATOR = Finding(
    "The same generator gives another result the second time.",
    "Draw from rng alone, and not from np.random or a generator of your own: a run that can be repeated can be mended.",
)
NOTHING_DRAWN = Finding(
    "Whatever the generator, the result is the same.",
    "Draw from rng: in each epoch other words should be hidden.",
)
LABELS_EVERYWHERE = Finding(
    "Words that were not chosen have a label, too.",
    "The model would be asked for words that it can see. Only the chosen have a label; all others have IGNORED, −100.",
)
LABEL_OF_MASKED = Finding(
    "The labels hold what stands there now, [MASK] say, and should hold the true words.",
    "Keep the true id before it is replaced: labels[place] = input_ids[place].",
)
NO_LABEL = Finding(
    "Words that were chosen but stay as they are have no label.",
    "They are asked for like the others, and so the model learns that a word it can see may be the one that counts.",
)
PADDING_CHOSEN = Finding(
    "Padding is chosen for masking: the model would be asked to guess [PAD].",
    "Choose among `candidates`, which are the places of ordinary words.",
)
SPECIAL_CHOSEN = Finding(
    "[CLS] or [SEP] is chosen for masking.",
    "They stand in every sequence, so there is nothing to guess. Choose among `candidates`.",
)
REPEATED = Finding(
    "Sometimes fewer words are chosen than `count`: the same one was drawn twice.",
    "rng.choice draws with replacement unless it is told otherwise: replace=False.",
)
COUNT = Finding(
    "How many words are chosen changes from call to call; it should be `count`, each time.",
    "Each word by itself with some probability gives now more and now fewer. Draw `count` different places: "
    "rng.choice(candidates, size=count, replace=False).",
)
NOT_EVENLY = Finding(
    "Not every word is chosen equally often.",
    "Each of the candidates should have the same chance: rng.choice(candidates, size=count, replace=False).",
)
ONE_DRAW = Finding(
    "All words of a call are treated alike: one number is drawn for all of them.",
    "Draw anew for each chosen word: in one sequence some become [MASK], and others a random word.",
)
SPECIAL_RANDOM = Finding(
    "The random word may be a special token, [CLS] or [PAD] say.",
    "Draw it from vocabulary.word_ids, which are the ordinary words alone.",
)
SAME_RANDOM = Finding(
    "The random word is always the same one.",
    "Draw it anew each time: rng.choice(vocabulary.word_ids).",
)
ALWAYS_MASK = Finding(
    "Every chosen word becomes [MASK]; none becomes a random word, and none stays.",
    "In use there is no [MASK] in a text. So that the model does not only learn to fill in masks, 10 % of the chosen "
    "become a random word and 10 % stay.",
)
NO_RANDOM = Finding(
    "No chosen word becomes a random one.",
    "Below 0.8 it is [MASK], from there to 0.9 a random word, and from 0.9 it stays.",
)
NO_SAME = Finding(
    "No chosen word stays as it is.",
    "Below 0.8 it is [MASK], from there to 0.9 a random word, and from 0.9 it stays.",
)
SECOND_DRAW = Finding(
    "Only 2 % of the chosen become a random word, and 18 % stay.",
    "That is a tenth of the 20 % that are left: a second number was drawn. Draw one, and compare it with 0.8 and with "
    "0.9.",
)


class Draws(NamedTuple):
    """What came out of many calls: for each call the labels and what stands at each place, (calls, T)."""

    ids: Array
    is_word: Array
    masked: Array
    labels: Array
    wanted: int
    mask_id: int


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

    def call(seed: int) -> Any:
        given = list(ids)
        result = thing(given, vocabulary, np.random.default_rng(seed), probability=PROBABILITY, max_predictions=MOST)
        return result, given

    result, given = call(0)
    if not isinstance(result, tuple | list) or len(result) != 2 or any(len(part) != len(ids) for part in result):
        return Finding("mask_words should return two lists, masked and labels, each as long as input_ids.")
    if given != ids:
        return CALLERS_LIST
    if not _same(call(0)[0], result):
        return OTHER_GENERATOR
    results = [call(seed)[0] for seed in range(CALLS)]
    if all(_same(each, result) for each in results):
        return NOTHING_DRAWN
    masked, labels = (np.array([[int(i) for i in each[part]] for each in results]) for part in (0, 1))
    draws = Draws(np.array(ids), vocabulary.is_word[ids], masked, labels, MOST, vocabulary.mask_id)
    places = _wrong_labels(draws) or _wrong_choice(draws, vocabulary.pad_id)
    return places or _wrong_stand_ins(draws, vocabulary.is_word)


def _same(one: Any, other: Any) -> bool:
    return all(list(a) == list(b) for a, b in zip(one, other, strict=True))


def _wrong_labels(draws: Draws) -> Finding | None:
    chosen = draws.labels != IGNORED
    if (draws.labels[chosen] != np.broadcast_to(draws.ids, chosen.shape)[chosen]).any():
        is_what_stands_there = draws.labels[chosen] == draws.masked[chosen]
        return LABEL_OF_MASKED if is_what_stands_there.all() else Finding("Some labels are not the true word.")
    if chosen.all():
        return LABELS_EVERYWHERE
    if ((draws.masked != draws.ids) & ~chosen).any():
        return Finding("Some words are replaced, and have no label.", "Set labels[place] = input_ids[place] for each.")
    share_of_masks = (draws.masked == draws.mask_id).sum() / chosen.sum()
    if (chosen <= (draws.masked != draws.ids)).all() and abs(share_of_masks - 8 / 9) < 0.03:
        return NO_LABEL
    return None


def _wrong_choice(draws: Draws, pad_id: int) -> Finding | None:
    chosen = draws.labels != IGNORED
    if chosen[:, draws.ids == pad_id].any():
        return PADDING_CHOSEN
    if chosen[:, ~draws.is_word].any():
        return SPECIAL_CHOSEN
    counts = chosen.sum(axis=1)
    if (counts != draws.wanted).any():
        if (counts > draws.wanted).any() and counts.min() == counts.max():
            return Finding(f"{counts[0]} words are chosen each time; wanted {draws.wanted}.")
        words = int(draws.is_word.sum())
        with_replacement = words * (1 - (1 - 1 / words) ** draws.wanted)  # so many different ones, on average
        return REPEATED if abs(counts.mean() - with_replacement) < 0.2 else COUNT
    share = draws.wanted / draws.is_word.sum()
    if _is_off(chosen[:, draws.is_word].mean(axis=0), share, CALLS).any():
        return NOT_EVENLY
    return None


def _wrong_stand_ins(draws: Draws, is_word: Array) -> Finding | None:
    chosen = draws.labels != IGNORED
    true, now = draws.labels[chosen], draws.masked[chosen]
    is_mask, stays = now == draws.mask_id, now == true
    words = now[~is_mask & ~stays]
    masks = ((draws.masked == draws.mask_id) & chosen).sum(axis=1)
    if ((masks == 0) | (masks == draws.wanted)).all() and masks.any() and not masks.all():
        return ONE_DRAW
    if len(words) and not is_word[words].all():
        return SPECIAL_RANDOM
    if len(words) > 50 and len(set(words.tolist())) == 1:
        return SAME_RANDOM
    number = int(is_word.sum())
    found = np.array([is_mask.mean(), len(words) / len(now), stays.mean()])
    for (mask, word), finding in _SHARES.items():
        wanted = np.array([mask, word * (1 - 1 / number), 1 - mask - word + word / number])
        if not _is_off(found, wanted, len(now)).any():
            return finding
    percent = ", ".join(
        f"{share:.0%} {what}" for share, what in zip(found, ("[MASK]", "another word", "stay"), strict=True)
    )
    return Finding(
        f"The shares are not 80, 10 and 10 %, but: {percent}.",
        "Draw one number for each chosen word: below 0.8 it becomes [MASK], from there to 0.9 a random word, and from "
        "0.9 it stays.",
    )


_SHARES: dict[tuple[float, float], Finding | None] = {
    (0.8, 0.1): None,
    (1.0, 0.0): ALWAYS_MASK,
    (0.8, 0.0): NO_RANDOM,
    (0.8, 0.2): NO_SAME,
    (0.8, 0.02): SECOND_DRAW,
}


def _is_off(found: Array, wanted: Any, count: int) -> Array:
    """Whether a share is farther from what is wanted than chance allows."""
    return np.abs(found - wanted) > _SIGMAS * np.sqrt(wanted * (1 - np.asarray(wanted)) / count) + 1e-9
