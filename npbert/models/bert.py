"""BertModel: embeddings, encoder and pooler, as the paper puts them together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from npbert.blocks import BertEmbeddings, Encoder, EncoderLayer, Pooler
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.data.batch import Batch
from npbert.layers import Gather, Unpack
from npbert.models.config import BertConfig
from npbert.models.features import Features
from npbert.models.packed_batch import PackedBatch
from npbert.models.pretrained import PreTrainedModel


class BertOutput(NamedTuple):
    """last_hidden_state (B, T, D): a vector for every token, 0 for padding; pooler_output (B, D): one for the whole
    sequence, or None from a model without a pooler."""

    last_hidden_state: Array
    pooler_output: Any


class BertModel(Features, PreTrainedModel):
    """h = Encoder(BertEmbeddings(ids, types, positions)),  pooled = Pooler(h of each [CLS]).

    batch -> (last_hidden_state (B, T, D), pooler_output (B, D)). (Devlin et al. 2018, section 3.)

    rng: where the initial weights are drawn from; None leaves them 0, for a model about to be loaded.
    add_pooling_layer: False leaves the pooler out, for a head that reads the tokens alone.

    Raises: what PackedBatch raises for the batch, before anything is computed.
    """

    def __init__(
        self,
        config: BertConfig,
        *,
        rng: np.random.Generator | None,
        dtype: DTypeLike = np.float32,
        add_pooling_layer: bool = True,
    ) -> None:
        init = Init(rng, config.initializer_range, dtype)
        self.config = config
        self.embeddings = BertEmbeddings(
            config.vocab_size,
            config.hidden_size,
            init,
            max_position_embeddings=config.max_position_embeddings,
            type_vocab_size=config.type_vocab_size,
            position_embedding_type=config.position_embedding_type,
            dropout=config.hidden_dropout_prob,
            layer_norm_eps=config.layer_norm_eps,
        )
        self.encoder = Encoder(
            EncoderLayer(
                config.hidden_size,
                config.num_attention_heads,
                config.intermediate_size,
                init,
                dropout=config.hidden_dropout_prob,
                attention_dropout=config.attention_probs_dropout_prob,
                activation=config.hidden_act,
                layer_norm_eps=config.layer_norm_eps,
            )
            for _ in range(config.num_hidden_layers)
        )
        self.pooler = Pooler(config.hidden_size, init) if add_pooling_layer else None
        self.gather, self.unpack = Gather(), Unpack()

    def forward(self, batch: Batch, tape: Tape = NO_TAPE) -> BertOutput:
        packed = PackedBatch(batch, self.config)  # padding ends: what follows sees the real tokens of each sequence
        h = self.encode(packed, tape)
        pooled = self.pool(h, packed, tape) if self.pooler else None
        hidden = self.unpack.forward(h, packed.places, packed.shape, tape)  # padding again, as zeros
        return BertOutput(hidden, pooled)

    def backward(self, doutput: tuple[Array, Any], tape: Tape) -> None:
        """The last hidden state is an output and the pooler's input, so its gradient is the sum of both."""
        dhidden, dpooled = doutput
        dh = self.unpack.backward(dhidden, tape)
        if self.pooler:
            dh = dh + self.pool_backward(dpooled, tape)
        self.encode_backward(dh, tape)

    def encode(self, packed: PackedBatch, tape: Tape = NO_TAPE) -> Array:
        """The last hidden state (N, D) of the rows, or (M, D) of those that are read: what a head starts from."""
        h = self.embeddings.forward(packed.input_ids, packed.token_type_ids, packed.positions, tape)
        return self.encoder.forward(h, packed.sequences, packed.read_rows, tape)

    def encode_backward(self, dh: Array, tape: Tape) -> None:
        """The backward of `encode`: from dh to every parameter of the encoder and the embeddings."""
        self.embeddings.backward(self.encoder.backward(dh, tape), tape)

    def pool(self, h: Array, packed: PackedBatch, tape: Tape = NO_TAPE) -> Array:
        """One vector for each sequence (B, D), from the hidden state of its first token, [CLS]."""
        assert self.pooler, "a model that pools has a pooler"
        return self.pooler.forward(self.gather.forward(h, packed.first, tape), tape)

    def pool_backward(self, dpooled: Array, tape: Tape) -> Array:
        """The backward of `pool`: dh is 0 but for the first token of each sequence, the only one that was read."""
        assert self.pooler, "a model that pools has a pooler"
        return self.gather.backward(self.pooler.backward(dpooled, tape), tape)
