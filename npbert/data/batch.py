"""Batch: the input arrays of a model, with Hugging Face's names, checked when it is made. TaskData: many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, check_integers
from npbert.display import titled
from npbert.io import at_least, counted

if TYPE_CHECKING:  # for editors and mypy: at run time, an extra may be missing
    import tokenizers

_INPUTS = ("input_ids", "token_type_ids", "attention_mask")
_OTHER_KINDS = {"labels": "f", "sample_weight": "f", "attention_mask": "b"}  # than integers, as in a dtype
_MOST_TEXTS, _MOST_TOKENS = 8, 64


Decode = Callable[[Array], Sequence[str]]
"""A function from ids to words, as the `decode` of a tokenizer."""


class _Named:
    """names: by array, a function from its numbers to words, for the printed batch: a tokenizer's `decode` for
    input_ids. vars(batch) has only the arrays, without `names`."""

    __slots__ = ("names",)
    names: Mapping[str, Decode]


@dataclass(eq=False, repr=False)
class Batch(_Named):
    """B sequences of T tokens, padded to one length, and their targets.

    input_ids (B, T): token ids.
    token_type_ids (B, T): 0 = first sentence, 1 = second; all 0 if not given.
    attention_mask (B, T): 1 = real, 0 = padding; all 1 if not given.
    labels: for the model's head; (B, T) token ids for a language model, −100 without a target.
    next_sentence_label (B,): 0 = the second sentence follows the first, 1 = it does not.
    start_positions, end_positions (B,): the first and the last token of the answer; −100 for a sequence without one.
    sample_weight (B,): how much the label of each sequence counts in the loss; all 1 if not given.

    For multiple choice the first three are (B, C, T): C candidate sequences for each question. A model that reads the
    two texts of a pair separately takes (B, 2, T).

    Nested lists become arrays. The model checks that the ids fit its tables.

    Raises: TypeError for ids that are not integers, or labels that are not numbers; ValueError for an empty batch,
    ragged lists, shapes that differ, an attention_mask with other values than 0 and 1, or a sequence of padding alone.
    """

    input_ids: Array
    token_type_ids: Array = None  # type: ignore[assignment]  # filled in below, as is the mask
    attention_mask: Array = None  # type: ignore[assignment]
    labels: Array | None = None
    next_sentence_label: Array | None = None
    start_positions: Array | None = None
    end_positions: Array | None = None
    sample_weight: Array | None = None

    def __post_init__(self) -> None:
        self.names = {}
        ids = self.input_ids = _numbers("input_ids", self.input_ids)
        if ids.ndim not in (2, 3) or not ids.size:
            wanted = "(B, T), or (B, C, T) for multiple choice, with at least one token"
            raise ValueError(f"input_ids has shape {ids.shape}, wanted {wanted}")
        usual = {"token_type_ids": np.zeros_like(ids), "attention_mask": np.ones_like(ids)}
        for name, values in vars(self).items():
            array = usual.get(name) if values is None else _numbers(name, values)
            setattr(self, name, array)
            shape, wanted = ids.shape[:1], f"one for each of the {len(ids)} sequences"
            if name in _INPUTS:
                shape, wanted = ids.shape, f"{ids.shape}, as input_ids"
            if array is not None and (array.shape[:1] if name == "labels" else array.shape) != shape:
                raise ValueError(f"{name} has shape {array.shape}, wanted {wanted}")
        mask = self.attention_mask
        wrong = mask[(mask != 0) & (mask != 1)]
        if wrong.size:
            raise ValueError(f"attention_mask has a {wrong[0]}, wanted only 1 (real) and 0 (padding)")
        empty = np.argwhere(~mask.any(axis=-1)).tolist()
        if empty:
            where = ", ".join(map(str, empty[0]))
            raise ValueError(f"attention_mask[{where}] is all 0, wanted at least one real token")

    def grouped(self, count: int) -> Batch:
        """Return (B·C, T) as (B, C, T): each `count` neighbours become a group of C sequences.

        Targets are left out, as each group has one.

        Raises: ValueError unless the batch is (B·C, T) for this C.
        """
        shape = self.input_ids.shape
        if len(shape) != 2 or count < 1 or shape[0] % count:
            raise ValueError(f"input_ids has shape {shape}, wanted groups of {count} sequences")
        batch = Batch(*(getattr(self, name).reshape(-1, count, shape[1]) for name in _INPUTS))
        batch.names = self.names
        return batch

    def __repr__(self) -> str:
        """Show shapes and dtypes; and if the batch has `names` for its tokens, the first texts, each token with its
        target and each sequence with its labels."""
        real, places = np.count_nonzero(self.attention_mask), self.attention_mask.size
        arrays = {name: array for name, array in vars(self).items() if array is not None}
        rows = [f"{name}: {array.dtype} {array.shape}" for name, array in arrays.items()]
        texts = list(np.ndindex(self.input_ids.shape[:-1])) if self.names else []
        for index in texts[:_MOST_TEXTS]:
            is_real = self.attention_mask[index] != 0
            tokens = list(self.names["input_ids"](self.input_ids[index][is_real]))
            if self.labels is not None and self.labels.shape == self.input_ids.shape:
                targets = self.labels[index][is_real]
                for place in np.flatnonzero(targets != IGNORED):
                    (label,) = self.names.get("labels", list)(targets[[place]])
                    tokens[place] += f"→{label}"
            shown = " ".join(tokens[:_MOST_TOKENS])
            said = [f"{name} {array[index[0]]}" for name, array in arrays.items() if array.ndim == 1]
            rows.append(f"{shown}  ->  {', '.join(said)}" if said else shown)
        return titled(f"{type(self).__name__} of {real:,} tokens and {places - real:,} of padding:", *rows)


Encoding: TypeAlias = "tokenizers.Encoding"
"""A text as tokens.

