"""PackedBatch: the real tokens of a batch as rows. Above it there is padding, and below it there is none."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from npbert.compute import Array
from npbert.core import Sequences
from npbert.core.checks import check_ids
from npbert.data.batch import Batch
from npbert.models.config import BertConfig


class PackedBatch:
    """The N real tokens of a batch (B, T), one after another; the sequences are sorted by length.

    input_ids, token_type_ids, positions (N,): of each row   places (N,): where it stands in the flattened batch
    sequences: which rows belong together; they are the batch's in the `order` (B,). Sorting costs nothing, as only ids
    are moved, and makes neighbours of sequences of equal length, which attention then multiplies in one go.

    read (M,): the places that a head reads, in any order; None for all. `read_rows` are their rows, in ascending order:
    those for which the last layer is computed.

    Raises: TypeError for what is no Batch; ValueError when it is not (B, T), longer than the model takes, or when
    padding is to be read; IndexError for ids or types beyond the tables, or a place beyond the batch.
    """

    def __init__(self, batch: Batch, config: BertConfig, read: Array | None = None) -> None:
        check_batch(batch, config)
        self.shape: tuple[int, int] = batch.input_ids.shape
        _, length = self.shape
        is_real = batch.attention_mask != 0
        if read is not None:
            check_ids(read, is_real.size, name="read", limit_name="the number of tokens")
            read = read.astype(np.intp)
        lengths = is_real.sum(axis=1)
        counts = lengths if read is None else np.bincount(np.unique(read) // length, minlength=len(lengths))
        order = np.lexsort((counts, lengths))  # by length, and among equals by how many are read

        sequence, position = np.nonzero(is_real[order])
        self.places = order[sequence] * length + position
        self.positions = position
        self.input_ids = batch.input_ids.reshape(-1)[self.places]
        self.token_type_ids = batch.token_type_ids.reshape(-1)[self.places]
        self.sequences = Sequences(lengths[order])
        self.order = order
        self._first_places = first_places(batch)
        self._row_of_place = np.full(is_real.size, -1)
        self._row_of_place[self.places] = np.arange(len(self.places))
        self.read_rows = None if read is None else np.unique(self._row(read))

    def where(self, places: Array) -> Array:
        """In which rows of what the encoder computed the tokens at `places` (M,) of the flattened batch are."""
        rows = self._row(places)
        return rows if self.read_rows is None else np.searchsorted(self.read_rows, rows)

    @cached_property
    def unsorted(self) -> Array:
        """Where each sequence of the batch is among the sorted (B,): x[packed.unsorted] is in the batch's order."""
        return np.argsort(self.order)

    @cached_property
    def first(self) -> Array:
        """In which rows of what the encoder computed the first token of each sequence is, [CLS] (B,)."""
        return self.where(self._first_places)

    def _row(self, places: Array) -> Array:
        rows = self._row_of_place[places]
        if (rows < 0).any():
            sequence, position = divmod(int(places[rows < 0][0]), self.shape[1])
            raise ValueError(f"token [{sequence}, {position}] is to be read, but it is padding")
        return rows


def first_places(batch: Batch) -> Array:
    """Where in the flattened batch the first real token of each sequence is, [CLS] (B,)."""
    batch_size, length = batch.input_ids.shape
    return np.arange(batch_size) * length + (batch.attention_mask != 0).argmax(axis=1)


def check_is_batch(batch: Batch, wanted: str = "(B, T)") -> None:
    """Raise TypeError for what is no Batch, ValueError for one whose input_ids are not `wanted`."""
    if not isinstance(batch, Batch):
        raise TypeError(f"a model takes a Batch, got {type(batch).__name__}")
    if batch.input_ids.ndim != wanted.count(",") + 1:
        raise ValueError(f"input_ids has shape {batch.input_ids.shape}, wanted {wanted}")


def check_batch(batch: Batch, config: BertConfig) -> None:
    """Raise as PackedBatch does for a batch that a model of this configuration does not take."""
    check_is_batch(batch)
    check_ids(batch.input_ids, config.vocab_size, name="input_ids", limit_name="vocab_size")
    check_ids(batch.token_type_ids, config.type_vocab_size, name="token_type_ids", limit_name="type_vocab_size")
    length = batch.input_ids.shape[1]
    if length > config.max_position_embeddings:
        raise ValueError(
            f"the sequences have {length} tokens, but max_position_embeddings is {config.max_position_embeddings}"
        )
