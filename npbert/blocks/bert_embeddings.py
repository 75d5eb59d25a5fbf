"""BertEmbeddings: the sum of three vectors, for the token, its position and its sentence."""

from collections.abc import Callable

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import Dropout, Embedding, LayerNorm, Linear, NoEmbedding, SinusoidalPositions

POSITION_KINDS: dict[str, Callable[[int, int, Init], Layer]] = {
    "absolute": Embedding,
    "sinusoidal": SinusoidalPositions,
    "rotary": lambda length, features, init: NoEmbedding(),
}
"""The kinds of positions, and the table of each."""


class BertEmbeddings(Layer):
    """y = Dropout(LayerNorm(word[input_id] + position[t] + type[token_type_id])).

    input_ids (N,)   token_type_ids (N,), 0 = first sentence, 1 = second   y (N, D)
    positions (N,): t, the column of each token in its batch

    position_embedding_type: `absolute`, a learned table (BERT); `sinusoidal`, fixed (the Transformer); or `rotary`, no
    table, as attention applies the positions.
    type_vocab_size: 0 for no types (DistilBERT).
    projected_size: the width of y after a Linear, for narrower tables (ALBERT: Lan et al. 2019, section 3.1).
    (Devlin et al. 2018, section 3, "Input/Output Representations"; LayerNorm and dropout as in its code.)
    Chapter 7 of docs/ derives it.

    Raises: ValueError for another kind of positions; TypeError for ids that are not integers, IndexError for an id
    outside its table.
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        init: Init,
        *,
        max_position_embeddings: int,
        type_vocab_size: int = 2,
        position_embedding_type: str = "absolute",
        dropout: float = 0.0,
        layer_norm_eps: float = 1e-12,
        projected_size: int | None = None,
    ) -> None:
        if position_embedding_type not in POSITION_KINDS:
            wanted = ", ".join(POSITION_KINDS)
            raise ValueError(f"position_embedding_type is {position_embedding_type!r}, wanted one of {wanted}")
        self.word_embeddings = Embedding(vocab_size, hidden_size, init)
        self.position_embeddings = POSITION_KINDS[position_embedding_type](max_position_embeddings, hidden_size, init)
        self.token_type_embeddings = Embedding(type_vocab_size, hidden_size, init) if type_vocab_size else NoEmbedding()
        self.layer_norm = LayerNorm(hidden_size, init, eps=layer_norm_eps)
        self.dropout = Dropout(dropout)
        self.projection = Linear(hidden_size, projected_size, init) if projected_size else None

    def forward(self, input_ids: Array, token_type_ids: Array, positions: Array, tape: Tape = NO_TAPE) -> Array:
        word = self.word_embeddings(input_ids, tape)
        position = self.position_embeddings(positions, tape)
        token_type = self.token_type_embeddings(token_type_ids, tape)
        y = self.layer_norm(word + position + token_type, tape)
        y = self.dropout(y, tape)
        return self.projection(y, tape) if self.projection else y

    def backward(self, dy: Array, tape: Tape) -> None:
        """Give each of the three tables the gradient of the sum: each term of a sum gets it unchanged. Ids have no
        gradient."""
        if self.projection:
            dy = self.projection.backward(dy, tape)
        dy = self.dropout.backward(dy, tape)
        dsum = self.layer_norm.backward(dy, tape)
        self.token_type_embeddings.backward(dsum, tape)
        self.position_embeddings.backward(dsum, tape)
        self.word_embeddings.backward(dsum, tape)
