"""Every block of npbert, small and awkward, with inputs on which no check is blind.

One catalogue serves `npbert gradcheck`, the tests and the planted bugs. Weights are of size 1 and γ is not constant.
Sizes differ wherever one axis could be taken for another. eps counts. Sequences are ragged, and not sorted by length;
ids and rows repeat; labels are ignored here and there; p is not 0.5; the decoder is tied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.blocks import (
    BertEmbeddings,
    Checkpointed,
    Encoder,
    EncoderLayer,
    FeedForward,
    MaskedLMHead,
    MeanPooling,
    MultiHeadAttention,
    NextSentenceHead,
    Pooler,
)
from npbert.core import IGNORED, Init, Layer, Sequences
from npbert.data.batch import Batch
from npbert.gradcheck import LossOf, randomize
from npbert.layers import (
    GELU,
    DotProductAttention,
    Dropout,
    Embedding,
    Gather,
    LayerNorm,
    Linear,
    MeanSquaredError,
    ReLU,
    Softmax,
    SoftmaxCrossEntropy,
    Tanh,
    TanhGELU,
    Unpack,
)
from npbert.models import (
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

B, T, N, M, D, H, F, V = 3, 5, 8, 4, 6, 2, 7, 9
"""N rows in 3 sequences; M are read, one of them twice. A head has 3 features."""

_EPS = 1e-2
_SEED = 0  # one for which no ReLU sees a number so near 0 that a difference would reach across
_LENGTHS = Sequences(np.array([4, 2, 2]))
_READ = np.array([0, 0, 5, 7])
_MASK = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0], [1, 1, 0, 0, 0]])
_IDS = np.array([[1, 5, 5, 2, 0], [5, 1, 0, 0, 0], [6, 3, 0, 0, 0]])
_TYPES = np.array([[0, 0, 1, 1, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0]])
_LABELS = np.array([[IGNORED, 4, 0, 2, IGNORED], [IGNORED, 4, *[IGNORED] * 3], [6, *[IGNORED] * 4]])
_PACKED_IDS = np.array([1, 5, 5, 2, 5, 1, 6, 3])
_PACKED_TYPES = np.array([0, 0, 1, 1, 0, 1, 0, 0])
_PACKED_POSITIONS = np.array([0, 1, 2, 3, 0, 1, 0, 1])
_PACKED_LABELS = np.array([IGNORED, 4, 0, 2, IGNORED, 4, 8, IGNORED])


@dataclass(frozen=True)
class Setting:
    """A layer, how to build it, or a twin of it that is wrong, and what to hand to its forward.

    build(layer_class, init) -> the layer   inputs(rng) -> what forward takes, floats in float64
    """

    layer_class: type[Any]
    build: Callable[[Any, Init], Any]
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]

    def make(
        self, layer_class: type[Any] | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[Layer, tuple[Any, ...], np.random.Generator]:
        """The layer, or one of another class, with random parameters; its inputs; and the generator for its dropout.

        The same numbers for every class and dtype, but for rounding.
        """
        layer = self.build(layer_class or self.layer_class, Init(np.random.default_rng(_SEED), 1.0, dtype))
        randomize(layer, np.random.default_rng(_SEED + 1))
        inputs = self.inputs(np.random.default_rng(_SEED + 2))
        is_float = [isinstance(value, np.ndarray) and value.dtype == np.float64 for value in inputs]
        inputs = tuple(value.astype(dtype) if f else value for value, f in zip(inputs, is_float, strict=True))
        return layer, inputs, np.random.default_rng(_SEED + 3)


def _plain(layer_class: Any, init: Init) -> Any:
    return layer_class()


def _x(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.standard_normal((N, D)),)


def _x_twice(rng: np.random.Generator) -> tuple[Any, ...]:
    return *_x(rng), *_x(rng)


def _rows_that_look(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.standard_normal((M, D)), *_x(rng), _LENGTHS.only(_READ)


def _embeddings(layer_class: Any, init: Init, **changes: Any) -> Any:
    return layer_class(V, D, init, max_position_embeddings=T, dropout=0.2, layer_norm_eps=_EPS, **changes)


def _encoder_layer(layer_class: Any, init: Init, activation: str = "gelu") -> Any:
    dropout = {"dropout": 0.2, "attention_dropout": 0.3}
    return layer_class(D, H, F, init, activation=activation, layer_norm_eps=_EPS, **dropout)


def _encoder(layer_class: Any, init: Init, *, checkpointing: bool = False) -> Any:
    encoder = layer_class([_encoder_layer(EncoderLayer, init), _encoder_layer(EncoderLayer, init, "gelu_new")])
    encoder.gradient_checkpointing = checkpointing
    return encoder


CONFIG = BertConfig(V, D, 1, H, F, max_position_embeddings=T, layer_norm_eps=_EPS, classifier_dropout=0.3)
"""Of the models in the catalogue."""


def _model(layer_class: Any, init: Init, **changes: Any) -> Any:
    return layer_class(replace(CONFIG, **changes), rng=init.rng, dtype=init.dtype)


def _batch(rng: np.random.Generator, **targets: Any) -> tuple[Any, ...]:
    arrays = {name: np.array(values) for name, values in targets.items()}
    return (Batch(_IDS.copy(), _TYPES.copy(), _MASK.copy(), **arrays),)


def _of_model(model_class: type[Any], *, config: dict[str, Any] | None = None, **targets: Any) -> Setting:
    """A model's loss on a batch with these targets."""
    changes = config or {}
    return Setting(
        model_class, lambda cls, init: LossOf(_model(cls, init, **changes)), lambda rng: _batch(rng, **targets)
    )


