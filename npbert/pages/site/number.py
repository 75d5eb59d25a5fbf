"""The data of the page "Follow one number back" on the site, from a small BERT trained on the toy dialogue."""

from typing import Any

import numpy as np

from npbert.data import load_dialogue
from npbert.io import LOGGER
from npbert.learn.demo import make_model, train
from npbert.pages.number.export import dialogue_data


def number_data(steps: int = 1600) -> dict[str, Any]:
    """Return the data for exactly the model of `python demo.py --page`, trained in about five seconds."""
    rng, dialogue = np.random.default_rng(0), load_dialogue(9)
    model = make_model(rng, 8, 2, np.float32)
    train(model, {}, rng, LOGGER.debug, steps=steps, lr=1e-2)
    return dialogue_data(model, dialogue, np.random.default_rng(0))
