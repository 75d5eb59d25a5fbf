"""BertEmbeddings: what a token is, where it stands and which sentence it is in, added up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.dropout import Dropout
from npbert.layers.embedding import Embedding
from npbert.layers.layer_norm import LayerNorm
from npbert.layers.parameter import Array, Cache, Layer
from npbert.layers.positions import SinusoidalPositions

POSITION_KINDS = ("absolute", "sinusoidal")


class BertEmbeddings(Layer):
    """y = Dropout(LayerNorm(token[id] + position[t] + segment[type])).

    input_ids (B, T)   token_type_ids (B, T), 0 = first sentence, 1 = second   y (B, T, D)
    rng: where dropout is drawn from; None means evaluation.

    position_embedding_type: `absolute`, a learned table (BERT), or `sinusoidal`, fixed (the Transformer). (Devlin et
    al. 2018, section 3, "Input/Output Representations"; LayerNorm and dropout as in its code.)

    Raises: TypeError for ids that are not integers; IndexError for an id, a type or a position beyond its table;
    ValueError for another kind of positions, or when the two arrays are not of one shape (B, T).
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        *,
        max_position_embeddings: int,
        type_vocab_size: int = 2,
        position_embedding_type: str = "absolute",
        dropout: float = 0.0,
        layer_norm_eps: float = 1e-12,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        if position_embedding_type not in POSITION_KINDS:
            wanted = " or ".join(POSITION_KINDS)
            raise ValueError(f"position_embedding_type is {position_embedding_type!r}, wanted {wanted}")
        init: dict[str, Any] = {"rng": rng, "initializer_range": initializer_range, "dtype": dtype}
        self.word_embeddings = Embedding(vocab_size, hidden_size, **init)
        self.position_embeddings: Embedding | SinusoidalPositions
        if position_embedding_type == "absolute":
            self.position_embeddings = Embedding(max_position_embeddings, hidden_size, **init)
        else:
            self.position_embeddings = SinusoidalPositions(max_position_embeddings, hidden_size, dtype=dtype)
        self.token_type_embeddings = Embedding(type_vocab_size, hidden_size, **init)
        self.layer_norm = LayerNorm(hidden_size, eps=layer_norm_eps, dtype=dtype)
        self.dropout = Dropout(dropout)

    def forward(
        self, input_ids: Array, token_type_ids: Array, rng: np.random.Generator | None = None
    ) -> tuple[Array, Cache]:
        if input_ids.ndim != 2 or token_type_ids.shape != input_ids.shape:
            shapes = f"{input_ids.shape} and {token_type_ids.shape}"
            raise ValueError(f"input_ids and token_type_ids have shapes {shapes}, wanted (B, T) for both")
        words, word_cache = self.word_embeddings.forward(input_ids)  # (B, T, D)
        positions, position_cache = self.position_embeddings.forward(np.arange(input_ids.shape[1]))  # (T, D)
        types, type_cache = self.token_type_embeddings.forward(token_type_ids)  # (B, T, D)
        h, norm_cache = self.layer_norm.forward(words + positions + types)
        y, dropout_cache = self.dropout.forward(h, rng)
        return y, (word_cache, position_cache, type_cache, norm_cache, dropout_cache)

    def backward(self, dy: Array, cache: Cache) -> None:
        """The sum hands its gradient to all three tables; a position is read once a sequence, so it sums over B."""
        word_cache, position_cache, type_cache, norm_cache, dropout_cache = cache
        dh = self.dropout.backward(dy, dropout_cache)
        dsum = self.layer_norm.backward(dh, norm_cache)
        self.token_type_embeddings.backward(dsum, type_cache)
        self.position_embeddings.backward(dsum.sum(axis=0), position_cache)
        self.word_embeddings.backward(dsum, word_cache)
