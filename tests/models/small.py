"""A BERT small enough to prove, and batches for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from npbert import Batch, BertConfig
from tests.strategies import attention_masks, ids, targets

VOCAB_SIZE = 7


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


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Two to four sequences of two to five tokens, ragged, one of them all padding."""
    shape = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    return Batch(
        draw(ids(VOCAB_SIZE, *shape)),
        draw(ids(2, *shape)),
        draw(attention_masks(*shape)),
        draw(targets(VOCAB_SIZE, *shape)),
        draw(ids(2, shape[0])),
    )


def fixed_batch(**changes: Any) -> Batch:
    """A batch of two sequences to break in one place."""
    fields: dict[str, Any] = {
        "input_ids": np.array([[1, 5, 5, 2], [6, 3, 0, 0]]),
        "token_type_ids": np.array([[0, 0, 1, 1], [0, 1, 0, 0]]),
        "attention_mask": np.array([[1, 1, 1, 1], [1, 1, 0, 0]]),
        "labels": np.array([[-100, 4, -100, 2], [6, -100, -100, -100]]),
        "next_sentence_label": np.array([0, 1]),
    }
    return Batch(**{**fields, **changes})
