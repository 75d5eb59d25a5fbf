"""The right layers, each with inputs on which no check is blind.

Sizes differ wherever one axis could be taken for another, and so does the number of targets. Weights are of size 1, γ
is not constant, and eps is not too small to be seen; ids and positions repeat; masks are ragged, with one sequence all
padding; p is not 0.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from npbert.layers.grid import Grid

from npbert.data import Batch
from npbert.gradcheck import LossOf, Report, check_directions, check_gradients, randomize
from npbert.layers import (
    GELU,
    IGNORED,
    AddNorm,
    BertEmbeddings,
    Dropout,
    Embedding,
    Encoder,
    EncoderLayer,
    Gather,
    LayerNorm,
    Linear,
    MaskedLMHead,
    MeanPooling,
    MeanSquaredError,
    MultiHeadAttention,
    Parameter,
    Pooler,
    Softmax,
    SoftmaxCrossEntropy,
    Tanh,
    TanhGELU,
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
    TaskModel,
)

B, T, D, H, F, V = 3, 4, 6, 2, 5, 7
MASK = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]])
IDS = np.array([[1, 5, 5, 2], [5, 1, 0, 0], [6, 3, 0, 0]])
TYPES = np.array([[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]])
LABELS = np.array([[IGNORED, 4, 0, 2], [IGNORED, 4, IGNORED, IGNORED], [6, IGNORED, IGNORED, IGNORED]])
POSITIONS = np.array([7, 0, 7, 2, 9, 5])  # the first is padding, and comes twice
GRID = Grid((B, T), np.array([0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11]))  # all that is real, and some padding
QUERIES = np.array([1, 4, 6, 9])
CONFIG = BertConfig(V, 4, 1, H, F, max_position_embeddings=T + 1, layer_norm_eps=1e-5)

Rng = np.random.Generator


@dataclass(frozen=True)
class Setting:
    """A right layer class, how to build it or a twin of it, and what to hand to its forward."""

    right: type[Any]
    build: Callable[[type[Any], Rng], Any]
    inputs: Callable[[Rng], tuple[Any, ...]]
    checks: tuple[Callable[..., Report], ...] = (check_gradients, check_directions)

    def make(self, layer_class: type[Any]) -> tuple[Any, tuple[Any, ...]]:
        """A layer with random parameters, and its inputs: the same for every class."""
        layer = self.build(layer_class, np.random.default_rng(0))
        randomize(layer, np.random.default_rng(1))
        return layer, self.inputs(np.random.default_rng(2))


def _plain(layer_class: type[Any], rng: Rng) -> Any:
    return layer_class()


def _x(rng: Rng) -> tuple[Any, ...]:
    return (rng.standard_normal((B, T, D)),)


def _x_mask_dropout(rng: Rng) -> tuple[Any, ...]:
    return *_x(rng), MASK, np.random.default_rng(3)


def _some_rows(features: int) -> Callable[[Rng], tuple[Any, ...]]:
    return lambda rng: (rng.standard_normal((11, features)), MASK, np.random.default_rng(3), GRID, QUERIES)


def _batch_dropout(rng: Rng) -> tuple[Any, ...]:
    batch = Batch(IDS.copy(), TYPES.copy(), MASK.copy(), LABELS.copy(), np.array([0, 1, 1]))
    return batch, np.random.default_rng(3)


def _options(rng: Rng) -> dict[str, Any]:
    return {"rng": rng, "dtype": np.float64}


LINEAR = Setting(Linear, lambda cls, rng: cls(D, F, **_options(rng)), _x)
TANH = Setting(Tanh, _plain, _x)
ERF_GELU = Setting(GELU, _plain, _x)
TANH_GELU = Setting(TanhGELU, _plain, _x)
SOFTMAX = Setting(Softmax, _plain, _x)
LAYER_NORM = Setting(LayerNorm, lambda cls, rng: cls(D, eps=1e-5, dtype=np.float64), _x)
DROPOUT = Setting(Dropout, lambda cls, rng: cls(0.3), lambda rng: (*_x(rng), np.random.default_rng(3)))
EMBEDDING = Setting(Embedding, lambda cls, rng: cls(V, D, **_options(rng)), lambda rng: (IDS,))
MEAN_POOLING = Setting(MeanPooling, _plain, lambda rng: (*_x(rng), MASK))
GATHER = Setting(Gather, _plain, lambda rng: (*_x(rng), np.array([7, 0, 7, 2, 11])))
POOLER = Setting(Pooler, lambda cls, rng: cls(D, **_options(rng)), _x)
SQUARED_ERROR = Setting(MeanSquaredError, _plain, lambda rng: (*_x(rng), *_x(rng)))
CROSS_ENTROPY = Setting(SoftmaxCrossEntropy, _plain, lambda rng: (rng.standard_normal((B, T, V)), LABELS))
MASKED_LM_HEAD = Setting(
    MaskedLMHead, lambda cls, rng: cls(Parameter.normal((V, D), **_options(rng)), **_options(rng)), _x
)
EMBEDDINGS = Setting(
    BertEmbeddings,
    lambda cls, rng: cls(V, D, max_position_embeddings=T + 1, dropout=0.2, **_options(rng)),
    lambda rng: (IDS, TYPES, np.random.default_rng(3)),
)
ATTENTION = Setting(MultiHeadAttention, lambda cls, rng: cls(D, H, dropout=0.3, **_options(rng)), _x_mask_dropout)
ADD_NORM = Setting(
    AddNorm,
    lambda cls, rng: cls(D, dropout=0.3, eps=1e-5, dtype=np.float64),
    lambda rng: (*_x(rng), *_x(rng), np.random.default_rng(3)),
)
ATTENTION_OF_SOME_ROWS = Setting(
    MultiHeadAttention, lambda cls, rng: cls(D, H, dropout=0.3, **_options(rng)), _some_rows(D)
)


def _encoder_layer(cls: type[Any], rng: Rng) -> Any:
    return cls(4, H, F, dropout=0.2, attention_dropout=0.3, **_options(rng))


ENCODER_LAYER = Setting(
    EncoderLayer,
    _encoder_layer,
    lambda rng: (rng.standard_normal((2, 3, 4)), np.array([[1, 1, 0], [0, 0, 0]]), np.random.default_rng(3)),
)

ENCODER_LAYER_OF_SOME_ROWS = Setting(EncoderLayer, _encoder_layer, _some_rows(4))
ENCODER = Setting(
    Encoder,
    lambda cls, rng: cls([_encoder_layer(EncoderLayer, rng), _encoder_layer(EncoderLayer, rng)]),
    lambda rng: (rng.standard_normal((B, T, 4)), MASK, np.random.default_rng(3), POSITIONS),
)

# A model has many numbers to move one by one; and what is wrong along a direction is wrong in one of them.
ONLY_DIRECTIONS = (check_directions,)
MODEL = Setting(BertModel, lambda cls, rng: cls(CONFIG, **_options(rng)), _batch_dropout, ONLY_DIRECTIONS)
MODEL_OF_SOME_POSITIONS = Setting(
    BertModel, MODEL.build, lambda rng: (*_batch_dropout(rng), POSITIONS), ONLY_DIRECTIONS
)
PRETRAINING = Setting(
    BertForPreTraining, lambda cls, rng: LossOf(cls(CONFIG, **_options(rng))), _batch_dropout, ONLY_DIRECTIONS
)


def _task(model_class: type[TaskModel], config: dict[str, Any], choices: bool = False, **targets: Any) -> Setting:
    arrays = [np.stack([array, array[::-1]], axis=1) if choices else array for array in (IDS, TYPES, MASK)]

    def inputs(rng: Rng) -> tuple[Any, ...]:
        batch = Batch(*map(np.copy, arrays), **{name: np.array(target) for name, target in targets.items()})
        return batch, np.random.default_rng(3)

    return Setting(
        model_class,
        lambda cls, rng: LossOf(cls(replace(CONFIG, classifier_dropout=0.3, **config), **_options(rng))),
        inputs,
        ONLY_DIRECTIONS,
    )


MASKED_LM = _task(BertForMaskedLM, {}, labels=LABELS)
CLASSIFICATION = _task(BertForSequenceClassification, {"num_labels": 5}, labels=[4, IGNORED, 1])
REGRESSION = _task(BertForSequenceClassification, {"num_labels": 1}, labels=[0.5, -2.0, 3.0])
MULTIPLE_CHOICE = _task(BertForMultipleChoice, {}, choices=True, labels=[1, 0, 1])
TOKEN_CLASSIFICATION = _task(BertForTokenClassification, {"num_labels": V}, labels=LABELS)
QUESTION_ANSWERING = _task(BertForQuestionAnswering, {}, start_positions=[1, IGNORED, 0], end_positions=[3, IGNORED, 1])
