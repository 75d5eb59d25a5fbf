"""A BERT small enough to check, and batches for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from npbert import (
    Batch,
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    randomize,
)
from npbert.compute import Array
from tests.strategies import ids, targets

VOCAB_SIZE = 7
CLASSES = (
    BertModel,
    BertForPreTraining,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForMultipleChoice,
    BertForTokenClassification,
    BertForQuestionAnswering,
)


def small_config(**changes: Any) -> BertConfig:
    """D = 6, H = 2, F = 5, V = 7, two layers, at most 5 positions, without dropout."""
    sizes: dict[str, Any] = {
        "vocab_size": VOCAB_SIZE,
        "hidden_size": 6,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 5,
        "max_position_embeddings": 5,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    return BertConfig(**{**sizes, **changes})


def random_model(cls: type[Any], *, seed: int = 0, dtype: Any = np.float64, **config: Any) -> Any:
    """A model with parameters of size 1, no two of them the same."""
    model = cls(small_config(**config), rng=None, dtype=dtype)
    randomize(model, np.random.default_rng(seed))
    return model


@st.composite
def masks(draw: st.DrawFn, batch_size: int, length: int) -> Array:
    """(B, T) with padding anywhere, on the left and in the middle too, and at least one real token in each sequence."""
    patterns = st.integers(1, 2**length - 1)
    drawn = draw(st.lists(patterns, min_size=batch_size, max_size=batch_size))
    return np.array([[pattern >> t & 1 for t in range(length)] for pattern in drawn])


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Two to four sequences of two to five tokens, some of them padding, with the targets of pre-training."""
    shape = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    mask = draw(masks(*shape))
    labels = draw(targets(VOCAB_SIZE, *shape, mask=mask))
    return Batch(draw(ids(VOCAB_SIZE, *shape)), draw(ids(2, *shape)), mask, labels, draw(ids(2, shape[0])))


def fixed_batch(**changes: Any) -> Batch:
    """Two sequences, of four tokens and of two, to break in one place."""
    fields: dict[str, Any] = {
        "input_ids": np.array([[1, 5, 5, 2], [6, 3, 0, 0]]),
        "token_type_ids": np.array([[0, 0, 1, 1], [0, 1, 0, 0]]),
        "attention_mask": np.array([[1, 1, 1, 1], [1, 1, 0, 0]]),
        "labels": np.array([[-100, 4, -100, 2], [6, -100, -100, -100]]),
        "next_sentence_label": np.array([0, 1]),
    }
    return Batch(**{**fields, **changes})
