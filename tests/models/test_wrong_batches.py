"""Batches that the models with a loss refuse, each time before anything is computed."""

import numpy as np
import pytest

from npbert import IGNORED, Batch
from npbert.catalogue import CATALOGUE
from tests.models.small import TASKS, each_task, fixed_batch

NONE = np.full((2, 4), IGNORED)
MASKED = [[IGNORED, 4, IGNORED, 2], [6, IGNORED, IGNORED, IGNORED]]
MISSING = "the loss needs labels, and the batch has none"
NO_INTEGERS = "labels must be an array of integers, got float64"
OF_WORDS, OF_TOKENS = "pre-training, masked LM", "pre-training, masked LM, token classification"
OF_CLASSES = "classification, multiple choice"
WRONG = [
    ("pre-training", {}, ValueError, "needs labels and next_sentence_label: labels is missing"),
    ("masked LM, token classification", {}, ValueError, MISSING),
    (OF_TOKENS, {"labels": NONE}, ValueError, "labels hold no target: all 8 are -100, so there is nothing to predict"),
    (OF_TOKENS, {"labels": NONE[:, :3]}, ValueError, r"labels has shape \(2, 3\), wanted \(2, 4\)"),
    (OF_TOKENS, {"labels": NONE * 1.0}, TypeError, NO_INTEGERS),
    (OF_TOKENS, {"labels": [[1] * 4, [1, 1, 0, 1]]}, ValueError, r"\[1, 2\] is 0, but the token is padding"),
    (OF_WORDS, {"labels": [[9] * 4, NONE[0]]}, IndexError, r"labels\[0, 0\] is 9, but vocab_size is 9: wanted 0 to 8"),
    ("token classification", {"labels": [[0, 3, 0, 9], NONE[0]]}, IndexError, r"\[0, 3\] is 9, but num_labels is 9"),
    ("pre-training", {"labels": MASKED, "next_sentence_label": None}, ValueError, "next_sentence_label is missing"),
    ("pre-training", {"labels": MASKED, "next_sentence_label": [0, 2]}, IndexError, r"label\[1\] is 2, but the number"),
    ("classification, regression, multiple choice", {}, ValueError, MISSING),
    (OF_CLASSES, {"labels": NONE[:, 0]}, ValueError, "labels hold no target: all 2 are -100"),
    (OF_CLASSES, {"labels": [1.0, 2.0]}, TypeError, NO_INTEGERS),
    ("classification, regression", {"labels": [[1], [2]]}, ValueError, r"labels has shape \(2, 1\), wanted \(2,\)"),
    ("classification", {"labels": [1, 5]}, IndexError, r"labels\[1\] is 5, but num_labels is 5: wanted 0 to 4"),
    ("multiple choice", {"labels": NONE[:, :3]}, ValueError, r"labels has shape \(2, 3\), wanted \(2,\)"),
    ("multiple choice", {"labels": [1, 3]}, IndexError, r"labels\[1\] is 3, but the number of choices is 3"),
]
WRONG_ANSWERS = [  # start_positions, end_positions; the sequences have four tokens and two
    (None, [3, 1], ValueError, "the loss needs start_positions and end_positions: start_positions is missing"),
    ([3, 1], None, ValueError, "end_positions is missing"),
    ([1, IGNORED], [2, 1], ValueError, r"disagree about which sequences have no answer \(-100\)"),
    (NONE[:, 0], NONE[:, 0], ValueError, "start_positions hold no target: all 2 are -100"),
    ([1, 1], [4, 1], IndexError, r"end_positions\[0\] is 4, but the number of tokens is 4"),
    ([1, 1], [3, 2], ValueError, r"end_positions\[1\] is 2, but the token there is padding"),
    ([1, 3], [3, 1], ValueError, r"start_positions\[1\] is 3, but the token there is padding"),
]
WRONG += [
    ("question answering", {"start_positions": starts, "end_positions": ends}, error, message)
    for starts, ends, error, message in WRONG_ANSWERS
]


def without_layers(name):
    """A model of which nothing can be asked, and a batch for it."""
    loss_of, (batch,), _ = CATALOGUE[name].make()
    loss_of.model.bert.embeddings = loss_of.model.bert.encoder = None
    return loss_of.model, batch


@pytest.mark.parametrize(
    ("name", "changes", "error", "message"), [(name, *row) for names, *row in WRONG for name in names.split(", ")]
)
def test_wrong_targets(name, changes, error, message):
    pairs = {"next_sentence_label": [0, 1]} if name == "pre-training" else {}
    batch = fixed_batch(**{**pairs, **changes})
    if name == "multiple choice":
        arrays = batch.input_ids, batch.token_type_ids, batch.attention_mask
        batch = Batch(*(np.stack([array] * 3, axis=1) for array in arrays), labels=batch.labels)
    model, _ = without_layers(TASKS[name])
    for ask in (model.loss, model.target_counts):
        with pytest.raises(error, match=message):
            ask(batch)


@each_task
def test_wrong_ids_and_batches_of_another_kind(name):
    model, wrong_ids = without_layers(name)
    _, other = without_layers(TASKS["classification" if model.reads.grouped else "multiple choice"])
    wrong_ids.input_ids[0, ..., 2] = 9
    shapes = r"\(3, 5\), wanted \(B, C, T\)" if model.reads.grouped else r"\(3, 2, 5\), wanted \(B, T\)"
    for ask in (model, model.loss):
        with pytest.raises(IndexError, match=r"input_ids\[0, 2\] is 9, but vocab_size is 9: wanted 0 to 8"):
            ask(wrong_ids)
    for ask in (model, model.loss, model.target_counts):
        with pytest.raises(ValueError, match=f"input_ids has shape {shapes}"):
            ask(other)
        with pytest.raises(TypeError, match="a model takes a Batch, got list"):
            ask([[1, 2]])
