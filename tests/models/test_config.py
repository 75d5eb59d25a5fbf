"""BertConfig: presets as published, and errors that name field and value."""

import dataclasses

import numpy as np
import pytest

from npbert import BertConfig
from npbert.models import PRESETS

PUBLISHED = {  # layers, width, heads, feed-forward
    "bert-tiny": (2, 128, 2, 512),
    "bert-mini": (4, 256, 4, 1024),
    "bert-small": (4, 512, 8, 2048),
    "bert-medium": (8, 512, 8, 2048),
    "bert-base-uncased": (12, 768, 12, 3072),
    "bert-large-uncased": (24, 1024, 16, 4096),
    "seed": (6, 768, 12, 3072),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_presets(name):
    config = BertConfig.preset(name)
    sizes = config.num_hidden_layers, config.hidden_size, config.num_attention_heads, config.intermediate_size
    assert sizes == PUBLISHED[name]
    assert config.max_position_embeddings == (30 if name == "seed" else 512)
    assert config.vocab_size == 30522


def test_short_names():
    assert BertConfig.preset("bert-base") == BertConfig.preset("bert-base-uncased") == BertConfig()
    assert BertConfig.preset("bert-large") == BertConfig.preset("bert-large-uncased")
    assert set(PRESETS) == {*PUBLISHED, "bert-base", "bert-large"}


def test_changes_to_a_preset():
    assert BertConfig.preset("bert-tiny", vocab_size=40, hidden_act="relu").vocab_size == 40
    with pytest.raises(ValueError, match="no preset 'bert-huge', wanted one of bert-tiny, bert-mini"):
        BertConfig.preset("bert-huge")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"hidden_size": 770}, ValueError, "hidden_size 770 is not divisible by num_attention_heads 12"),
        ({"vocab_size": 0}, ValueError, "vocab_size is 0, wanted at least 1"),
        ({"num_hidden_layers": -2}, ValueError, "num_hidden_layers is -2, wanted at least 1"),
        ({"intermediate_size": 30.5}, TypeError, "intermediate_size is 30.5, wanted an integer"),
        ({"type_vocab_size": True}, TypeError, "type_vocab_size is True, wanted an integer"),
        ({"hidden_dropout_prob": 1.0}, ValueError, "hidden_dropout_prob is 1.0, wanted a rate from 0"),
        ({"attention_probs_dropout_prob": -0.1}, ValueError, "attention_probs_dropout_prob is -0.1, wanted a rate"),
        ({"hidden_dropout_prob": "0.1"}, TypeError, "hidden_dropout_prob is '0.1', wanted a number"),
        ({"layer_norm_eps": 0}, ValueError, "layer_norm_eps is 0, wanted a positive number"),
        ({"initializer_range": float("nan")}, ValueError, "initializer_range is nan, wanted a positive number"),
        (
            {"hidden_act": "swish"},
            ValueError,
            "hidden_act is 'swish', wanted one of gelu, gelu_new, gelu_pytorch_tanh, relu",
        ),
        ({"position_embedding_type": "rotary"}, ValueError, "position_embedding_type is 'rotary', wanted one of abs"),
    ],
)
def test_errors(changes, error, message):
    with pytest.raises(error, match=message):
        BertConfig(**changes)


def test_numbers_of_numpy_are_numbers():
    config = BertConfig(vocab_size=np.int64(50), hidden_dropout_prob=np.float32(0.25))
    assert (config.vocab_size, config.hidden_dropout_prob) == (50, 0.25)


def test_a_config_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        BertConfig().hidden_size = 5
