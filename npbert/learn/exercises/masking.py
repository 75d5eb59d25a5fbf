"""Exercise 12: which words are hidden, and what stands in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npbert.core import IGNORED
from npbert.data.masking import Words, mask_words
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Finding, Mistakes
from npbert.learn.exercises import masking_judge as judge
from npbert.learn.source import exercise_file, function_source

WRONG = Mistakes(mask_words)

TEXT = """
BERT learns from text alone: some words are hidden, and it has to guess them. This is not a backward, but much of what
BERT can do comes from how it is done.

Of the words that are chosen, 80 % become [MASK]. 10 % become a random word, and 10 % stay as they are: the model is
asked for them, too, and cannot know which words it will be asked for, so it keeps a good vector for every one. The
label of a chosen word is its true id; all other labels are −100 (IGNORED), and no loss is computed there.
"""
BLANK = """Return (masked, labels), two lists as long as input_ids, which stays as it is.

candidates: the places of ordinary words, which may be chosen (never [CLS], [SEP] or [PAD]).
count: how many to choose

For the random word: vocabulary.word_ids, an array of all ordinary words. For [MASK]: vocabulary.mask_id. Draw from
rng alone. whole_words may be left out: it is False here.
"""
HINTS = (
    "rng.choice(candidates, size=count, replace=False) gives `count` different places. Copy the ids first: "
    "masked = list(input_ids).",
    "For each chosen place, draw one number with rng.random(), and compare it twice: below 0.8 it is [MASK], below "
    "0.9 a random word, else the word stays.",
    "labels = [IGNORED] * len(input_ids); for place in chosen: labels[place] = input_ids[place]; draw = rng.random(); "
    "masked[place] = mask_id if draw < 0.8, int(rng.choice(vocabulary.word_ids)) if draw < 0.9.",
)
Chooser = Callable[[Any, int, np.random.Generator], Any]
StandIn = Callable[[int, Words, np.random.Generator], int]


def right_choice(candidates: Any, count: int, rng: np.random.Generator) -> Any:
    """`count` different places."""
    return rng.choice(candidates, size=count, replace=False)


def shares(mask: float, word: float) -> StandIn:
    """A stand-in that is [MASK], or a random word, with these probabilities."""

    def stand_in(word_id: int, vocabulary: Words, rng: np.random.Generator) -> int:
        draw = rng.random()
        if draw < mask:
            return vocabulary.mask_id
        return int(rng.choice(vocabulary.word_ids)) if draw < mask + word else word_id

    return stand_in


RIGHT_SHARES = shares(0.8, 0.1)


def _masked(
    input_ids: Sequence[int],
    vocabulary: Words,
    rng: np.random.Generator,
    probability: float,
    max_predictions: int,
    *,
    among: Any = None,
    choose: Chooser = right_choice,
    stand_in: StandIn = RIGHT_SHARES,
) -> tuple[list[int], list[int]]:
    """The right masking, but for what is given in another way."""
    candidates = np.flatnonzero(vocabulary.is_word[input_ids]) if among is None else among
    count = min(max(1, round(probability * len(input_ids))), max_predictions, len(candidates))
    masked, labels = list(input_ids), [IGNORED] * len(input_ids)
    for place in choose(candidates, count, rng):
        labels[place] = input_ids[place]
        masked[place] = stand_in(input_ids[place], vocabulary, rng)
    return masked, labels


def _wrong(name: str, finding: Finding, **changes: Any) -> None:
    """A known mistake that is one change of the right masking."""

    def masked(
        input_ids: Sequence[int],
        vocabulary: Words,
        rng: np.random.Generator,
        *,
        probability: float = 0.15,
        max_predictions: int = 5,
    ) -> tuple[list[int], list[int]]:
        given = {key: value(input_ids) if key == "among" else value for key, value in changes.items()}
        return _masked(input_ids, vocabulary, rng, probability, max_predictions, **given)

    masked.__name__ = name
    WRONG(*finding)(masked)


def _second_draw(word_id: int, vocabulary: Words, rng: np.random.Generator) -> int:
    if rng.random() < 0.8:
        return vocabulary.mask_id
    return int(rng.choice(vocabulary.word_ids)) if rng.random() < 0.1 else word_id


def _any_id(word_id: int, vocabulary: Words, rng: np.random.Generator) -> int:
    draw = rng.random()
    return vocabulary.mask_id if draw < 0.8 else int(rng.integers(len(vocabulary.is_word))) if draw < 0.9 else word_id


def _same_word(word_id: int, vocabulary: Words, rng: np.random.Generator) -> int:
    draw = rng.random()
    return vocabulary.mask_id if draw < 0.8 else int(vocabulary.word_ids[7]) if draw < 0.9 else word_id


def _each_by_itself(candidates: Any, count: int, rng: np.random.Generator) -> Any:
    return candidates[rng.random(len(candidates)) < count / len(candidates)]


# 0 is [PAD], 1 [CLS] and 2 [SEP] in the vocabulary that the judge uses
_wrong("padding_is_chosen", judge.PADDING_CHOSEN, among=lambda ids: np.flatnonzero(~np.isin(ids, (1, 2))))
_wrong("special_tokens_are_chosen", judge.SPECIAL_CHOSEN, among=lambda ids: np.flatnonzero(np.asarray(ids) != 0))
_wrong("chosen_with_replacement", judge.REPEATED, choose=lambda c, n, rng: rng.choice(c, size=n))
_wrong("each_by_itself", judge.COUNT, choose=_each_by_itself)
_wrong("always_the_first", judge.NOT_EVENLY, choose=lambda c, n, rng: c[:n])
_wrong("always_the_mask", judge.ALWAYS_MASK, stand_in=shares(1.0, 0.0))
_wrong("never_a_random_word", judge.NO_RANDOM, stand_in=shares(0.8, 0.0))
_wrong("never_left_as_it_is", judge.NO_SAME, stand_in=shares(0.8, 0.2))
_wrong("second_draw", judge.SECOND_DRAW, stand_in=_second_draw)
_wrong("special_tokens_as_random_words", judge.SPECIAL_RANDOM, stand_in=_any_id)
_wrong("always_the_same_random_word", judge.SAME_RANDOM, stand_in=_same_word)


@WRONG(*judge.LABEL_OF_MASKED)
def labels_of_what_stands_there(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    masked, labels = mask_words(input_ids, vocabulary, rng, **options)
    return masked, [m if label != IGNORED else label for m, label in zip(masked, labels, strict=True)]


@WRONG(*judge.LABELS_EVERYWHERE)
def labels_everywhere(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    return mask_words(input_ids, vocabulary, rng, **options)[0], list(input_ids)


@WRONG(*judge.NO_LABEL)
def no_label_where_it_stays(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    masked, labels = mask_words(input_ids, vocabulary, rng, **options)
    changed = [m != true for m, true in zip(masked, input_ids, strict=True)]
    return masked, [label if differs else IGNORED for label, differs in zip(labels, changed, strict=True)]


@WRONG(*judge.CALLERS_LIST)
def callers_list_changed(
    input_ids: list[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    input_ids[:], labels = mask_words(input_ids, vocabulary, rng, **options)
    return input_ids, labels


@WRONG(*judge.ONE_DRAW)
def one_draw_for_all(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    draw = rng.random()
    masked, labels = list(input_ids), mask_words(input_ids, vocabulary, rng, **options)[1]
    for place in np.flatnonzero(np.array(labels) != IGNORED):
        if draw < 0.9:
            masked[place] = vocabulary.mask_id if draw < 0.8 else int(rng.choice(vocabulary.word_ids))
    return masked, labels


@WRONG(*judge.OTHER_GENERATOR)
def another_generator(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    return mask_words(input_ids, vocabulary, np.random.default_rng(), **options)


@WRONG(*judge.NOTHING_DRAWN)
def nothing_is_drawn(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    return mask_words(input_ids, vocabulary, np.random.default_rng(0), **options)


EXERCISE = Exercise(
    number=12,
    slug="masking",
    title="masking, 80/10/10",
    chapter=chapter(7),
    hints=HINTS,
    parts=(judge.MaskingPart(WRONG),),
    source=lambda: exercise_file(
        12, "masking, 80/10/10", chapter(7), TEXT, [function_source(mask_words, BLANK, given=5)], uses=["IGNORED"]
    ),
    blanks=("mask_words",),
)
