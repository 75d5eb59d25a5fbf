"""Every block of npbert, small and awkward, with inputs that hide no mistake.

One catalogue serves `npbert gradcheck`, the tests and the planted bugs. Weights have size 1, γ is not constant, and eps
matters. Sizes differ wherever one axis could be confused with another. Sequences are ragged and not sorted by length,
ids and rows repeat, some labels are ignored, p is not 0.5, and the decoder is tied. `Shapes.drawn` gives the same
blocks random shapes.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import npbert
from npbert.blocks import EncoderLayer, PreNormEncoderLayer
from npbert.compute import Array
from npbert.core import IGNORED, Init, Layer
from npbert.data import Batch
from npbert.gradcheck import LossOf, randomize
from npbert.layers import DotProductAttention, LayerNorm, RelativeBias, Rotary
from npbert.models import BertConfig
from npbert.shapes import AWKWARD, Shapes

_EPS = 1e-2
_SEED = 0  # with it, no ReLU sees a number so near 0 that a finite difference crosses it


Build = Callable[[Any, Init], Any]


@dataclass(frozen=True, eq=False)
class Setting:
    """A layer of the catalogue, with a function to build it (or a wrong variant of it), and its inputs.

    build(layer_class, init) -> the layer   inputs: the arguments of forward; for a shape, random float64 numbers
    """

    layer_class: type[Any]
    build: Build
    inputs: Sequence[Any]

    def make(
        self, layer_class: type[Any] | None = None, dtype: DTypeLike = np.float64, seed: int = _SEED
    ) -> tuple[Layer, tuple[Any, ...], np.random.Generator]:
        """Return the layer (or one of another class) with random parameters, its inputs, and the generator for its
        dropout.

        A seed gives the same numbers for every class and dtype, but for rounding.
        """
        layer = self.build(layer_class or self.layer_class, Init(np.random.default_rng(seed), 1.0, dtype))
        randomize(layer, np.random.default_rng(seed + 1))
        rng, given = np.random.default_rng(seed + 2), copy.deepcopy(self.inputs)  # what is given may change
        drawn = [rng.standard_normal(each) if isinstance(each, tuple) else each for each in given]
        inputs = [value.astype(dtype) if getattr(value, "dtype", None) == np.float64 else value for value in drawn]
        return layer, tuple(inputs), np.random.default_rng(seed + 3)


def _made(*values: Any, **options: Any) -> Build:
    """Return a function that builds a layer without parameters from these values."""
    return lambda cls, init: cls(*values, **options)


def _sized(*sizes: int, **options: Any) -> Build:
    """Return a function that builds a layer with parameters of these sizes."""
    return lambda cls, init: cls(*sizes, init, **options)


def blocks(shapes: Shapes) -> dict[str, Setting]:
    """Return a Setting for each block, with these shapes. Its name begins with its class, before a comma."""
    D, H, F, V = shapes.D, shapes.H, shapes.F, shapes.V
    (B, T), lengths, read = shapes.mask.shape, shapes.sequences, shapes.read
    config = BertConfig(V, D, 1, H, F, max_position_embeddings=T, layer_norm_eps=_EPS, classifier_dropout=0.3)
    rows, wide, few, wide_few = (shapes.N, D), (shapes.N, 2 * D), (len(read), D), (len(read), 2 * D)
    sequences, few_lengths = (rows, rows, lengths), lengths.only(read)
    embeddings = partial(_sized, V, D, max_position_embeddings=T, dropout=0.2, layer_norm_eps=_EPS)
    attention = _sized(D, H, dropout=0.3)
    layer = partial(_sized, D, H, F, layer_norm_eps=_EPS, dropout=0.2, attention_dropout=0.3)
    bias = _sized(6, H, max_distance=4)

    def distance_attention(**distances: Any) -> Build:
        return lambda cls, init: cls(H, 0.3, bias=bias(RelativeBias, init), **distances)

    def rotary(layer_class: Any, init: Init) -> Any:
        return layer_class(2 * D // H, 10.0, init.dtype)

    def rotary_attention(layer_class: Any, init: Init) -> Any:
        return layer_class(DotProductAttention(H, 0.3), rotary(Rotary, init))

    def encoder(layer_class: Any, init: Init, *, checkpointing: bool = False) -> Any:
        made = layer_class([layer()(EncoderLayer, init), layer(activation="gelu_new")(EncoderLayer, init)])
        made.gradient_checkpointing = checkpointing
        return made

    def model(layer_class: Any, init: Init, changes: Any = None, **options: Any) -> Any:
        return layer_class(replace(config, **changes or {}), rng=init.rng, dtype=init.dtype, **options)

    def loss(given: Batch, options: Any = None, **config: Any) -> Any:
        """Return the function for a model's loss, and its batch."""
        return lambda cls, init: LossOf(model(cls, init, config, **options or {})), given

    def grouped(count: int, labels: Array) -> Batch:
        """Return a batch of groups of `count` sequences, those of the other batches."""
        which = (np.arange(B)[:, None] + np.arange(count)) % B
        return Batch(shapes.ids[which], shapes.types[which], shapes.mask[which], labels=labels)

    _, positions = places = np.nonzero(shapes.mask)
    ids = shapes.ids[places]
    of_embeddings = ids, shapes.types[places], positions
    words = {"labels": shapes.word_labels, "next_sentence_label": shapes.next_sentence}
    one_without = np.where(np.arange(B)[:, None] == 1, IGNORED, shapes.word_labels)
    numbers = np.array([0.5, -2.0, 3.0])[:B]
    turned = np.roll(np.flatnonzero(shapes.mask), shapes.N // 2)
    texts = np.arange(3 * B).reshape(B, 3)
    texts[-1, 2] = texts[0, 1]  # it answers the first query, too
    triples, texts_of_triples = ((B, 3, D), texts), grouped(3, texts)
    replaced = np.where(shapes.word_labels == IGNORED, IGNORED, shapes.word_labels % 2)
    labels, logits = shapes.word_labels[places], (shapes.N, V)
    batch = partial(Batch, shapes.ids, shapes.types, shapes.mask)
    made = {
        "Linear": (_sized(D, F), rows),
        **dict.fromkeys(("Tanh", "ReLU", "GELU", "TanhGELU", "SiLU", "Softmax", "UnitLength"), (_made(), rows)),
        "LayerNorm": (_sized(D, eps=_EPS), rows),
        "Dropout": (_made(0.3), rows),
        "Embedding": (_sized(V, D), ids),
        "Gather": (_made(), rows, read[::-1]),
        "Unpack": (_made(), rows, turned, [B, T]),
        "SoftmaxCrossEntropy": (_made(), logits, labels),
        "WeightedCrossEntropy": (_made(), logits, labels, np.linspace(0.5, 2, shapes.N)),
        "MeanSquaredError": (_made(), rows, rows),
        "InBatchNegatives": (_made(3.0), *triples),
        "InBatchNegatives, both ways": (_made(3.0, both_ways=True), *triples),
        "CosineLoss": (_made(), (B, 2, D), np.linspace(-1, 1, B)),
        "CoSENT": (_made(3.0), (B, 2, D), np.arange(B) % 3),
        "TripletLoss": (_made(0.5), *triples),
        "DotProductAttention": (_made(H, 0.3), few, rows, rows, few_lengths),
        "Rotary": (rotary, wide, lengths.positions),
        "RelativeBias": (bias, np.arange(6, -7, -1)),
        "BinaryCrossEntropy": (_made(), (B, T), replaced),
        "DistanceAttention, bias": (distance_attention(), rows, rows, rows, lengths),
        "DistanceAttention, bias within reach, some rows look": (
            distance_attention(reach=1),
            few,
            rows,
            rows,
            few_lengths,
        ),
        **{f"FeedForward, {name}": (_sized(D, F, activation=name), rows) for name in ("gelu", "gelu_new", "relu")},
        "GatedFeedForward, gelu": (_sized(D, F), rows),
        "GatedFeedForward, silu, no biases": (
            lambda cls, init: cls(D, F, replace(init, bias=False), activation="silu"),
            rows,
        ),
        "RotaryAttention": (rotary_attention, wide, wide, wide, lengths),
        "RotaryAttention, some rows look": (rotary_attention, wide_few, wide, wide, few_lengths),
        "MultiHeadAttention": (attention, *sequences),
        "MultiHeadAttention, some rows look": (attention, few, rows, few_lengths),
        "MultiHeadAttention, one sequence": (attention, rows, rows),
        "EncoderLayer": (layer(), *sequences),
        "EncoderLayer, some rows look": (layer(), few, rows, few_lengths),
        "PreNormEncoderLayer": (layer(), *sequences),
        "PreNormEncoderLayer, some rows look": (layer(), few, rows, few_lengths),
        "Checkpointed": (lambda cls, init: cls(layer()(EncoderLayer, init)), *sequences),
        "Encoder": (encoder, rows, lengths),
        "Encoder, some rows read": (encoder, rows, lengths, read),
        "Encoder, one layer three times": (
            lambda cls, init: cls([layer()(EncoderLayer, init)] * 3),
            rows,
            lengths,
            read,
        ),
        "Encoder, pre-norm": (
            lambda cls, init: cls([layer()(PreNormEncoderLayer, init) for _ in range(2)], LayerNorm(D, init, eps=_EPS)),
            rows,
            lengths,
            read,
        ),
        "Encoder, checkpointed": (partial(encoder, checkpointing=True), rows, lengths, read),
        "BertEmbeddings": (embeddings(), *of_embeddings),
        "BertEmbeddings, sinusoidal": (embeddings(position_embedding_type="sinusoidal"), *of_embeddings),
        **dict.fromkeys(("Pooler", "NextSentenceHead", "ReplacedTokenHead"), (_sized(D), rows)),
        "MeanPooling": (_made(), rows, lengths),
        "MeanPooling, over the square root": (_made(0.5), rows, lengths),
        "MaxPooling": (_made(), rows, lengths),
        "MaskedLMHead": (lambda cls, init: cls(init.normal(V, D), init, layer_norm_eps=_EPS), rows),
        **dict.fromkeys(
            ("BertModel", "BertForPreTraining, logits of all", "BertForMaskedLM, logits of all"), (model, batch())
        ),
        "BertForPreTraining": loss(batch(**words)),
        "BertForPreTraining, sinusoidal, gelu_new": loss(
            batch(**words), position_embedding_type="sinusoidal", hidden_act="gelu_new"
        ),
        "BertForMaskedLM": loss(batch(labels=one_without)),
        "ElectraForPreTraining": loss(batch(labels=replaced)),
        "ReplacedTokenDetection": loss(batch(labels=one_without)),
        "BertForSequenceClassification": loss(batch(labels=shapes.class_labels), num_labels=5),
        "BertForSequenceClassification, regression": loss(batch(labels=numbers), num_labels=1),
        "BertForMultipleChoice": loss(grouped(2, shapes.next_sentence)),
        "BertForSentenceVectors": loss(texts_of_triples),
        "BertForSentenceVectors, max, of length 1": loss(texts_of_triples, {"pooling": "max", "normalize": True}),
        "BertForSentenceVectors, cls": loss(texts_of_triples, {"pooling": "cls"}),
        "BertForTokenClassification": loss(batch(labels=shapes.word_labels), num_labels=V),
        "BertForQuestionAnswering": loss(batch(start_positions=shapes.starts, end_positions=shapes.ends)),
    }
    return {
        name: Setting(getattr(npbert, name.partition(",")[0]), build, inputs) for name, (build, *inputs) in made.items()
    }


CATALOGUE = blocks(AWKWARD)
"""Every block, in awkward shapes."""
