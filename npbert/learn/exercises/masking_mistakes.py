"""Exercise 12: the wrong maskings that are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npbert.core import IGNORED
from npbert.data.masking import Words, mask_words
from npbert.learn.exercise import Finding, Mistakes
from npbert.learn.exercises import masking_findings as says

WRONG = Mistakes(mask_words)

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


def _more_of_the_first(candidates: Any, count: int, rng: np.random.Generator) -> Any:
    weights = 1.0 / (1 + np.arange(len(candidates)))
    return rng.choice(candidates, size=count, replace=False, p=weights / weights.sum())


def _words_of(which: Callable[[Any, np.random.Generator], Any]) -> StandIn:
    """A stand-in whose random word is one of which(word_ids, rng)."""

    def stand_in(word_id: int, vocabulary: Words, rng: np.random.Generator) -> int:
        draw = rng.random()
        other = int(rng.choice(which(vocabulary.word_ids, rng)))
        return vocabulary.mask_id if draw < 0.8 else other if draw < 0.9 else word_id

    return stand_in


def _masks_replaced(word_id: int, vocabulary: Words, rng: np.random.Generator) -> int:
    masked = vocabulary.mask_id if rng.random() < 0.8 else word_id
    return int(rng.choice(vocabulary.word_ids)) if rng.random() < 0.1 else masked


# 0 is [PAD], 1 [CLS] and 2 [SEP] in the vocabulary that the judge uses
_wrong("padding_is_chosen", says.PADDING_CHOSEN, among=lambda ids: np.flatnonzero(~np.isin(ids, (1, 2))))
_wrong("special_tokens_are_chosen", says.SPECIAL_CHOSEN, among=lambda ids: np.flatnonzero(np.asarray(ids) != 0))
_wrong("chosen_with_replacement", says.REPEATED, choose=lambda c, n, rng: rng.choice(c, size=n))
_wrong("each_by_itself", says.COUNT, choose=_each_by_itself)
_wrong("always_the_first", says.SAME_PLACES, choose=lambda c, n, rng: c[:n])
_wrong("more_of_the_first", says.NOT_EVENLY, choose=lambda c, n, rng: _more_of_the_first(c, n, rng))
_wrong("one_run", says.ONE_RUN, choose=lambda c, n, rng: c[(first := rng.integers(len(c) - n + 1)) : first + n])
_wrong(
    "every_other_place",
    says.NOT_ON_THEIR_OWN,
    choose=lambda c, n, rng: c[(rng.integers(len(c)) + 2 * np.arange(n)) % len(c)],
)
_wrong("numbers_for_places", says.NUMBERS_FOR_PLACES, choose=lambda c, n, rng: rng.choice(len(c), n, replace=False))
_wrong("always_the_mask", says.ALWAYS_MASK, stand_in=shares(1.0, 0.0))
_wrong("never_a_random_word", says.NO_RANDOM, stand_in=shares(0.8, 0.0))
_wrong("never_left_as_it_is", says.NO_SAME, stand_in=shares(0.8, 0.2))
_wrong("second_draw", says.SECOND_DRAW, stand_in=_second_draw)
_wrong("masks_replaced", says.MASK_REPLACED, stand_in=_masks_replaced)
_wrong("words_uneven", says.RANDOM_UNEVEN, stand_in=_words_of(lambda ids, rng: np.append(ids, [ids[20]] * 30)))
_wrong("special_tokens_as_random_words", says.SPECIAL_RANDOM, stand_in=_any_id)
_wrong("always_the_same_random_word", says.SAME_RANDOM, stand_in=_same_word)


@WRONG(*says.LABEL_OF_MASKED)
def labels_of_what_stands_there(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    masked, labels = mask_words(input_ids, vocabulary, rng, **options)
    return masked, [m if label != IGNORED else label for m, label in zip(masked, labels, strict=True)]


@WRONG(*says.LABELS_EVERYWHERE)
def labels_everywhere(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    return mask_words(input_ids, vocabulary, rng, **options)[0], list(input_ids)


@WRONG(*says.NO_LABEL)
def no_label_where_it_stays(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    masked, labels = mask_words(input_ids, vocabulary, rng, **options)
    changed = [m != true for m, true in zip(masked, input_ids, strict=True)]
    return masked, [label if differs else IGNORED for label, differs in zip(labels, changed, strict=True)]


@WRONG(*says.CALLERS_LIST)
def callers_list_changed(
    input_ids: list[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    input_ids[:], labels = mask_words(input_ids, vocabulary, rng, **options)
    return input_ids, labels


@WRONG(*says.ONE_DRAW)
def one_draw_for_all(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    draw = rng.random()
    masked, labels = list(input_ids), mask_words(input_ids, vocabulary, rng, **options)[1]
    for place in np.flatnonzero(np.array(labels) != IGNORED):
        if draw < 0.9:
            masked[place] = vocabulary.mask_id if draw < 0.8 else int(rng.choice(vocabulary.word_ids))
    return masked, labels


@WRONG(*says.OTHER_GENERATOR)
def another_generator(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    return mask_words(input_ids, vocabulary, np.random.default_rng(), **options)


@WRONG(*says.NOTHING_DRAWN)
def nothing_is_drawn(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    return mask_words(input_ids, vocabulary, np.random.default_rng(0), **options)


@WRONG(*says.FROM_THE_SENTENCE)
def random_words_of_the_sentence(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    words = [word for word in input_ids if vocabulary.is_word[word]]
    return _with_random_words(input_ids, vocabulary, rng, options, lambda: int(rng.choice(words)))


@WRONG(*says.RANDOM_SHARED)
def one_random_word_for_all(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    word = int(rng.choice(vocabulary.word_ids))
    return _with_random_words(input_ids, vocabulary, rng, options, lambda: word)


def _with_random_words(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, options: Any, draw: Callable[[], int]
) -> tuple[list[int], list[int]]:
    """The right masking, with other random words."""
    masked, labels = mask_words(input_ids, vocabulary, rng, **options)
    changed = np.flatnonzero((np.array(masked) != input_ids) & (np.array(masked) != vocabulary.mask_id))
    for place in changed:
        masked[place] = draw()
    return masked, labels


@WRONG(*says.DEALT_OUT)
def dealt_out(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    labels = mask_words(input_ids, vocabulary, rng, **options)[1]
    chosen, masked = rng.permutation(np.flatnonzero(np.array(labels) != IGNORED)), list(input_ids)
    for number, place in enumerate(chosen):
        if number < round(0.9 * len(chosen)):
            is_mask = number < round(0.8 * len(chosen))
            masked[place] = vocabulary.mask_id if is_mask else int(rng.choice(vocabulary.word_ids))
    return masked, labels


@WRONG(*says.DEPENDS_ON_PLACE)
def masked_by_place(
    input_ids: Sequence[int], vocabulary: Words, rng: np.random.Generator, **options: Any
) -> tuple[list[int], list[int]]:
    labels, masked = mask_words(input_ids, vocabulary, rng, **options)[1], list(input_ids)
    for place in np.flatnonzero(np.array(labels) != IGNORED):
        if rng.random() < (0.9 if place % 2 else 7.8 / 11):  # 10 and 11 of the 21 words of the judge: 0.8 of all
            masked[place] = vocabulary.mask_id
        elif rng.random() < 0.5:
            masked[place] = int(rng.choice(vocabulary.word_ids))
    return masked, labels
