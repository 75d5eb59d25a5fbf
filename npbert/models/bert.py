"""BertModel: embeddings, encoder and pooler, as the paper puts them together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.layers import Array, BertEmbeddings, Cache, Encoder, EncoderLayer, Layer, Pooler
from npbert.layers.checks import check_ids
from npbert.models.config import BertConfig


class BertOutput(NamedTuple):
    """last_hidden_state (B, T, D): a vector for every token; pooler_output (B, D): one for the whole sequence."""

    last_hidden_state: Array
    pooler_output: Array


class BertModel(Layer):
    """h = Encoder(BertEmbeddings(ids, types)),  pooled = Pooler(h).

    batch -> (last_hidden_state (B, T, D), pooler_output (B, D)). (Devlin et al. 2018, section 3.)

    rng: in the constructor, where the initial weights are drawn from; None leaves them 0, for a model about to be
    loaded. In forward, where dropout is drawn from; None means evaluation.

    Raises: IndexError for ids or types beyond the configuration, ValueError for a sequence longer than its positions;
    both before anything is computed.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
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
        self.pooler = Pooler(config.hidden_size, **init)

    def __call__(self, batch: Batch) -> BertOutput:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        check_batch(batch, self.config)
        h = self.embeddings(batch.input_ids, batch.token_type_ids)
        h = self.encoder(h, batch.attention_mask)
        return BertOutput(h, self.pooler(h))

    def forward(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[BertOutput, Cache]:
        check_batch(batch, self.config)
        h, embeddings_cache = self.embeddings.forward(batch.input_ids, batch.token_type_ids, rng)
        h, encoder_cache = self.encoder.forward(h, batch.attention_mask, rng)
        pooled, pooler_cache = self.pooler.forward(h)
        return BertOutput(h, pooled), (embeddings_cache, encoder_cache, pooler_cache)

    def backward(self, doutput: tuple[Array, Array], cache: Cache) -> None:
        """The last hidden state is an output and the pooler's input, so its gradient is the sum of both."""
        dhidden, dpooled = doutput
        embeddings_cache, encoder_cache, pooler_cache = cache
        dh = dhidden + self.pooler.backward(dpooled, pooler_cache)
        dh = self.encoder.backward(dh, encoder_cache)
        self.embeddings.backward(dh, embeddings_cache)


def check_batch(batch: Batch, config: BertConfig) -> None:
    """Raise IndexError for ids or types beyond the tables, ValueError for a sequence longer than the positions, and
    TypeError for what is no Batch."""
    if not isinstance(batch, Batch):
        raise TypeError(f"a model takes a Batch, got {type(batch).__name__}")
    check_ids(batch.input_ids, config.vocab_size, name="input_ids", limit_name="vocab_size")
    check_ids(batch.token_type_ids, config.type_vocab_size, name="token_type_ids", limit_name="type_vocab_size")
    length = batch.input_ids.shape[1]
    if length > config.max_position_embeddings:
        raise ValueError(
            f"the sequences have {length} tokens, but max_position_embeddings is {config.max_position_embeddings}"
        )
