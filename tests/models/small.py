"""A BERT small enough to check, and batches for it that hide nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from npbert import Batch, BertConfig, randomize
from npbert.models import PreTrainedModel
from tests.strategies import ids

VOCAB_SIZE, LONGEST, TYPES = 9, 5, 3
CONFIG = BertConfig(VOCAB_SIZE, 6, 2, 2, 7, max_position_embeddings=LONGEST, type_vocab_size=TYPES, layer_norm_eps=0.01)
"""D = 6, two layers, H = 2, F = 7, an eps that counts."""


def _models(base):
    own = [cls for cls in base.__subclasses__() if cls.__module__.startswith("npbert.")]
    return [model for cls in own for model in _models(cls) or [cls]]


CLASSES = [model for model in _models(PreTrainedModel) if model.__module__ != "npbert.models.electra"]
"""Every model that is made of one BERT. ELECTRA's two have test_electra.py."""
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)

TASKS = {
    "pre-training": "BertForPreTraining",
    "masked LM": "BertForMaskedLM",
    "classification": "BertForSequenceClassification",
    "regression": "BertForSequenceClassification, regression",
    "multiple choice": "BertForMultipleChoice",
    "token classification": "BertForTokenClassification",
    "question answering": "BertForQuestionAnswering",
}
"""The models with a loss, by their names in the catalogue."""
each_task = pytest.mark.parametrize("name", TASKS.values(), ids=TASKS)


def small_config(**changes):
    """CONFIG with changes, and without dropout if they have none."""
    return replace(CONFIG, **{"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, **changes})


def random_model(cls, *, seed=0, dtype=np.float64, **config):
    """A model with parameters of size 1, no two of them the same."""
    model = cls(small_config(**config), rng=None, dtype=dtype)
    randomize(model, np.random.default_rng(seed))
    return model


@st.composite
def batches(draw):
    """One to four sequences of one to five tokens, with padding anywhere: on the left and in the middle too."""
    shape = draw(st.integers(1, 4)), draw(st.integers(1, LONGEST))
    patterns = draw(st.lists(st.integers(1, 2 ** shape[1] - 1), min_size=shape[0], max_size=shape[0]))
    mask = [[pattern >> t & 1 for t in range(shape[1])] for pattern in patterns]
    return Batch(draw(ids(VOCAB_SIZE, *shape)), draw(ids(TYPES, *shape)), mask)


def fixed_batch(**changes):
    """Two sequences, of four tokens and of two, to break in one place."""
    fields = {
        "input_ids": [[1, 5, 5, 2], [6, 3, 0, 0]],
        "token_type_ids": [[0, 0, 1, 1], [1, 1, 0, 0]],
        "attention_mask": [[1, 1, 1, 1], [1, 1, 0, 0]],
    }
    return Batch(**{**fields, **changes})


def as_list(output):
    """The outputs of a model that has one, or several."""
    return list(output) if isinstance(output, tuple) else [output]


def assert_all_close(output, wanted):
    """The outputs of a model, and what they should be."""
    for one, other in zip(as_list(output), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