ids, type_ids, attention_mask, tokens: of each token. offsets: its first character in the text, and the one after
its last. word_ids, and sequence_ids (0 or 1, the text of a pair): None for [CLS] and [SEP]. overflowing: the parts
that were cut. word_to_chars(word, sequence): the first character of a word, and the one after its last.
"""


class Ids(NamedTuple):
    """The token ids and types of a text, as arrays (T,), and whether the text was cut.

    The library's encoding of a text has more, and takes over five kilobytes.
    """

    ids: Array
    type_ids: Array
    overflowing: bool


def pad_rows(rows: Sequence[Sequence[int] | Array], padding: int) -> Array:
    """Return the N rows as an array (N, T) of integers, filled at the end with `padding` to the longest.

    Raises: TypeError for a row of other numbers.
    """
    array = np.full((len(rows), max(map(len, rows), default=0)), padding)
    for target, row in zip(array, rows, strict=True):
        np.copyto(target[: len(row)], row)  # which refuses to round
    return array


def pad(ids: Sequence[Sequence[int] | Array], types: Sequence[Sequence[int] | Array], *, pad_id: int) -> Batch:
    """Return a Batch of sequences with these ids and types, padded at the end to the longest. Padding has token
    `pad_id`, type 0 and mask 0. Raises: as Batch."""
    mask = [[1] * len(row) for row in ids]
    return Batch(pad_rows(ids, pad_id), pad_rows(types, 0), pad_rows(mask, 0))


def _numbers(name: str, values: Any) -> Array:
    """Return an array of integers; of floats, too, where a target may be one; of truth values, too, for a mask."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in _OTHER_KINDS.get(name, ""):
        check_integers(array, name=name)  # NumPy makes an empty list a float array
    return array


class Position(NamedTuple):
    """The number of a group of the data, which is in memory at once, and of a batch in the group; both from 0."""

    group: int = 0
    batch: int = 0


START = Position()


def in_batches(examples: Any, size: int, place: Position) -> Iterator[tuple[Position, Any]]:
    """Yield the examples of a group in batches, each with its place, from `place` on."""
    for number in range(place.batch, -(-len(examples) // size)):
        yield Position(place.group, number), examples[number * size : (number + 1) * size]


@dataclass(frozen=True, repr=False)
class TaskData:
    """Batches of `batch_size` examples, by `collate`; the last of an epoch may be smaller.

    Raises: ValueError unless batch_size is at least 1.
    """

    examples: Sequence[Any]
    collate: Callable[[Sequence[Any]], Batch]
    batch_size: int = 32

    def __post_init__(self) -> None:
        at_least(1).check("batch_size", self.batch_size)

    def __repr__(self) -> str:
        return f"TaskData of {counted(len(self.examples), 'example')}, in batches of {self.batch_size}"

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return -(-len(self.examples) // self.batch_size)

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """Yield the batches of the epoch with this seed from `place` on, each with its place."""
        order = np.random.default_rng(epoch_seed).permutation(len(self.examples))
        for position, numbers in in_batches(order, self.batch_size, place):
            yield position, self.collate([self.examples[number] for number in numbers])
