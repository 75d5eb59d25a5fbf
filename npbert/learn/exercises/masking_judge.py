"""Exercise 12, judged by what comes out of many draws: a random answer has no numbers of its own to compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npbert.core import IGNORED
from npbert.data import Vocabulary, load_dialogue
from npbert.data.masking import mask_words
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercise import Finding, Mistake, Part
from npbert.learn.exercises import masking_findings as says
from npbert.learn.exercises.masking_choice import wrong_choice
from npbert.learn.exercises.masking_draws import CALLS, MOST, OTHERS, PROBABILITY, Draws
from npbert.learn.exercises.masking_labels import wrong_labels
from npbert.learn.exercises.masking_stand_ins import wrong_stand_ins
from npbert.learn.exercises.masking_words import never_the_true_one

_FEW_WORDS, _TIMES, _FEW_CALLS = "ab", 6, 600


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
    wrong_kind = _wrong_kind(result, len(ids))
    if wrong_kind:
        return wrong_kind
    if given != ids:
        return says.CALLERS_LIST
    if not _same(call(0)[0], result):
        return says.OTHER_GENERATOR
    results = [call(seed)[0] for seed in range(CALLS)]
    if all(_same(each, result) for each in results):
        return says.NOTHING_DRAWN
    counts = [_count(call(0, probability, most)[0][1]) for probability, most, _ in OTHERS]
    draws = _draws(ids, vocabulary, results, MOST, counts)
    return wrong_labels(draws) or wrong_choice(draws) or wrong_stand_ins(draws) or _of_few_words(thing)


def _wrong_kind(result: Any, length: int) -> Finding | None:
    """What is wrong with what is returned, before any number of it is looked at."""
    if result is None:
        return says.NOTHING_RETURNED
    if not isinstance(result, tuple | list) or len(result) != 2 or any(np.ndim(part) != 1 for part in result):
        return says.NOT_TWO_LISTS
    lengths = [len(part) for part in result]
    if lengths != [length] * 2:
        return says.NOT_TWO_LISTS._replace(
            because=f"masked has {lengths[0]} entries and labels {lengths[1]}, and input_ids has {length}. What is not "
            "chosen has an entry, too: its own id in masked, and IGNORED in labels."
        )
    return None


def _same(one: Any, other: Any) -> bool:
    return all(list(a) == list(b) for a, b in zip(one, other, strict=True))


def _count(labels: Any) -> int:
    return sum(int(label) != IGNORED for label in labels)


def _draws(ids: list[int], vocabulary: Vocabulary, results: list[Any], wanted: int, counts: list[int]) -> Draws:
    masked, labels = (np.array([[int(i) for i in each[part]] for each in results]) for part in (0, 1))
    return Draws(
        np.array(ids),
        vocabulary.is_word[ids],
        masked,
        labels,
        wanted,
        counts,
        vocabulary.word_ids,
        vocabulary.mask_id,
        vocabulary.pad_id,
    )


def _of_few_words(thing: Any) -> Finding | None:
    """What is only seen where there are few words in all: so each is the random one in its own place now and then."""
    vocabulary = Vocabulary(_FEW_WORDS)
    ids = [vocabulary.cls_id, *vocabulary.word_ids.tolist() * _TIMES, vocabulary.sep_id]
    results = [
        thing(list(ids), vocabulary, np.random.default_rng(seed), probability=1.0, max_predictions=len(ids))
        for seed in range(_FEW_CALLS)
    ]
    return never_the_true_one(_draws(ids, vocabulary, results, len(_FEW_WORDS) * _TIMES, []))
