"""A few fixed sentences with masked words, for sample predictions during training."""

from typing import Any

import numpy as np

from npbert.core import IGNORED
from npbert.data import Batch, Tokenizer
from npbert.layers import Softmax
from npbert.models import TaskModel

SENTENCES, GUESSES = 8, 5
_LONGEST = 24


def masked_sentences(batch: Batch) -> Batch | None:
    """Return the first eight sequences of a batch with a masked word in their first 24 tokens, cut there; None if there
    are none."""
    names = ("input_ids", "token_type_ids", "attention_mask", "labels")
    arrays = {name: getattr(batch, name)[:, :_LONGEST] for name in names}
    chosen = np.flatnonzero((arrays["labels"] != IGNORED).any(axis=1))[:SENTENCES]
    return Batch(**{name: array[chosen] for name, array in arrays.items()}) if chosen.size else None


def guesses(model: TaskModel, batch: Batch, tokenizer: Tokenizer) -> dict[str, object]:
    """Return the model's predictions: for each sentence its tokens, and for each masked one its place, the true token
    with its probability, and the five most probable tokens."""
    output, labels, decode = model(batch), np.asarray(batch.labels), tokenizer.decode
    probabilities = Softmax()(getattr(output, "prediction_logits", output).astype(float))
    rows: list[dict[str, Any]] = []
    for ids, mask in zip(batch.input_ids, batch.attention_mask, strict=True):
        rows.append({"tokens": decode(ids[mask == 1]), "hidden": []})
    for p, (sentence, place) in zip(probabilities, np.argwhere(labels != IGNORED).tolist(), strict=True):
        label, best = labels[sentence, place], np.argsort(-p, kind="stable")[:GUESSES]
        likely = list(zip(decode(best), p[best], strict=True))
        true = {"token": decode([label])[0], "probability": p[label]}
        rows[sentence]["hidden"].append({"place": place, **true, "guesses": likely})
    return {"kind": "masked", "sentences": rows}
