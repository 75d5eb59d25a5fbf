"""BertModel: embeddings, encoder and pooler, as the paper puts them together."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.layers import Array, BertEmbeddings, Cache, Encoder, EncoderLayer, Pooler
from npbert.layers.checks import check_ids
from npbert.models.config import BertConfig
from npbert.models.pretrained import PreTrainedModel

NO_TOKENS = np.array([], int)
"""What a head reads of the tokens that takes the pooled vector alone."""


class BertOutput(NamedTuple):
    """last_hidden_state (B, T, D): a vector for every token; pooler_output (B, D): one for the whole sequence, or None
    from a model without a pooler."""

    last_hidden_state: Array
    pooler_output: Any


class BertModel(PreTrainedModel):
    """h = Encoder(BertEmbeddings(ids, types)),  pooled = Pooler(h).

    batch -> (last_hidden_state (B, T, D), pooler_output (B, D)). (Devlin et al. 2018, section 3.)

    rng: in the constructor, where the initial weights are drawn from; None leaves them 0, for a model about to be
    loaded. In forward, where dropout is drawn from; None means evaluation.
    read (M,): the positions of the flattened batch that a head reads. Then last_hidden_state is (M, D), and what those
    vectors do not depend on, such as padding, is not computed. None means all.
    add_pooling_layer: False leaves the pooler out, for a head that reads the tokens alone.

    Raises: IndexError for ids or types beyond the configuration, or a position to read beyond the batch; ValueError for
    a sequence longer than its positions; all before anything is computed.
    """

    def __init__(
        self,
        config: BertConfig,
        *,
        rng: np.random.Generator | None,
        dtype: DTypeLike = np.float32,
        add_pooling_layer: bool = True,
    ) -> None:
        init: dict[str, Any] = {"rng": rng, "initializer_range": config.initializer_range, "dtype": dtype}
        self.config = config
        self.embeddings = BertEmbeddings(
            config.vocab_size,
            config.hidden_size,
            max_position_embeddings=config.max_position_embeddings,
            type_vocab_size=config.type_vocab_size,
            position_embedding_type=config.position_embedding_type,
            dropout=config.hidden_dropout_prob,
            layer_norm_eps=config.layer_norm_eps,
            **init,
        )
        self.encoder = Encoder(
            EncoderLayer(
                config.hidden_size,
                config.num_attention_heads,
                config.intermediate_size,
                dropout=config.hidden_dropout_prob,
                attention_dropout=config.attention_probs_dropout_prob,
                activation=config.hidden_act,
                layer_norm_eps=config.layer_norm_eps,
                **init,
            )
            for _ in range(config.num_hidden_layers)
        )
        self.pooler = Pooler(config.hidden_size, **init) if add_pooling_layer else None

    def __call__(self, batch: Batch, rng: None = None, read: Array | None = None) -> BertOutput:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        check_batch(batch, self.config)
        rows_read = self._read(batch, read)
        h = self.embeddings(batch.input_ids, batch.token_type_ids)
        h = self.encoder(h, batch.attention_mask, None, rows_read)
        h, sequences = self._for_heads(h, batch, read)
        return BertOutput(h, self.pooler(sequences) if self.pooler else None)

    def forward(
        self, batch: Batch, rng: np.random.Generator | None = None, read: Array | None = None
    ) -> tuple[BertOutput, Cache]:
        check_batch(batch, self.config)
        rows_read = self._read(batch, read)
        h, embeddings_cache = self.embeddings.forward(batch.input_ids, batch.token_type_ids, rng)
        h, encoder_cache = self.encoder.forward(h, batch.attention_mask, rng, rows_read)
        h, sequences = self._for_heads(h, batch, read)
        pooled, pooler_cache = self.pooler.forward(sequences) if self.pooler else (None, None)
        sizes = (len(batch.input_ids), len(h)) if self.pooler and read is not None else None
        return BertOutput(h, pooled), (embeddings_cache, encoder_cache, pooler_cache, sizes)

    def backward(self, doutput: tuple[Any, Any], cache: Cache) -> None:
        """The last hidden state is an output and the pooler's input, so its gradient is the sum of both.

        A None in doutput is a gradient of 0: the head read only the other output.
        """
        dhidden, dpooled = doutput
        embeddings_cache, encoder_cache, pooler_cache, sizes = cache
        dsequences = self.pooler.backward(dpooled, pooler_cache) if self.pooler and dpooled is not None else None
        if sizes:  # as in forward, the [CLS] of each sequence stand before the rows that are read
            given: Any = dsequences if dhidden is None else dhidden
            batch_size, _ = sizes
            dh = np.zeros((sum(sizes), given.shape[-1]), given.dtype)
            dh[:batch_size] = 0 if dsequences is None else dsequences[:, 0]
            dh[batch_size:] = 0 if dhidden is None else dhidden
        elif dsequences is not None:
            dh = dsequences if dhidden is None else dhidden + dsequences
        else:
            dh = dhidden
        self.embeddings.backward(self.encoder.backward(dh, encoder_cache), embeddings_cache)

    def _read(self, batch: Batch, read: Array | None) -> Array | None:
        """What is read of the encoder's output: besides `read`, and before it, the [CLS] of each sequence."""
        if read is None:
            return None
        check_ids(read, batch.input_ids.size, name="read", limit_name="the number of positions")
        batch_size, length = batch.input_ids.shape
        return np.concatenate([np.arange(batch_size) * length, read.astype(int)]) if self.pooler else read

    def _for_heads(self, h: Array, batch: Batch, read: Array | None) -> tuple[Array, Array]:
        """The last hidden state, and what the pooler takes for sequences: all of h, or of each only its [CLS]."""
        if read is None or not self.pooler:
            return h, h
        batch_size = len(batch.input_ids)
        return h[batch_size:], h[:batch_size, None]

    def hidden_states(self, batch: Batch, layers: Collection[int] | None = None) -> dict[int, Array]:
        """The hidden states (B, T, D) by layer: 0 is the embeddings, L the last layer; all of them, or just `layers`.

        A number below 0 counts from the end, and stays the key. (The features of Devlin et al. 2018, section 5.3.)

        Raises: IndexError for a layer that the model does not have, and what the model raises for a batch.
        """
        numbers = self._layer_numbers(layers, 0)
        check_batch(batch, self.config)
        h = self.embeddings(batch.input_ids, batch.token_type_ids)
        states = {0: h}
        for number, layer in enumerate(self.encoder.layers[: max(numbers.values(), default=0)], start=1):
            h = layer(h, batch.attention_mask)
            if number in numbers.values():
                states[number] = h
        return {asked: states[number] for asked, number in numbers.items()}

    def attention_probabilities(self, batch: Batch, layers: Collection[int] | None = None) -> dict[int, Array]:
        """What each token takes from each other, (B, H, T, T) by layer, 1 to L; all of them, or just `layers`.

        A row is a query and sums to 1, a column is a key. Layer l reads hidden state l − 1. A number below 0 counts
        from the end, and stays the key.

        Raises: as hidden_states.
        """
        numbers = self._layer_numbers(layers, 1)
        inputs = self.hidden_states(batch, {number - 1 for number in numbers.values()})
        return {
            asked: self.encoder.layers[number - 1].attention.probabilities(inputs[number - 1], batch.attention_mask)
            for asked, number in numbers.items()
        }

    def _layer_numbers(self, layers: Collection[int] | None, first: int) -> dict[int, int]:
        """The number from `first` to L of each layer that is asked for; −1 means L."""
        last = len(self.encoder.layers)
        asked = range(first, last + 1) if layers is None else layers
        numbers = {layer: layer if layer >= 0 else last + 1 + layer for layer in asked}
        for layer, number in numbers.items():
            if not first <= number <= last:
                raise IndexError(
                    f"layer is {layer}, wanted {first} to {last}, or {first - last - 1} to -1 from the end"
                )
        return numbers


def check_is_batch(batch: Batch) -> None:
    """Raise TypeError for what is no Batch."""
    if not isinstance(batch, Batch):
        raise TypeError(f"a model takes a Batch, got {type(batch).__name__}")


def check_sequences(batch: Batch) -> None:
    """Raise TypeError for what is no Batch, ValueError for one that is not (B, T)."""
    check_is_batch(batch)
    if batch.input_ids.ndim != 2:
        raise ValueError(f"input_ids has shape {batch.input_ids.shape}, wanted (B, T): a row a sequence")


def check_batch(batch: Batch, config: BertConfig) -> None:
    """Raise IndexError for ids or types beyond the tables, ValueError for a sequence longer than the positions or a
    batch that is not (B, T), and TypeError for what is no Batch."""
    check_sequences(batch)
    check_ids(batch.input_ids, config.vocab_size, name="input_ids", limit_name="vocab_size")
    check_ids(batch.token_type_ids, config.type_vocab_size, name="token_type_ids", limit_name="type_vocab_size")
    length = batch.input_ids.shape[1]
    if length > config.max_position_embeddings:
        raise ValueError(
            f"the sequences have {length} tokens, but max_position_embeddings is {config.max_position_embeddings}"
        )
