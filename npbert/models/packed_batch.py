"""PackedBatch: a batch for the model, checked once and without padding. Layers see only its rows."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, Sequences, check_ids, check_labels
from npbert.data import Batch
from npbert.io import one_of
from npbert.models.config import BertConfig

TokensRead = Literal["all", "first", "labelled", "first and labelled"]
LabelKind = Literal["class", "number", "numbers", "token class", "word", "replaced", "choice", "answer", "of the loss"]


@dataclass(frozen=True)
class Reads:
    """The parts of a batch that a model reads: tokens for its head, and labels for its loss.

    tokens: `all`; the `first` of each sequence, [CLS] (all, if the pooler takes their mean); the `labelled` ones (all,
    without labels in the batch); or both. The last layer is computed only for these tokens, an exact saving.
    labels: for each sequence a `class` below num_labels, a `number`, or num_labels `numbers`; for each token a `token
    class` below num_labels, its true `word`, or 1 where it was `replaced` and 0 elsewhere; for each group the right
    `choice`; the two ends of an `answer`; or numbers `of the loss`, which alone checks them.
    grouped: the batch is (B, C, T), and the C sequences of a group have one label.

    Raises: ValueError for other words.
    """

    tokens: TokensRead = "all"
    labels: LabelKind = "class"
    grouped: bool = False

    def __post_init__(self) -> None:
        one_of(get_args(TokensRead)).check("tokens", self.tokens)
        one_of(get_args(LabelKind)).check("labels", self.labels)

    @property
    def labels_are_numbers(self) -> bool:
        """True if the labels are measurements, not classes."""
        return self.labels.startswith("number")


READS_ALL = Reads()


class PackedBatch:
    """The N real tokens of a batch (B, T), one after another; the sequences are sorted by length.

    The batch has padding, and so has the output of Unpack, as zeros. In between there is no padding and no mask:
    attention stays within each sequence.

    A token has up to three indices: its *place* in the batch with padding, s · T + t; its *row* among the N real
    tokens, which the layers see; and its *output row* among the M rows that a head reads, for which alone the last
    layer is computed.

    places (N,): the place of each row   input_ids, token_type_ids, positions (N,): of each row
    sequences: which rows belong together, in the `order` (B,) of the batch. Sorting is cheap, as only ids move. It puts
    sequences of equal length together, for one product in attention. `unsorted` (B,): the sorted index of each sequence
    of the batch, so x[packed.unsorted] is in the batch's order.
    read_rows (M,): the rows that a head reads, in ascending order; None: all, and M is N.
    first_places, first (B,): place and output row of the first token of each sequence, [CLS].
    labelled_places, labelled (n,): place and output row of each token with a label; without labels, of all.
    labels: the targets of the loss.   batch: the original batch.

    A batch (B, C, T) is read as B · C sequences, and its `batch_shape` is (B, C); otherwise (B,).

    Raises: TypeError unless it is a Batch; ValueError unless it is (B, T), or (B, C, T) if `grouped`, for sequences
    longer than the model's limit, and for labels of another shape or on padding that select tokens; IndexError for ids
    or types outside the tables.
    """

    def __init__(self, batch: Batch, config: BertConfig, reads: Reads = READS_ALL) -> None:
        if not isinstance(batch, Batch):
            how = "use tokenizer.batch(tokenizer.encode(texts))"
            raise TypeError(f"batch is a {type(batch).__name__}, wanted a Batch; {how}")
        self.batch, self.config, self.reads, self.has_labels = batch, config, reads, batch.labels is not None
        *batch_shape, length = batch.input_ids.shape
        if len(batch_shape) != 1 + reads.grouped:
            wanted = f"{'(B, C, T)' if reads.grouped else '(B, T)'}, as the model has Reads(grouped={reads.grouped})"
            raise ValueError(f"input_ids has shape {batch.input_ids.shape}, wanted {wanted}")
        self.batch_shape, self.shape = tuple(batch_shape), (math.prod(batch_shape), length)
        types = batch.token_type_ids
        check_ids(batch.input_ids, config.vocab_size, name="input_ids", limit_name="vocab_size")
        if config.architecture.has_types and config.type_vocab_size > 1:
            check_ids(types, config.type_vocab_size, name="token_type_ids", limit_name="type_vocab_size")
        else:
            types = np.zeros_like(types)  # although a tokenizer may number the texts of a pair
        longest = config.max_position_embeddings
        if length > longest:
            raise ValueError(
                f"the sequences have {length} tokens, wanted at most {longest}, the max_position_embeddings"
            )

        # The real tokens, and those that a head reads.
        self.is_real: Array = batch.attention_mask.reshape(self.shape) != 0
        self.first_places = np.arange(self.shape[0]) * length + self.is_real.argmax(axis=1)
        reads_all = reads.tokens == "all" or ("first" in reads.tokens and config.architecture.pools == "mean")
        is_read = np.full(self.is_real.size, reads_all)
        if "first" in reads.tokens:
            is_read[self.first_places] = True
        if "labelled" in reads.tokens:
            is_read[self.labelled_places] = True

        # The sequences by length, and for equal lengths by the number of tokens to read.
        lengths, counts = self.is_real.sum(axis=1), is_read.reshape(self.shape).sum(axis=1)
        self.order: Array = np.lexsort((counts, lengths))
        self.unsorted = np.argsort(self.order)
        self.sequences = Sequences(lengths[self.order])

        # A row for each real token, one sequence after another in this order.
        sequence, self.positions = np.nonzero(self.is_real[self.order])
        self.places: Array = self.order[sequence] * length + self.positions
        self.input_ids: Array = batch.input_ids.reshape(-1)[self.places]
        self.token_type_ids: Array = types.reshape(-1)[self.places]
        if config.architecture.first_position:
            self.positions = self.sequences.positions + config.architecture.first_position

        # The rows to read; and the output row of each place, or −1.
        is_row_read = is_read[self.places]
        self.read_rows = None if reads_all else np.flatnonzero(is_row_read)
        places_read = self.places[is_row_read]
        self._output_row = np.full(self.is_real.size, -1)
        self._output_row[places_read] = np.arange(len(places_read))

    def __repr__(self) -> str:
        return f"PackedBatch of {self.places.size} rows in {self.shape[0]} sequences"

    def where(self, places: Array) -> Array:
        """Return the output rows of the `places`. Raises: ValueError for padding, or a token that is not read."""
        rows = self._output_row[places]
        if (rows < 0).any():
            s, t = divmod(int(places[rows < 0][0]), self.shape[1])
            raise ValueError(f"token [{s}, {t}] has no row: it is padding, or the model reads only {self.reads.tokens}")
        return rows

    @cached_property
    def labelled_places(self) -> Array:
        """The places of the tokens with a label; without labels in the batch, of all real ones (n,)."""
        return np.flatnonzero(self._labels_of_tokens() != IGNORED if self.has_labels else self.is_real)

    @cached_property
    def first(self) -> Array:
        """The output rows of `first_places` (B,)."""
        return self.where(self.first_places)

    @cached_property
    def labelled(self) -> Array:
        """The output rows of `labelled_places` (n,)."""
        return self.where(self.labelled_places)

    @cached_property
    def labels(self) -> Array:
        """The labels of the loss, in the order of the batch: (B,) for sequences or groups, (B·T,) for tokens, (n,) the
        words of the labelled tokens, (B, T) for replaced tokens, (B, 1) or (B, num_labels) numbers, (2·B,) all starts
        and then all ends of answers.

        Raises: ValueError if they are missing, of another shape, on padding or all −100; TypeError unless they are
        integers or `numbers`; IndexError for one out of range.
        """
        kind = self.reads.labels
        if kind == "answer":
            return self._ends_of_answers()
        if kind == "of the loss":
            return self.given("labels")
        if self.reads.labels_are_numbers:
            each = (self.config.num_labels,) if kind == "numbers" else ()
            return self._labels((*self.batch_shape[:1], *each)).reshape(self.batch_shape[0], -1)
        labels = self._labels(self.batch_shape[:1]) if kind in ("class", "choice") else self._labels_of_tokens()
        limits = {
            "choice": (self.batch_shape[-1], "the number of choices"),
            "word": (self.config.vocab_size, "vocab_size"),
            "replaced": (2, "the number of answers"),
        }
        limit, limit_name = limits.get(kind, (self.config.num_labels, "num_labels"))
        check_labels(labels, limit, limit_name=limit_name)
        if kind == "replaced":
            return labels
        return labels[labels != IGNORED] if kind == "word" else labels.reshape(-1)

    @property
    def next_sentence_labels(self) -> Array:
        """Return the labels of the sentence pairs (B,). Raises: as `labels`."""
        labels = self.given("next_sentence_label")
        check_ids(labels, 2, name="next_sentence_label", limit_name="the number of classes")
        return labels

    def given(self, name: str) -> Array:
        """Return an array of targets. Raises: ValueError if the batch has none of this name."""
        targets = getattr(self.batch, name)
        if targets is None:
            raise ValueError(f"{name} is missing, wanted {name} for the loss")
        return targets

    def _labels(self, shape: tuple[int, ...]) -> Array:
        labels = self.given("labels")
        if labels.shape != shape:
            raise ValueError(f"labels has shape {labels.shape}, wanted {shape}")
        return labels

    def _labels_of_tokens(self) -> Array:
        labels = self._labels(self.shape)
        on_padding = (labels != IGNORED) & ~self.is_real
        if on_padding.any():
            s, t = np.argwhere(on_padding)[0].tolist()
            raise ValueError(f"labels[{s}, {t}] is {labels[s, t]}, wanted {IGNORED}, as the token is padding")
        return labels

    def _ends_of_answers(self) -> Array:
        starts, ends = self.given("start_positions"), self.given("end_positions")
        if ((starts == IGNORED) != (ends == IGNORED)).any():
            raise ValueError(
                f"start_positions and end_positions disagree on the sequences without an answer ({IGNORED})"
            )
        for name, positions in (("start_positions", starts), ("end_positions", ends)):
            check_labels(positions, self.shape[1], limit_name="the number of tokens", name=name)
            for sequence, position in enumerate(positions.tolist()):
                if position != IGNORED and not self.is_real[sequence, position]:
                    raise ValueError(f"{name}[{sequence}] is {position}, which is padding, wanted a real token")
        return np.concatenate([starts, ends])


AnyBatch = Batch | PackedBatch
"""A batch before or after packing."""
