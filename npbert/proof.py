"""Every block of npbert, small and awkward, each derivative proved: `python -m npbert gradcheck`.

The inputs avoid what makes a check blind: weights are of size 1 and γ is not constant, sizes all differ, eps counts,
masks are ragged with one sequence all padding, ids and positions repeat, and the decoder is tied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.gradcheck import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, LossOf, Report, check_gradients, randomize
from npbert.layers import (
    GELU,
    IGNORED,
    AddNorm,
    BertEmbeddings,
    DotProductAttention,
    Dropout,
    Embedding,
    Encoder,
    EncoderLayer,
    FeedForward,
    Gather,
    Layer,
    LayerNorm,
    Linear,
    MaskedLMHead,
    MeanPooling,
    MeanSquaredError,
    MultiHeadAttention,
    NextSentenceHead,
    Parameter,
    Pooler,
    ReLU,
    Softmax,
    SoftmaxCrossEntropy,
    Tanh,
    TanhGELU,
)
from npbert.layers.grid import Grid
from npbert.layers.parameter import rows
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

B, T, D, H, F, V = 3, 5, 8, 2, 6, 7  # a head has 4 features, and there are 9 labels
_EPS = 1e-2
_SEED = 0  # one for which no ReLU sees a number so near 0 that a difference would reach across
_MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]])
_IDS = np.array([[1, 5, 5, 2, 4], [5, 1, 0, 0, 0], [6, 3, 0, 0, 0]])
_TYPES = np.array([[0, 0, 1, 1, 1], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0]])
_LABELS = np.array([[IGNORED, 4, 5, 2, 0], [3, 4, IGNORED, IGNORED, IGNORED], [6, IGNORED, 1, IGNORED, 2]])
_CHOICES = np.stack([_IDS, _IDS[[1, 2, 0]]], axis=1)  # (B, 2, T)
_POSITIONS = np.array([7, 0, 7, 2, 14, 9, 7, 2, 1])
_GRID = Grid((B, T), np.array([0, 1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13, 14]))  # one padded row is there, two are not
_QUERIES = np.array([1, 4, 7, 10])


def blocks(rng: np.random.Generator, dtype: DTypeLike = np.float64) -> Iterator[tuple[str, Layer, tuple[Any, ...]]]:
    """The name of each block, the block with random parameters, and inputs for its forward."""
    init: dict[str, Any] = {"rng": rng, "dtype": dtype}
    x = rng.standard_normal((B, T, D)).astype(dtype)
    target = rng.standard_normal((B, T, D)).astype(dtype)
    q = rng.standard_normal((B, H, 3, D // H)).astype(dtype)
    k, v = rng.standard_normal((2, B, H, T, D // H)).astype(dtype)
    some = rows(x)[_GRID.places]
    logits = rng.standard_normal((B, T, V)).astype(dtype)

    def encoder_layer(activation: str) -> EncoderLayer:
        dropout: dict[str, Any] = {"dropout": 0.2, "attention_dropout": 0.3}
        return EncoderLayer(D, H, F, activation=activation, layer_norm_eps=_EPS, **dropout, **init)

    def config(**changes: Any) -> BertConfig:
        sizes = {"vocab_size": V, "hidden_size": D, "num_hidden_layers": 1, "num_attention_heads": H}
        return BertConfig(
            **{**sizes, "intermediate_size": F, "max_position_embeddings": T + 1, "layer_norm_eps": _EPS, **changes}
        )

    def batch(**targets: Any) -> Batch:
        return Batch(_IDS, _TYPES, _MASK, **{name: np.array(values) for name, values in targets.items()})

    words = batch(labels=_LABELS, next_sentence_label=[0, 1, 1])
    choices = Batch(_CHOICES, _CHOICES % 2, np.stack([_MASK, _MASK[[1, 2, 0]]], axis=1), np.array([0, 1, 1]))
    sinusoidal = config(position_embedding_type="sinusoidal", hidden_act="gelu_new")
    classifier, regressor = config(num_labels=4, classifier_dropout=0.3), config(num_labels=1)
    for name, layer, inputs in (
        ("Linear", Linear(D, F, **init), (x,)),
        ("Tanh", Tanh(), (x,)),
        ("ReLU", ReLU(), (x,)),
        ("GELU", GELU(), (x,)),
        ("TanhGELU", TanhGELU(), (x,)),
        ("Softmax", Softmax(), (x,)),
        ("LayerNorm", LayerNorm(D, eps=_EPS, dtype=dtype), (x,)),
        ("AddNorm", AddNorm(D, dropout=0.3, eps=_EPS, dtype=dtype), (x, target, rng)),
        ("Dropout", Dropout(0.3), (x, rng)),
        ("Embedding", Embedding(V, D, **init), (_IDS,)),
        (
            "BertEmbeddings",
            BertEmbeddings(V, D, max_position_embeddings=T + 1, dropout=0.2, layer_norm_eps=_EPS, **init),
            (_IDS, _TYPES, rng),
        ),
        ("FeedForward, gelu", FeedForward(D, F, activation="gelu", **init), (x,)),
        ("FeedForward, gelu_new", FeedForward(D, F, activation="gelu_new", **init), (x,)),
        ("FeedForward, relu", FeedForward(D, F, activation="relu", **init), (x,)),
        ("DotProductAttention", DotProductAttention(0.3), (q, k, v, _MASK, rng)),
        ("MultiHeadAttention", MultiHeadAttention(D, H, dropout=0.3, **init), (x, _MASK, rng)),
        ("  some rows, some queries", MultiHeadAttention(D, H, **init), (some, _MASK, rng, _GRID, _QUERIES)),
        ("EncoderLayer", encoder_layer("gelu"), (x, _MASK, rng)),
        ("  some rows, some queries", encoder_layer("gelu"), (some, _MASK, rng, _GRID, _QUERIES)),
        ("Encoder", Encoder([encoder_layer("gelu"), encoder_layer("relu")]), (x, _MASK, rng)),
        ("  some positions", Encoder([encoder_layer("gelu"), encoder_layer("gelu_new")]), (x, _MASK, rng, _POSITIONS)),
        ("Pooler", Pooler(D, **init), (x,)),
        ("MeanPooling", MeanPooling(), (x, _MASK)),
        ("Gather", Gather(), (x, _POSITIONS)),
        ("MaskedLMHead", MaskedLMHead(Parameter.normal((V, D), **init), layer_norm_eps=_EPS, **init), (x,)),
        ("NextSentenceHead", NextSentenceHead(D, **init), (x[:, 0],)),
        ("SoftmaxCrossEntropy", SoftmaxCrossEntropy(), (logits, _LABELS)),
        ("MeanSquaredError", MeanSquaredError(), (x, target)),
        ("BertModel", BertModel(config(), **init), (words, rng)),
        ("  some positions", BertModel(config(), **init), (words, rng, _POSITIONS)),
        ("BertForPreTraining", LossOf(BertForPreTraining(config(), **init)), (words, rng)),
        ("  sinusoidal, gelu_new", LossOf(BertForPreTraining(sinusoidal, **init)), (words, rng)),
        ("BertForMaskedLM", LossOf(BertForMaskedLM(config(), **init)), (words, rng)),
        (
            "BertForSequenceClassification",
            LossOf(BertForSequenceClassification(classifier, **init)),
            (batch(labels=[3, IGNORED, 1]), rng),
        ),
        ("  regression", LossOf(BertForSequenceClassification(regressor, **init)), (batch(labels=[0.3, -2, 1]), rng)),
        ("BertForMultipleChoice", LossOf(BertForMultipleChoice(config(), **init)), (choices, rng)),
        (
            "BertForTokenClassification",
            LossOf(BertForTokenClassification(classifier, **init)),
            (batch(labels=np.where(_LABELS == IGNORED, IGNORED, _LABELS % 4)), rng),
        ),
        (
            "BertForQuestionAnswering",
            LossOf(BertForQuestionAnswering(config(), **init)),
            (batch(start_positions=[1, IGNORED, 3], end_positions=[4, IGNORED, 3]), rng),
        ),
    ):
        randomize(layer, rng)
        yield name, layer, inputs


def prove_all() -> bool:
    """Check each block, print a line a block, and return whether all derivatives are proved."""
    print(f"{'block':<30}{'derivatives':>12}{FINITE_DIFFERENCES:>21}{COMPLEX_STEP:>15}")
    print(f"{'(accepted)':<30}{'':>12}{TOLERANCES[FINITE_DIFFERENCES]:>21.1e}{TOLERANCES[COMPLEX_STEP]:>15.1e}")
    reports: list[Report] = []
    for name, layer, inputs in blocks(np.random.default_rng(_SEED)):
        report = check_gradients(layer, *inputs)
        reports.append(report)
        errors = {method: worst.relative_error for method, worst in report.worst.items()}
        print(
            f"{name:<30}{report.count:>12}{errors[FINITE_DIFFERENCES]:>21.1e}{errors[COMPLEX_STEP]:>15.1e}", flush=True
        )
        if not report.ok:
            print(report)
    proved = all(report.ok for report in reports)
    total = sum(report.count for report in reports)
    verdict = "each" if proved else "NOT ALL"
    print(f"\n{total:,} derivatives, {verdict} proved in two ways (shown: the largest relative error)")
    return proved
