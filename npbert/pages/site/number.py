"""The data of the page "Follow one number back" on the site, from a small BERT trained on the toy dialogue."""

from typing import Any

import numpy as np

from npbert.data import load_dialogue
from npbert.io import LOGGER
from npbert.learn.demo import train
from npbert.models import BertConfig, BertForPreTraining
from npbert.pages.number.page import dialogue_data


def number_data(steps: int = 1600) -> dict[str, Any]:
    """Return the data for exactly the model of `python demo.py --page`, trained in about five seconds."""
    rng, dialogue = np.random.default_rng(0), load_dialogue(9)
    config = BertConfig.preset(
        "bert-tiny",
        vocab_size=len(dialogue.vocabulary),
        hidden_size=8,
        intermediate_size=16,
        max_position_embeddings=30,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertForPreTraining(config, rng=rng)
    train(model, {}, rng, LOGGER.debug, steps=steps, lr=1e-2)
    return dialogue_data(model, dialogue, np.random.default_rng(0))
