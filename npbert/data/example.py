"""From a pair of lines to an example, and from examples to a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data.batch import Batch
from npbert.data.dialogue import Dialogue
from npbert.data.masking import mask_words
from npbert.data.padding import pad_rows
from npbert.data.sentence_pairs import Pair, join_pair
from npbert.data.vocabulary import Vocabulary


@dataclass(frozen=True)
class Example:
    """One sequence before padding: lists of T ids, types and labels, and the label of its sentence pair.

    Raises: ValueError when the three lists are not of one length.
    """

    input_ids: Sequence[int]
    token_type_ids: Sequence[int]
    labels: Sequence[int]
    next_sentence_label: int

    def __post_init__(self) -> None:
        lengths = len(self.input_ids), len(self.token_type_ids), len(self.labels)
        if len(set(lengths)) > 1:
            raise ValueError(f"input_ids, token_type_ids and labels have {lengths} tokens, wanted one length")


def join_lines(dialogue: Dialogue, pair: Pair) -> Example:
    """The pair as `[CLS] first [SEP] second [SEP]`, with nothing masked."""
    first, second = dialogue.lines[pair.first], dialogue.lines[pair.second]
    input_ids, token_type_ids = join_pair(first, second, dialogue.vocabulary)
    return Example(input_ids, token_type_ids, [IGNORED] * len(input_ids), pair.next_sentence_label)


def make_example(dialogue: Dialogue, pair: Pair, rng: np.random.Generator) -> Example:
    """As join_lines, with fresh masks."""
    example = join_lines(dialogue, pair)
    masked_ids, labels = mask_words(example.input_ids, dialogue.vocabulary, rng)
    return replace(example, input_ids=masked_ids, labels=labels)


def mask_each_word(example: Example, vocabulary: Vocabulary) -> list[Example]:
    """For each word of the example, but for its special tokens, one in which that word alone is masked."""
    masked = []
    for position in np.flatnonzero(np.isin(example.input_ids, vocabulary.word_ids)):
        ids, labels = list(example.input_ids), [IGNORED] * len(example.input_ids)
        ids[position], labels[position] = vocabulary.mask_id, ids[position]
        masked.append(replace(example, input_ids=ids, labels=labels))
    return masked


def collate(examples: Sequence[Example], *, pad_id: int, length: int | None = None) -> Batch:
    """A Batch of the examples, padded at the end to the longest of them, or to `length`.

    Padding has token `pad_id`, type 0, mask 0 and no target.

    Raises: ValueError when there are no examples, or when one is longer than `length`; TypeError for ids that are not
    integers.
    """
    if not examples:
        raise ValueError("cannot make a batch of no examples")
    longest = max(len(example.input_ids) for example in examples)
    if length is not None and longest > length:
        raise ValueError(f"an example has {longest} tokens, more than length {length}")

    def padded(name: str, padding: int) -> Array:
        return pad_rows([getattr(example, name) for example in examples], padding, length=length, name=name)

    return Batch(
        padded("input_ids", pad_id),
        padded("token_type_ids", 0),
        pad_rows([[1] * len(example.input_ids) for example in examples], 0, length=length),
        padded("labels", IGNORED),
        np.array([example.next_sentence_label for example in examples]),
    )
