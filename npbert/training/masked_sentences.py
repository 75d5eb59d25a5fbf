"""A few fixed sentences with masked words, for sample predictions during training."""

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data.batch import Batch
from npbert.data.tokenizer import Tokenizer
from npbert.layers import Softmax
from npbert.models import TaskModel
from npbert.training.progress import short

SENTENCES, GUESSES = 8, 5
_LONGEST = 24


def masked_sentences(batch: Batch | None) -> Batch | None:
    """Return the first eight sequences of a batch with a masked word in their first 24 tokens, cut there; None if there
    are none."""
    if batch is None or batch.labels is None or (batch.labels[:, :_LONGEST] == IGNORED).all():
        return None
    chosen = np.flatnonzero((batch.labels[:, :_LONGEST] != IGNORED).any(axis=1))[:SENTENCES]
    names = ("input_ids", "token_type_ids", "attention_mask", "labels")
    return Batch(**{name: getattr(batch, name)[chosen, :_LONGEST] for name in names})


def guesses(model: TaskModel, batch: Batch, tokenizer: Tokenizer) -> dict[str, object]:
    """Return the model's predictions: for each sentence its tokens, and for each masked one its place, the true token
    with its probability, and the five most probable tokens."""
    assert batch.labels is not None
    output = model(batch)
    probabilities = iter(Softmax()(getattr(output, "prediction_logits", output).astype(float)))
    sentences = []
    for ids, mask, labels in zip(batch.input_ids, batch.attention_mask, batch.labels, strict=True):
        hidden = []
        for place in np.flatnonzero(labels != IGNORED).tolist():
            hidden.append({"place": place, **_guess(next(probabilities), labels[place], tokenizer)})
        sentences.append({"tokens": tokenizer.decode(ids[mask == 1]), "hidden": hidden})
    return {"kind": "masked", "sentences": sentences}


def _guess(probabilities: Array, label: int, tokenizer: Tokenizer) -> dict[str, object]:
    best = np.argsort(-probabilities, kind="stable")[:GUESSES]
    guesses = [[token, short(probabilities[index])] for token, index in zip(tokenizer.decode(best), best, strict=True)]
    (token,) = tokenizer.decode([label])
    return {"token": token, "probability": short(probabilities[label]), "guesses": guesses}
