"""Every block of npbert, small and awkward, with inputs that hide no mistake.

One catalogue serves `npbert gradcheck`, the tests and the planted bugs. Weights have size 1, γ is not constant, and eps
matters. Sizes differ wherever one axis could be confused with another. Sequences are ragged and not sorted by length,
ids and rows repeat, some labels are ignored, p is not 0.5, and the decoder is tied. `Shapes.drawn` gives the same
blocks random shapes.
"""

import copy
from collections.abc import Callable
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
Inputs = Callable[[np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class Setting:
    """A layer of the catalogue, with functions to build it (or a wrong variant of it) and its inputs.

    build(layer_class, init) -> the layer   inputs(rng) -> the arguments of forward, floats in float64
    """

    layer_class: type[Any]
    build: Build
    inputs: Inputs

    def make(
        self, layer_class: type[Any] | None = None, dtype: DTypeLike = np.float64, seed: int = _SEED
    ) -> tuple[Layer, tuple[Any, ...], np.random.Generator]:
        """Return the layer (or one of another class) with random parameters, its inputs, and the generator for its
        dropout.

        A seed gives the same numbers for every class and dtype, but for rounding.
        """
        layer = self.build(layer_class or self.layer_class, Init(np.random.default_rng(seed), 1.0, dtype))
        randomize(layer, np.random.default_rng(seed + 1))
        drawn = copy.deepcopy(self.inputs(np.random.default_rng(seed + 2)))  # what is given may change
        inputs = [value.astype(dtype) if getattr(value, "dtype", None) == np.float64 else value for value in drawn]
        return layer, tuple(inputs), np.random.default_rng(seed + 3)


def _made(*values: Any, **options: Any) -> Build:
    """Return a function that builds a layer without parameters from these values."""
    return lambda cls, init: cls(*values, **options)


def _sized(*sizes: int, **options: Any) -> Build:
    """Return a function that builds a layer with parameters of these sizes."""
    return lambda cls, init: cls(*sizes, init, **options)


def _given(*values: Any) -> Inputs:
    """Return a function that gives these inputs: of a shape, an array that is drawn."""
    return lambda rng: tuple(rng.standard_normal(each) if isinstance(each, tuple) else each for each in values)


def blocks(shapes: Shapes) -> dict[str, Setting]:
    """Return a Setting for each block, with these shapes. Its name begins with its class, before a comma."""
    D, H, F, V = shapes.D, shapes.H, shapes.F, shapes.V
    (B, T), lengths, read = shapes.mask.shape, shapes.sequences, shapes.read
    config = BertConfig(V, D, 1, H, F, max_position_embeddings=T, layer_norm_eps=_EPS, classifier_dropout=0.3)
    rows, wide, few, wide_few = (shapes.N, D), (shapes.N, 2 * D), (len(read), D), (len(read), 2 * D)
    x, sequences = _given(rows), _given(rows, rows, lengths)
    some_look = _given(few, rows, lengths.only(read))
    some_read = _given(rows, lengths, read)
    of_three = _given(few, rows, rows, lengths.only(read))
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
        """Return the functions for a model's loss and its batch."""
        return lambda cls, init: LossOf(model(cls, init, config, **options or {})), _given(given)

    def grouped(count: int, labels: Array) -> Batch:
        """Return a batch of groups of `count` sequences, those of the other batches."""
        arrays = (shapes.ids, shapes.types, shapes.mask)
        ids, types, mask = (np.stack([np.roll(of, -n, axis=0) for n in range(count)], axis=1) for of in arrays)
        return Batch(ids, types, mask, labels=labels)

    _, positions = places = np.nonzero(shapes.mask)
    ids, of_embeddings = shapes.ids[places], _given(shapes.ids[places], shapes.types[places], positions)
    words: dict[str, Any] = {"labels": shapes.word_labels, "next_sentence_label": shapes.next_sentence}
    one_without = np.where(np.arange(B)[:, None] == 1, IGNORED, shapes.word_labels)
    numbers = np.array([0.5, -2.0, 3.0])[:B]
    turned = np.roll(np.flatnonzero(shapes.mask), shapes.N // 2)
    texts = np.arange(3 * B).reshape(B, 3)
    texts[-1, 2] = texts[0, 1]  # it answers the first query, too
    triples, texts_of_triples = _given((B, 3, D), texts), grouped(3, texts)
    replaced = np.where(shapes.word_labels == IGNORED, IGNORED, shapes.word_labels % 2)
    labels, logits = shapes.word_labels[places], (shapes.N, V)
    batch = partial(Batch, shapes.ids, shapes.types, shapes.mask)
    of_batch = _given(batch())
    made: dict[str, tuple[Build, Inputs]] = {
        "Linear": (_sized(D, F), x),
        **dict.fromkeys(("Tanh", "ReLU", "GELU", "TanhGELU", "SiLU", "Softmax", "UnitLength"), (_made(), x)),
        "LayerNorm": (_sized(D, eps=_EPS), x),
        "Dropout": (_made(0.3), x),
        "Embedding": (_sized(V, D), _given(ids)),
        "Gather": (_made(), _given(rows, read[::-1])),
        "Unpack": (_made(), lambda rng: (rng.standard_normal(rows), turned, shapes.mask.shape)),
        "SoftmaxCrossEntropy": (_made(), _given(logits, labels)),
        "WeightedCrossEntropy": (_made(), _given(logits, labels, np.linspace(0.5, 2, shapes.N))),
        "MeanSquaredError": (_made(), _given(rows, rows)),
        "InBatchNegatives": (_made(3.0), triples),
        "InBatchNegatives, both ways": (_made(3.0, both_ways=True), triples),
        "CosineLoss": (_made(), _given((B, 2, D), np.linspace(-1, 1, B))),
        "CoSENT": (_made(3.0), _given((B, 2, D), np.arange(B) % 3)),
        "TripletLoss": (_made(0.5), triples),
        "DotProductAttention": (_made(H, 0.3), of_three),
        "Rotary": (rotary, _given(wide, lengths.positions)),
        "RelativeBias": (bias, _given(np.arange(6, -7, -1))),
        "BinaryCrossEntropy": (_made(), _given((B, T), replaced)),
        "DistanceAttention, bias": (distance_attention(), _given(rows, rows, rows, lengths)),
        "DistanceAttention, bias within reach, some rows look": (distance_attention(reach=1), of_three),
        **{f"FeedForward, {name}": (_sized(D, F, activation=name), x) for name in ("gelu", "gelu_new", "relu")},
        "GatedFeedForward, gelu": (_sized(D, F), x),
        "GatedFeedForward, silu, no biases": (
            lambda cls, init: cls(D, F, replace(init, bias=False), activation="silu"),
            x,
        ),
        "RotaryAttention": (rotary_attention, _given(wide, wide, wide, lengths)),
        "RotaryAttention, some rows look": (rotary_attention, _given(wide_few, wide, wide, lengths.only(read))),
        "MultiHeadAttention": (attention, sequences),
        "MultiHeadAttention, some rows look": (attention, some_look),
        "MultiHeadAttention, one sequence": (attention, _given(rows, rows)),
        "EncoderLayer": (layer(), sequences),
        "EncoderLayer, some rows look": (layer(), some_look),
        "PreNormEncoderLayer": (layer(), sequences),
        "PreNormEncoderLayer, some rows look": (layer(), some_look),
        "Checkpointed": (lambda cls, init: cls(layer()(EncoderLayer, init)), sequences),
        "Encoder": (encoder, _given(rows, lengths)),
        "Encoder, some rows read": (encoder, some_read),
        "Encoder, one layer three times": (lambda cls, init: cls([layer()(EncoderLayer, init)] * 3), some_read),
        "Encoder, pre-norm": (
            lambda cls, init: cls([layer()(PreNormEncoderLayer, init) for _ in range(2)], LayerNorm(D, init, eps=_EPS)),
            some_read,
        ),
        "Encoder, checkpointed": (partial(encoder, checkpointing=True), some_read),
        "BertEmbeddings": (embeddings(), of_embeddings),
        "BertEmbeddings, sinusoidal": (embeddings(position_embedding_type="sinusoidal"), of_embeddings),
        "Pooler": (_sized(D), x),
        "MeanPooling": (_made(), _given(rows, lengths)),
        "MeanPooling, over the square root": (_made(0.5), _given(rows, lengths)),
        "MaxPooling": (_made(), _given(rows, lengths)),
        "MaskedLMHead": (lambda cls, init: cls(init.normal(V, D), init, layer_norm_eps=_EPS), x),
        "NextSentenceHead": (_sized(D), x),
        "ReplacedTokenHead": (_sized(D), x),
        "BertModel": (model, of_batch),
        "BertForPreTraining": loss(batch(**words)),
        "BertForPreTraining, sinusoidal, gelu_new": loss(
            batch(**words), position_embedding_type="sinusoidal", hidden_act="gelu_new"
        ),
        "BertForPreTraining, logits of all": (model, of_batch),
        "BertForMaskedLM": loss(batch(labels=one_without)),
        "BertForMaskedLM, logits of all": (model, of_batch),
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
    return {name: Setting(getattr(npbert, name.partition(",")[0]), *each) for name, each in made.items()}


CATALOGUE = blocks(AWKWARD)
"""Every block, in awkward shapes."""
