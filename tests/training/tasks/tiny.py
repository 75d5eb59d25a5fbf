"""A tokenizer, a model and files small enough for any task, and a model that gives answers that a test has planted."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from npbert import BertConfig, SoftmaxCrossEntropy
from tests.small_tokenizer import small_tokenizer

WORDS = "ann bob sings plays play ##ing ##s well not in rome bad good a b c d e f . ?"
ANSWER = {"id": "1", "question": "who?", "answers": [{"text": "ann", "answer_start": 0}]}
SQUAD = json.dumps({"data": [{"paragraphs": [{"context": "ann sings", "qas": [ANSWER]}]}]})
FILES = {  # by the name of the task: its settings, a file, the loss of a model that knows nothing, and its goal
    "classification": ({}, "ann sings well\tgood\nbob\tbad\n", np.log(2), "accuracy"),
    "regression": ({}, "ann sings well\t3\nbob\t0\n", 3**2 / 2, "pearson"),
    "multiple-choice": ({"choices": ("2", "3")}, "ann\t0\ta b\tc\nbob\t1\td\te f\n", np.log(2), "accuracy"),
    "tagging": ({}, "Ann B-PER\nplaying O\n. O\n\nBob B-PER\nsings O\n", np.log(2), "f1"),
    "pos": ({}, "Ann NNP\nplaying VBG\n. .\n\nBob NNP\nsings VBZ\n", np.log(4), "accuracy"),
    "vectors": ({}, "ann sings\tbob plays\nbob plays\tann sings well\n", None, "mrr_at_10"),
    "squad": ({}, SQUAD, np.log(7), "f1"),
}


def tiny_tokenizer():
    return small_tokenizer(WORDS)


def tiny_config(**changes):
    """D = 4, H = 2, F = 6, one layer, without dropout."""
    rates = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return replace(BertConfig(len(tiny_tokenizer()), 4, 1, 2, 6, max_position_embeddings=40, **rates), **changes)


class Planted:
    """In place of a model: what it says of a batch is what `answer` says."""

    def __init__(self, tokenizer, answer=None, labels=None):
        self.config = SimpleNamespace(
            vocab_size=len(tokenizer), max_position_embeddings=512, num_labels=2, id2label=labels, label_names=labels
        )
        self.answer, self.loss_function = answer, SoftmaxCrossEntropy()

    def __call__(self, batch):
        return self.answer(batch)


def words_of(tokenizer, batch, *group):
    """The tokens of each sequence of a batch, without its padding. group: of groups, this sequence of each."""
    at = (slice(None), *group)
    rows = zip(batch.input_ids[at], batch.attention_mask[at], strict=True)
    return [tokenizer.decode(ids[mask == 1]) for ids, mask in rows]
