"""From a pair of lines to an example, and from examples to a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from npbert.data.batch import Batch
from npbert.data.dialogue import Dialogue
from npbert.data.masking import mask_words
from npbert.data.sentence_pairs import Pair, join_pair
from npbert.layers import IGNORED


@dataclass(frozen=True)
class Example:
    """One sequence before padding: lists of T ids, types and labels, and the label of its sentence pair."""

    input_ids: Sequence[int]
    token_type_ids: Sequence[int]
    labels: Sequence[int]
    next_sentence_label: int


def make_example(dialogue: Dialogue, pair: Pair, rng: np.random.Generator) -> Example:
    """The pair as `[CLS] first [SEP] second [SEP]`, with fresh masks."""
    first, second = dialogue.lines[pair.first], dialogue.lines[pair.second]
    input_ids, token_type_ids = join_pair(first, second, dialogue.vocabulary)
    masked_ids, labels = mask_words(input_ids, dialogue.vocabulary, rng)
    return Example(masked_ids, token_type_ids, labels, pair.next_sentence_label)


def collate(examples: Sequence[Example], *, pad_id: int, length: int | None = None) -> Batch:
    """A Batch of the examples, padded at the end to the longest of them, or to `length`.

    Padding has token `pad_id`, type 0, mask 0 and no target.

    Raises: ValueError when there are no examples, or when one is longer than `length`.
    """
    if not examples:
        raise ValueError("cannot make a batch of no examples")
    longest = max(len(example.input_ids) for example in examples)
    if length is not None and longest > length:
        raise ValueError(f"an example has {longest} tokens, more than length {length}")
    shape = len(examples), longest if length is None else length

    input_ids = np.full(shape, pad_id)
    token_type_ids = np.zeros(shape, int)
    attention_mask = np.zeros(shape, int)
    labels = np.full(shape, IGNORED)
    for row, example in enumerate(examples):
        end = len(example.input_ids)
        input_ids[row, :end] = example.input_ids
        token_type_ids[row, :end] = example.token_type_ids
        attention_mask[row, :end] = 1
        labels[row, :end] = example.labels
    next_sentence_label = np.array([example.next_sentence_label for example in examples])
    return Batch(input_ids, token_type_ids, attention_mask, labels, next_sentence_label)
