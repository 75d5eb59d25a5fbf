"""BertModel: embeddings, encoder and pooler, as in the paper. TextPooling: a vector for each text, from the vectors of
its tokens."""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from npbert.blocks import BertEmbeddings, MaxPooling, MeanPooling, Pooler
from npbert.compute import Array, DTypeLike, inference_parts, neighbours, run
from npbert.compute.blas_lending import Lending
from npbert.core import NO_TAPE, Init, Layer, Sequences, Tape
from npbert.display import shown_in_short
from npbert.io import InputIndexError, one_of
from npbert.layers import DotProductAttention, Gather, LayerNorm, Unpack
from npbert.models.architecture import make_encoder
from npbert.models.config import BertConfig
from npbert.models.packed_batch import AnyBatch, PackedBatch
from npbert.models.pretrained import PreTrainedModel

_lending = Lending()
_LAYERS = {"mean": MeanPooling(), "cls": None, "max": MaxPooling(), "mean_sqrt_len_tokens": MeanPooling(0.5)}
POOLINGS = tuple(_LAYERS)


class TextPooling(Layer):
    """The `mean` of the token vectors of each text, the vector of [CLS] (`cls`), the largest value of each feature
    (`max`), or the sum / √(number of tokens) (`mean_sqrt_len_tokens`).

    h (M, D), the rows that are read   y (B, D), in the order of the batch

    Raises: InputError for another pooling.
    """

    def __init__(self, pooling: str) -> None:
        one_of(POOLINGS).check("pooling", pooling)
        self.layer, self.gather = _LAYERS[pooling], Gather()

    def forward(self, h: Array, packed: PackedBatch, tape: Tape = NO_TAPE) -> Array:
        if self.layer is None:
            return self.gather(h, packed.first, tape)
        return self.gather(self.layer(h, packed.sequences, tape), packed.unsorted, tape)

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dh is 0 except for the first token of each text with `cls`; else each token has its share of dy."""
        dh = self.gather.backward(dy, tape)
        return self.layer.backward(dh, tape) if self.layer else dh


@shown_in_short
class BertOutput(NamedTuple):
    """last_hidden_state (B, T, D): a vector for every token, 0 for padding; pooler_output (B, D): a vector for the
    whole sequence, or None without a pooler."""

    last_hidden_state: Array
    pooler_output: Array | None


class BertModel(PreTrainedModel):
    """h = Encoder(BertEmbeddings(ids, types, positions)),  pooled = Pooler(h of each [CLS]).

    batch -> (last_hidden_state (B, T, D), pooler_output (B, D)). (Devlin et al. 2018, section 3.)

    rng: draws the initial weights; None: they are 0, for a model about to be loaded.
    add_pooling_layer: False leaves the pooler out, for a head that reads only tokens; None: as in the published model
    without a head.

    Raises: the errors of PackedBatch, before any computation.
    """

    def __init__(
        self,
        config: BertConfig,
        *,
        rng: np.random.Generator | None,
        dtype: DTypeLike = np.float32,
        add_pooling_layer: bool | None = None,
    ) -> None:
        architecture = config.architecture
        init = Init(rng, config.initializer_range, dtype, bias=architecture.biases != "none")
        self.config = config
        self.embeddings = BertEmbeddings(
            config.vocab_size,
            architecture.embedding_size or config.hidden_size,
            init,
            max_position_embeddings=config.max_position_embeddings + architecture.first_position,
            type_vocab_size=config.type_vocab_size if architecture.has_types else 0,
            position_embedding_type=config.position_embedding_type,
            dropout=config.hidden_dropout_prob,
            layer_norm_eps=config.layer_norm_eps,
            projected_size=architecture.embedding_size and config.hidden_size,
        )
        self.encoder = make_encoder(config, init)
        has_pooler = architecture.base_pooler if add_pooling_layer is None else add_pooling_layer
        self.pooler: Pooler | None = None
        if has_pooler:
            norm = LayerNorm(config.hidden_size, init, eps=config.layer_norm_eps) if architecture.token_pooler else None
            self.pooler = Pooler(config.hidden_size, init, activation=architecture.pooler, norm=norm)
        self.pooling, self.unpack = TextPooling(architecture.pools), Unpack()

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> BertOutput:
        packed = self.pack(batch)  # without padding from here on
        h = self.encode(packed, tape)
        pooled = self.pool(h, packed, tape) if self.pooler else None
        hidden = self.unpack(h, packed.places, packed.shape, tape)  # with padding again, as zeros
        return BertOutput(hidden, pooled)

    def backward(self, doutput: tuple[Array, Any], tape: Tape) -> None:
        """Add both gradients of the last hidden state, as it is an output and the pooler's input."""
        dhidden, dpooled = doutput
        dh = self.unpack.backward(dhidden, tape)
        if self.pooler:
            dh = dh + self.pool_backward(dpooled, tape)
        self.encode_backward(dh, tape)

    def encode(self, packed: PackedBatch, tape: Tape = NO_TAPE) -> Array:
        """Return the last hidden state (N, D) of the rows, or (M, D) of those that a head reads.

        Sequences are independent, so in inference threads take parts of a large batch through all layers. (In training
        they take parts with the loss: `npbert.training.accumulate`.) Small batches use BLAS's threads
        (compute/blas_lending.py).
        """
        if tape is None:
            raise TypeError("tape is None, wanted a Tape, or NO_TAPE without a backward")
        sequences, read = packed.sequences, packed.read_rows
        h = self.embeddings(packed.input_ids, packed.token_type_ids, packed.positions, tape)
        if tape.keeps or tape.rng is not None:
            return self.encoder(h, sequences, read, tape)
        parts = neighbours(sequences.lengths, inference_parts(*h.shape))
        if len(parts) == 1:
            return _lending(lambda: self.encoder(h, sequences, read, tape), self, len(h))

        def work(part: slice) -> Array:
            first, last = sequences.offsets[[part.start, part.stop]]
            own = None if read is None else read[slice(*np.searchsorted(read, [first, last]))] - first
            return self.encoder(h[first:last], Sequences(sequences.lengths[part]), own, tape)

        return np.concatenate(run(work, parts))

    def encode_backward(self, dh: Array, tape: Tape) -> None:
        """Run the backward of `encode`: from dh to every parameter of the encoder and the embeddings."""
        self.embeddings.backward(self.encoder.backward(dh, tape), tape)

    def pool(self, h: Array, packed: PackedBatch, tape: Tape = NO_TAPE) -> Array:
        """Return a vector for each sequence (B, D), from the hidden state of its first token, [CLS], or from their
        mean."""
        assert self.pooler, "a model that pools has a pooler"
        return self.pooler(self.pooling(h, packed, tape), tape)

    def pool_backward(self, dpooled: Array, tape: Tape) -> Array:
        """Run the backward of `pool`: dh is 0 except for the rows that the pooling reads."""
        assert self.pooler, "a model that pools has a pooler"
        return self.pooling.backward(self.pooler.backward(dpooled, tape), tape)

    def hidden_states(self, batch: AnyBatch, layers: Collection[int] | None = None) -> dict[int, Array]:
        """Return the hidden states (B, T, D) by layer, all or only `layers`: 0 is the embeddings, L the last layer.

        Padding is 0. A negative number counts from the end, and stays the key.

        Raises: IndexError for a layer that the model does not have; the model's errors for a batch.
        """
        numbers = self.layer_numbers(layers, 0)
        packed = self.pack(batch)
        states = self.hidden_rows(packed, numbers.values())
        return {asked: self.unpack(states[number], packed.places, packed.shape) for asked, number in numbers.items()}

    def attention_probabilities(self, batch: AnyBatch, layers: Collection[int] | None = None) -> dict[int, Array]:
        """Return the attention weights (B, H, T, T) by layer, 1 to L, all or only `layers`.

        A row is a query, with sum 1, and a column is a key; both are 0 for padding. Layer l reads hidden state l − 1. A
        negative number counts from the end, and stays the key.

        Raises: as hidden_states.
        """
        numbers = self.layer_numbers(layers, 1)
        packed = self.pack(batch)
        calls: list[Any] = []

        def watch(layer: Any, inputs: Any, output: Any) -> None:
            if isinstance(layer, DotProductAttention):
                calls.append((layer, *inputs))

        self.hidden_rows(packed, numbers.values(), Tape(keeps=False, watcher=watch))
        batch_size, length = packed.shape
        found = {}
        for asked, number in numbers.items():
            layer, q, k, *_ = calls[number - 1]
            found[asked] = grid = np.zeros((batch_size, self.config.num_attention_heads, length, length), q.dtype)
            for sequence, p in zip(packed.order, layer.probabilities(q, k, packed.sequences), strict=True):
                t = np.flatnonzero(packed.is_real[sequence])
                grid[sequence][:, t[:, None], t] = p
        return found

    def hidden_rows(self, packed: PackedBatch, numbers: Collection[int], tape: Tape = NO_TAPE) -> list[Array]:
        """Return the hidden states of the rows (N, D), from 0, the embeddings, to the largest of these layers."""
        states = [self.embeddings(packed.input_ids, packed.token_type_ids, packed.positions)]
        for layer in self.encoder.layers[: max(numbers, default=0)]:
            states.append(layer(states[-1], states[-1], packed.sequences, tape))
        if self.encoder.norm and len(states) > len(self.encoder.layers):
            states[-1] = self.encoder.norm(states[-1])
        return states

    def layer_numbers(self, layers: Collection[int] | None, first: int = 0, *, what: str = "layers") -> dict[int, int]:
        """Return the numbers, from `first` to L, of these layers; −1 means L.

        Raises: InputIndexError with the argument `what` for another layer.
        """
        last = len(self.encoder.layers)
        asked = range(first, last + 1) if layers is None else layers
        numbers = {layer: layer if layer >= 0 else last + 1 + layer for layer in asked}
        for layer, number in numbers.items():
            if not first <= number <= last:
                wanted = f"{first} to {last}, or {first - last - 1} to -1 from the end"
                raise InputIndexError(what, layer, wanted)
        return numbers
