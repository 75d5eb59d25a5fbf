"""Batch: the arrays that go into a model, by Hugging Face's names, checked when they are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from npbert.layers import IGNORED, Array
from npbert.layers.checks import check_integers


@dataclass
class Batch:
    """B sequences of T tokens, padded to one length, and what is to be learned from them.

    input_ids (B, T): token ids.
    token_type_ids (B, T): 0 = first sentence, 1 = second; all 0 if not given.
    attention_mask (B, T): 1 = real, 0 = padding; all 1 if not given.
    labels: what the model's head wants; (B, T) token ids for a language model, −100 where nothing is to be predicted.
    next_sentence_label (B,): 0 = the second sentence follows the first, 1 = it does not.

    Nested lists are turned into arrays. Whether the ids fit a model's tables is checked by the model.

    Raises: TypeError when ids are not integers; ValueError for an empty batch, ragged lists, shapes that disagree, or
    an attention_mask with other values than 0 and 1.
    """

    input_ids: Array
    token_type_ids: Array = None  # type: ignore[assignment]  # filled in below, as is the mask
    attention_mask: Array = None  # type: ignore[assignment]
    labels: Array | None = None
    next_sentence_label: Array | None = None

    def __post_init__(self) -> None:
        self.input_ids = _integers("input_ids", self.input_ids)
        shape = self.input_ids.shape
        if len(shape) != 2:
            raise ValueError(f"input_ids has shape {shape}, wanted (B, T): a row a sequence")
        if 0 in shape:
            raise ValueError(f"the batch is empty: input_ids has shape {shape}")

        if self.token_type_ids is None:
            self.token_type_ids = np.zeros_like(self.input_ids)
        if self.attention_mask is None:
            self.attention_mask = np.ones_like(self.input_ids)
        for name in ("token_type_ids", "attention_mask"):
            array = _integers(name, getattr(self, name))
            if array.shape != shape:
                raise ValueError(f"{name} has shape {array.shape}, but input_ids {shape}")
            setattr(self, name, array)
        if ((self.attention_mask != 0) & (self.attention_mask != 1)).any():
            raise ValueError(f"attention_mask holds {np.unique(self.attention_mask)}, wanted only 0 and 1")

        if self.labels is not None:
            self.labels = np.asarray(self.labels)
            if self.labels.shape[:1] != shape[:1]:
                raise ValueError(f"labels has shape {self.labels.shape}, but the batch has {shape[0]} sequences")
        if self.next_sentence_label is not None:
            self.next_sentence_label = _integers("next_sentence_label", self.next_sentence_label)
            if self.next_sentence_label.shape != shape[:1]:
                got = self.next_sentence_label.shape
                raise ValueError(f"next_sentence_label has shape {got}, but the batch has {shape[0]} sequences")


@dataclass(frozen=True)
class Example:
    """One sequence before padding: lists of T ids, types and labels, and the label of its sentence pair."""

    input_ids: Sequence[int]
    token_type_ids: Sequence[int]
    labels: Sequence[int]
    next_sentence_label: int


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


def _integers(name: str, values: Array) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} has rows of different lengths: pad them to one") from error
    if array.size:  # to NumPy an empty list is of floats; Batch says that it is empty
        check_integers(array, name=name)
    return array