def _choices(rng: np.random.Generator) -> tuple[Any, ...]:
    ids, types, mask = (np.stack([array, array[[1, 2, 0]]], axis=1) for array in (_IDS, _TYPES, _MASK))
    return (Batch(ids, types, mask, np.array([0, 1, 1])),)


_WORDS: dict[str, Any] = {"labels": _LABELS, "next_sentence_label": [0, 1, 1]}

CATALOGUE: dict[str, Setting] = {
    "Linear": Setting(Linear, lambda cls, init: cls(D, F, init), _x),
    "Tanh": Setting(Tanh, _plain, _x),
    "ReLU": Setting(ReLU, _plain, _x),
    "GELU": Setting(GELU, _plain, _x),
    "TanhGELU": Setting(TanhGELU, _plain, _x),
    "Softmax": Setting(Softmax, _plain, _x),
    "LayerNorm": Setting(LayerNorm, lambda cls, init: cls(D, init, eps=_EPS), _x),
    "Dropout": Setting(Dropout, lambda cls, init: cls(0.3), _x),
    "Embedding": Setting(Embedding, lambda cls, init: cls(V, D, init), lambda rng: (_PACKED_IDS,)),
    "Gather": Setting(Gather, _plain, lambda rng: (*_x(rng), np.array([7, 0, 7, 2, 5, 5]))),
    "Unpack": Setting(Unpack, _plain, lambda rng: (*_x(rng), np.array([5, 6, 10, 11, 0, 1, 2, 3]), (B, T))),
    "SoftmaxCrossEntropy": Setting(
        SoftmaxCrossEntropy, _plain, lambda rng: (rng.standard_normal((N, V)), _PACKED_LABELS)
    ),
    "MeanSquaredError": Setting(MeanSquaredError, _plain, _x_twice),
    "DotProductAttention": Setting(
        DotProductAttention,
        lambda cls, init: cls(H, 0.3),
        lambda rng: (rng.standard_normal((M, D)), *_x_twice(rng), _LENGTHS.only(_READ)),
    ),
    "FeedForward, gelu": Setting(FeedForward, lambda cls, init: cls(D, F, init), _x),
    "FeedForward, gelu_new": Setting(FeedForward, lambda cls, init: cls(D, F, init, activation="gelu_new"), _x),
    "FeedForward, relu": Setting(FeedForward, lambda cls, init: cls(D, F, init, activation="relu"), _x),
    "MultiHeadAttention": Setting(
        MultiHeadAttention, lambda cls, init: cls(D, H, init, dropout=0.3), lambda rng: (*_x_twice(rng), _LENGTHS)
    ),
    "MultiHeadAttention, some rows look": Setting(
        MultiHeadAttention, lambda cls, init: cls(D, H, init, dropout=0.3), _rows_that_look
    ),
    "MultiHeadAttention, one sequence": Setting(
        MultiHeadAttention, lambda cls, init: cls(D, H, init, dropout=0.3), _x_twice
    ),
    "EncoderLayer": Setting(EncoderLayer, _encoder_layer, lambda rng: (*_x_twice(rng), _LENGTHS)),
    "EncoderLayer, some rows look": Setting(EncoderLayer, _encoder_layer, _rows_that_look),
    "Checkpointed": Setting(
        Checkpointed,
        lambda cls, init: cls(_encoder_layer(EncoderLayer, init)),
        lambda rng: (*_x_twice(rng), _LENGTHS),
    ),
    "Encoder": Setting(Encoder, _encoder, lambda rng: (*_x(rng), _LENGTHS)),
    "Encoder, some rows read": Setting(Encoder, _encoder, lambda rng: (*_x(rng), _LENGTHS, _READ)),
    "Encoder, checkpointed": Setting(
        Encoder, partial(_encoder, checkpointing=True), lambda rng: (*_x(rng), _LENGTHS, _READ)
    ),
    "BertEmbeddings": Setting(BertEmbeddings, _embeddings, lambda rng: (_PACKED_IDS, _PACKED_TYPES, _PACKED_POSITIONS)),
    "BertEmbeddings, sinusoidal": Setting(
        BertEmbeddings,
        partial(_embeddings, position_embedding_type="sinusoidal"),
        lambda rng: (_PACKED_IDS, _PACKED_TYPES, _PACKED_POSITIONS),
    ),
    "Pooler": Setting(Pooler, lambda cls, init: cls(D, init), _x),
    "MeanPooling": Setting(MeanPooling, _plain, lambda rng: (*_x(rng), _LENGTHS)),
    "MaskedLMHead": Setting(MaskedLMHead, lambda cls, init: cls(init.normal(V, D), init, layer_norm_eps=_EPS), _x),
    "NextSentenceHead": Setting(NextSentenceHead, lambda cls, init: cls(D, init), _x),
    "BertModel": Setting(BertModel, _model, _batch),
    "BertForPreTraining": _of_model(BertForPreTraining, **_WORDS),
    "BertForPreTraining, sinusoidal, gelu_new": _of_model(
        BertForPreTraining, config={"position_embedding_type": "sinusoidal", "hidden_act": "gelu_new"}, **_WORDS
    ),
    "BertForPreTraining, logits of all": Setting(BertForPreTraining, _model, _batch),
    "BertForMaskedLM": _of_model(BertForMaskedLM, labels=[_LABELS[0], [IGNORED] * T, _LABELS[2]]),
    "BertForMaskedLM, logits of all": Setting(BertForMaskedLM, _model, _batch),
    "BertForSequenceClassification": _of_model(
        BertForSequenceClassification, config={"num_labels": 5}, labels=[4, IGNORED, 1]
    ),
    "BertForSequenceClassification, regression": _of_model(
        BertForSequenceClassification, config={"num_labels": 1}, labels=[0.5, -2.0, 3.0]
    ),
    "BertForMultipleChoice": Setting(BertForMultipleChoice, lambda cls, init: LossOf(_model(cls, init)), _choices),
    "BertForTokenClassification": _of_model(BertForTokenClassification, config={"num_labels": V}, labels=_LABELS),
    "BertForQuestionAnswering": _of_model(
        BertForQuestionAnswering, start_positions=[1, IGNORED, 0], end_positions=[3, IGNORED, 1]
    ),
}
