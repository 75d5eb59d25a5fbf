"""Sentence pairs for next-sentence prediction: half follow each other, half do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

IS_NEXT, NOT_NEXT = 0, 1


class Pair(NamedTuple):
    """The indices of two lines, and IS_NEXT (0) when the second follows the first, else NOT_NEXT (1)."""

    first: int
    second: int
    next_sentence_label: int


def all_pairs(num_lines: int) -> list[Pair]:
    """Every ordered pair of lines, a line with itself included: num_lines² of them."""
    return [
        Pair(first, second, IS_NEXT if second == first + 1 else NOT_NEXT)
        for first in range(num_lines)
        for second in range(num_lines)
    ]


def draw_pairs(num_lines: int, count: int, rng: np.random.Generator) -> list[Pair]:
    """`count` pairs, drawn from all ordered pairs with replacement: half of them IS_NEXT, in random order.

    (Devlin et al. 2018, section 3.1, task 2.)

    Raises: ValueError when `count` is odd or not positive, or with fewer than 2 lines.
    """
    if count <= 0 or count % 2:
        raise ValueError(f"count is {count}, wanted a positive even number: half of the pairs are is-next")
    if num_lines < 2:
        raise ValueError(f"{num_lines} lines have no line that follows another, wanted at least 2")
    pairs = all_pairs(num_lines)
    drawn = []
    for label in (IS_NEXT, NOT_NEXT):
        candidates = [pair for pair in pairs if pair.next_sentence_label == label]
        drawn += [candidates[i] for i in rng.integers(len(candidates), size=count // 2)]
    return [drawn[i] for i in rng.permutation(count)]


class Separators(Protocol):
    """What joining knows of a vocabulary: Vocabulary and Tokenizer both are such."""

    cls_id: int
    sep_id: int


def join_pair(
    first: Sequence[int], second: Sequence[int] | None, vocabulary: Separators
) -> tuple[list[int], list[int]]:
    """`[CLS] first [SEP] second [SEP]` as input_ids, and its token_type_ids: 0 up to the first [SEP], then 1.

    Without a second text, just `[CLS] first [SEP]`.
    """
    input_ids = [vocabulary.cls_id, *first, vocabulary.sep_id]
    if second is not None:
        input_ids += [*second, vocabulary.sep_id]
    first_length = len(first) + 2
    return input_ids, [0] * first_length + [1] * (len(input_ids) - first_length)
