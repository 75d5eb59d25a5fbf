"""Every block of npbert, small and awkward, with inputs on which no check is blind.

One catalogue serves `npbert gradcheck`, the tests and the planted bugs. Weights are of size 1 and γ is not constant.
Sizes differ wherever one axis could be taken for another. eps counts. Sequences are ragged, and not sorted by length;
ids and rows repeat; labels are ignored here and there; p is not 0.5; the decoder is tied. With `Shapes.drawn`, the same
blocks come in random shapes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import npbert.blocks
import npbert.layers
import npbert.models
from npbert.blocks import EncoderLayer, PreNormEncoderLayer
from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Init, Layer, Tape
from npbert.data.batch import Batch
from npbert.gradcheck import LossOf, randomize
from npbert.layers import LayerNorm, RelativeBias, Rotary
from npbert.models import BertConfig
from npbert.shapes import AWKWARD, Shapes
from npbert.training.accumulate import accumulate

_ROOMS = npbert.layers, npbert.blocks, npbert.models
_CLASSES: dict[str, type[Any]] = {name: getattr(room, name) for room in _ROOMS for name in room.__all__}
_EPS = 1e-2
_SEED = 0  # one for which no ReLU sees a number so near 0 that a difference would reach across


@dataclass(frozen=True)
class Setting:
    """A layer, how to build it, or a twin of it that is wrong, and what to hand to its forward.

    build(layer_class, init) -> the layer   inputs(rng) -> what forward takes, floats in float64
    """

    layer_class: type[Any]
    build: Callable[[Any, Init], Any]
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]

    def make(
        self, layer_class: type[Any] | None = None, dtype: DTypeLike = np.float64, seed: int = _SEED
    ) -> tuple[Layer, tuple[Any, ...], np.random.Generator]:
        """The layer, or one of another class, with random parameters; its inputs; and the generator for its dropout.

        A seed has the same numbers for every class and dtype, but for rounding.
        """
        layer = self.build(layer_class or self.layer_class, Init(np.random.default_rng(seed), 1.0, dtype))
        randomize(layer, np.random.default_rng(seed + 1))
        inputs = self.inputs(np.random.default_rng(seed + 2))
        is_float = [isinstance(value, np.ndarray) and value.dtype == np.float64 for value in inputs]
        inputs = tuple(value.astype(dtype) if f else value for value, f in zip(inputs, is_float, strict=True))
        return layer, inputs, np.random.default_rng(seed + 3)


class LossInParts(Layer):
    """A model's loss over a whole batch, without dropout, with the backward of a training step: the batch is cut into
    `parts` parts at most, and each goes forward and back by itself."""

    def __init__(self, model: Any, parts: int) -> None:
        self.model, self.parts = model, parts

    def forward(self, batch: Batch, tape: Tape = NO_TAPE) -> Any:
        tape.keep(self, batch=batch)
        return self.model.loss(batch).loss

    def backward(self, dloss: Any, tape: Tape) -> None:
        """The gradient of a sum is the sum of the parts' gradients, each with its part's share of the targets."""
        accumulate(self.model, tape.take(self), None, parts=self.parts, dloss=float(dloss))


def _plain(layer_class: Any, init: Init) -> Any:
    return layer_class()


def blocks(shapes: Shapes) -> dict[str, Setting]:
    """A setting for each block, with these shapes. What stands before a comma in its name is its class."""
    D, H, F, V = shapes.D, shapes.H, shapes.F, shapes.V
    (B, T), lengths, read = shapes.mask.shape, shapes.sequences, shapes.read
    config = BertConfig(V, D, 1, H, F, max_position_embeddings=T, layer_norm_eps=_EPS, classifier_dropout=0.3)

    def x(rng: np.random.Generator) -> tuple[Any, ...]:
        return (rng.standard_normal((shapes.N, D)),)

    def x_twice(rng: np.random.Generator) -> tuple[Any, ...]:
        return *x(rng), *x(rng)

    def wide(rng: np.random.Generator) -> tuple[Any, ...]:
        """Rows of 2·D features, an even number in each head."""
        return (rng.standard_normal((shapes.N, 2 * D)),)

    def queries_and_keys(rng: np.random.Generator) -> tuple[Any, ...]:
        return rng.standard_normal((len(read), D)), *x(rng), lengths.only(read)

    def embeddings(layer_class: Any, init: Init, **changes: Any) -> Any:
        options = {"max_position_embeddings": T, "dropout": 0.2, "layer_norm_eps": _EPS}
        return layer_class(V, D, init, **options, **changes)

    def attention(layer_class: Any, init: Init) -> Any:
        return layer_class(D, H, init, dropout=0.3)

    def encoder_layer(layer_class: Any, init: Init, activation: str = "gelu") -> Any:
        dropout = {"dropout": 0.2, "attention_dropout": 0.3}
        return layer_class(D, H, F, init, activation=activation, layer_norm_eps=_EPS, **dropout)

    def distance_attention(layer_class: Any, init: Init, **distances: Any) -> Any:
        return layer_class(H, 0.3, **distances)

    def relative_bias(init: Init) -> RelativeBias:
        return RelativeBias(6, H, init, max_distance=4)

    def rotary_attention(layer_class: Any, init: Init) -> Any:
        return layer_class(2 * D, H, init, rotary=Rotary(2 * D // H, 10.0, init.dtype), dropout=0.3)

    def encoder(layer_class: Any, init: Init, *, checkpointing: bool = False) -> Any:
        made = layer_class([encoder_layer(EncoderLayer, init), encoder_layer(EncoderLayer, init, "gelu_new")])
        made.gradient_checkpointing = checkpointing
        return made

    def model(layer_class: Any, init: Init, **changes: Any) -> Any:
        return layer_class(replace(config, **changes), rng=init.rng, dtype=init.dtype)

    def vectors(layer_class: Any, init: Init, **options: Any) -> Any:
        return layer_class(config, rng=init.rng, dtype=init.dtype, **options)

    def of_model(*, config: dict[str, Any] | None = None, **targets: Any) -> Any:
        """A model's loss on a batch with these targets."""
        changes = config or {}
        return lambda cls, init: LossOf(model(cls, init, **changes)), lambda rng: (shapes.batch(**targets),)

    def batch(rng: np.random.Generator) -> tuple[Any, ...]:
        return (shapes.batch(),)

    def choices(rng: np.random.Generator) -> tuple[Any, ...]:
        arrays = shapes.ids, shapes.types, shapes.mask
        ids, types, mask = (np.stack([of, np.roll(of, -1, axis=0)], axis=1) for of in arrays)
        return (Batch(ids, types, mask, shapes.next_sentence),)

    def groups(rng: np.random.Generator, count: int) -> Array:
        """Vectors of the texts of B groups."""
        return rng.standard_normal((B, count, D))

    def triplets(rng: np.random.Generator) -> tuple[Any, ...]:
        arrays = shapes.ids, shapes.types, shapes.mask
        ids, types, mask = (np.stack([np.roll(of, n, axis=0) for n in range(3)], axis=1) for of in arrays)
        return (Batch(ids, types, mask, texts),)

    texts = np.arange(3 * B).reshape(B, 3)
    texts[-1, 2] = texts[0, 1]  # one that answers the first query, too
    _, positions = places = np.nonzero(shapes.mask)
    ids, of_embeddings = shapes.ids[places], (shapes.ids[places], shapes.types[places], positions)
    words: dict[str, Any] = {"labels": shapes.word_labels, "next_sentence_label": shapes.next_sentence}
    one_without = np.where(np.arange(B)[:, None] == 1, IGNORED, shapes.word_labels)
    made: dict[str, tuple[Callable[[Any, Init], Any], Callable[[np.random.Generator], tuple[Any, ...]]]] = {
        "Linear": (lambda cls, init: cls(D, F, init), x),
        "Tanh": (_plain, x),
        "ReLU": (_plain, x),
        "GELU": (_plain, x),
        "TanhGELU": (_plain, x),
        "SiLU": (_plain, x),
        "Softmax": (_plain, x),
        "LayerNorm": (lambda cls, init: cls(D, init, eps=_EPS), x),
        "Dropout": (lambda cls, init: cls(0.3), x),
        "Embedding": (lambda cls, init: cls(V, D, init), lambda rng: (ids,)),
        "Gather": (_plain, lambda rng: (*x(rng), read[::-1])),
        "Unpack": (
            _plain,
            lambda rng: (*x(rng), np.roll(np.flatnonzero(shapes.mask), shapes.N // 2), shapes.mask.shape),
        ),
        "SoftmaxCrossEntropy": (_plain, lambda rng: (rng.standard_normal((shapes.N, V)), shapes.packed_labels)),
        "SoftmaxCrossEntropy, weighted": (
            lambda cls, init: cls(np.linspace(0.5, 2, V).astype(init.dtype)),
            lambda rng: (rng.standard_normal((shapes.N, V)), shapes.packed_labels),
        ),
        "MeanSquaredError": (_plain, x_twice),
        "UnitLength": (_plain, x),
        "InBatchNegatives": (lambda cls, init: cls(3.0), lambda rng: (groups(rng, 3), texts)),
        "InBatchNegatives, both ways": (
            lambda cls, init: cls(3.0, both_ways=True),
            lambda rng: (groups(rng, 3), texts),
        ),
        "CosineLoss": (_plain, lambda rng: (groups(rng, 2), rng.uniform(-1, 1, B))),
        "CoSENT": (lambda cls, init: cls(3.0), lambda rng: (groups(rng, 2), rng.integers(0, 3, B))),
        "TripletLoss": (lambda cls, init: cls(0.5), lambda rng: (groups(rng, 3), texts)),
        "DotProductAttention": (
            lambda cls, init: cls(H, 0.3),
            lambda rng: (rng.standard_normal((len(read), D)), *x_twice(rng), lengths.only(read)),
        ),
        "Rotary": (
            lambda cls, init: cls(2 * D // H, 10.0, init.dtype),
            lambda rng: (*wide(rng), lengths.positions),
        ),
        "RelativeBias": (lambda cls, init: cls(6, H, init, max_distance=4), lambda rng: (np.arange(6, -7, -1),)),
        "DistanceAttention, bias": (
            lambda cls, init: distance_attention(cls, init, bias=relative_bias(init)),
            lambda rng: (*x_twice(rng), *x(rng), lengths),
        ),
        "DistanceAttention, bias within reach, some rows look": (
            lambda cls, init: distance_attention(cls, init, bias=relative_bias(init), reach=1),
            lambda rng: (rng.standard_normal((len(read), D)), *x_twice(rng), lengths.only(read)),
        ),
        "FeedForward, gelu": (lambda cls, init: cls(D, F, init), x),
        "FeedForward, gelu_new": (lambda cls, init: cls(D, F, init, activation="gelu_new"), x),
        "FeedForward, relu": (lambda cls, init: cls(D, F, init, activation="relu"), x),
        "GatedFeedForward, gelu": (lambda cls, init: cls(D, F, init), x),
        "GatedFeedForward, silu, no biases": (
            lambda cls, init: cls(D, F, replace(init, bias=False), activation="silu"),
            x,
        ),
        "RotaryAttention": (rotary_attention, lambda rng: (*wide(rng), *wide(rng), lengths)),
        "RotaryAttention, some rows look": (
            rotary_attention,
            lambda rng: (rng.standard_normal((len(read), 2 * D)), *wide(rng), lengths.only(read)),
        ),
        "MultiHeadAttention": (attention, lambda rng: (*x_twice(rng), lengths)),
        "MultiHeadAttention, some rows look": (attention, queries_and_keys),
        "MultiHeadAttention, one sequence": (attention, x_twice),
        "EncoderLayer": (encoder_layer, lambda rng: (*x_twice(rng), lengths)),
        "EncoderLayer, some rows look": (encoder_layer, queries_and_keys),
        "PreNormEncoderLayer": (encoder_layer, lambda rng: (*x_twice(rng), lengths)),
        "PreNormEncoderLayer, some rows look": (encoder_layer, queries_and_keys),
        "Checkpointed": (
            lambda cls, init: cls(encoder_layer(EncoderLayer, init)),
            lambda rng: (*x_twice(rng), lengths),
        ),
        "Encoder": (encoder, lambda rng: (*x(rng), lengths)),
        "Encoder, some rows read": (encoder, lambda rng: (*x(rng), lengths, read)),
        "Encoder, one layer three times": (
            lambda cls, init: cls([encoder_layer(EncoderLayer, init)] * 3),
            lambda rng: (*x(rng), lengths, read),
        ),
        "Encoder, pre-norm": (
            lambda cls, init: cls(
                [encoder_layer(PreNormEncoderLayer, init) for _ in range(2)], LayerNorm(D, init, eps=_EPS)
            ),
            lambda rng: (*x(rng), lengths, read),
        ),
        "Encoder, checkpointed": (partial(encoder, checkpointing=True), lambda rng: (*x(rng), lengths, read)),
        "BertEmbeddings": (embeddings, lambda rng: of_embeddings),
        "BertEmbeddings, sinusoidal": (
            partial(embeddings, position_embedding_type="sinusoidal"),
            lambda rng: of_embeddings,
        ),
        "Pooler": (lambda cls, init: cls(D, init), x),
        "MeanPooling": (_plain, lambda rng: (*x(rng), lengths)),
        "MeanPooling, over the square root": (lambda cls, init: cls(0.5), lambda rng: (*x(rng), lengths)),
        "MaxPooling": (_plain, lambda rng: (*x(rng), lengths)),
        "MaskedLMHead": (lambda cls, init: cls(init.normal(V, D), init, layer_norm_eps=_EPS), x),
        "NextSentenceHead": (lambda cls, init: cls(D, init), x),
        "BertModel": (model, batch),
        "BertForPreTraining": of_model(**words),
        "BertForPreTraining, sinusoidal, gelu_new": of_model(
            config={"position_embedding_type": "sinusoidal", "hidden_act": "gelu_new"}, **words
        ),
        "BertForPreTraining, logits of all": (model, batch),
        "BertForMaskedLM": of_model(labels=one_without),
        "BertForMaskedLM, logits of all": (model, batch),
        "BertForPreTraining, a batch in 3 parts": (
            lambda cls, init: LossInParts(model(cls, init), 3),
            lambda rng: (shapes.batch(**words),),
        ),
        "BertForSequenceClassification": of_model(config={"num_labels": 5}, labels=shapes.class_labels),
        "BertForSequenceClassification, regression": of_model(
            config={"num_labels": 1}, labels=np.array([0.5, -2.0, 3.0])[:B]
        ),
        "BertForMultipleChoice": (lambda cls, init: LossOf(model(cls, init)), choices),
        "BertForSentenceVectors": (lambda cls, init: LossOf(vectors(cls, init)), triplets),
        "BertForSentenceVectors, max, of length 1": (
            lambda cls, init: LossOf(vectors(cls, init, pooling="max", normalize=True)),
            triplets,
        ),
        "BertForSentenceVectors, a batch in 3 parts": (
            lambda cls, init: LossInParts(vectors(cls, init, pooling="cls"), 3),
            triplets,
        ),
        "BertForTokenClassification": of_model(config={"num_labels": V}, labels=shapes.word_labels),
        "BertForQuestionAnswering": of_model(start_positions=shapes.starts, end_positions=shapes.ends),
    }
    return {name: Setting(_CLASSES[name.partition(",")[0]], *each) for name, each in made.items()}


CATALOGUE = blocks(AWKWARD)
"""Every block, in awkward shapes."""
