"""Tagging: the first token of a word carries its tag, and entities are judged as a whole."""

import numpy as np
import pytest

from npbert import IGNORED
from npbert.training.tasks import Tagging
from tests.training.tasks.tiny import words_of

SENTENCES = "Ann B-PER\nAnn I-PER\nplaying O\nin O\nRome B-LOC\n. O\n\nBob B-PER\nsings O\n"
ONE_WORD_NAMES = SENTENCES.replace("Ann I-PER\n", "")
CUT_OFF = "in O\n" * 6 + "Rome B-LOC\nin O\n\nBob B-PER\n"
TOKENS = ["[CLS] ann ann play ##ing in rome . [SEP]", "[CLS] bob sings [SEP]"]
LABELS = ("B-LOC", "B-PER", "I-PER", "O")
TAGS = {"ann": "B-PER", "bob": "B-PER", "rome": "B-LOC", "play": "O", "sings": "O", "in": "O", ".": "O"}


@pytest.mark.parametrize(
    ("content", "tokens", "tags"),
    [
        (SENTENCES, TOKENS, ["- B-PER I-PER O - O B-LOC O -", "- B-PER O - - - - - -"]),
        # a.b is three tokens; a zero-width space none, so it has no target; the same word twice is two words
        ("a.b B\n\u200b I-X\nann B\nann O\n", ["[CLS] a . b ann ann [SEP]"], ["- B - - B O -"]),
    ],
)
def test_the_first_token_of_a_word_has_its_tag(read, tokenizer, content, tokens, tags):
    task, examples = read(Tagging, content)
    batch = task.collate(examples)
    assert [" ".join(words) for words in words_of(tokenizer, batch)] == tokens
    found = [[task.labels[label] if label != IGNORED else "-" for label in row] for row in batch.labels]
    assert [" ".join(row) for row in found] == tags
    assert content != SENTENCES or task.labels == LABELS


def scores(precision, recall, accuracy):
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    return {"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy}


@pytest.mark.filterwarnings("ignore:.* longer than the 8 tokens")
@pytest.mark.parametrize(
    ("content", "labels", "changes", "wanted"),
    [
        (ONE_WORD_NAMES, LABELS, {}, scores(1, 1, 1)),
        (ONE_WORD_NAMES, LABELS, {"rome": "B-PER"}, scores(2 / 3, 2 / 3, 6 / 7)),
        (ONE_WORD_NAMES, LABELS, {"rome": "O"}, scores(1, 2 / 3, 6 / 7)),
        (ONE_WORD_NAMES, LABELS, {"sings": "B-LOC"}, scores(3 / 4, 1, 6 / 7)),
        (ONE_WORD_NAMES, LABELS, {"bob": "I-PER"}, scores(1, 1, 6 / 7)),
        (ONE_WORD_NAMES, LABELS, dict.fromkeys(TAGS, "O"), scores(0, 0, 4 / 7)),
        (CUT_OFF, LABELS, {}, scores(1, 1 / 2, 8 / 9)),  # as if the words had been said to be outside
        ("Bob B-PER\n" * 10, ("B-PER", "I-PER"), {}, scores(1, 0.6, 0.6)),  # also when the model does not know outside
    ],
)
def test_metrics_of_planted_tags(read, tokenizer, content, labels, changes, wanted):
    """What is said of ##ing, [CLS] and [SEP], which is wrong, counts nothing."""
    task, examples = read(Tagging, content, labels=labels, max_length=8 if content.count("\n") > 9 else 32)
    tag_of = {**TAGS, **changes}

    def answer(batch):
        logits = np.zeros((*batch.input_ids.shape, len(labels)))
        logits[..., labels.index("I-PER")] = 1
        for row, words in enumerate(words_of(tokenizer, batch)):
            for place, word in enumerate(words):
                if word in tag_of:
                    logits[row, place, labels.index(tag_of[word])] = 2
        return logits

    task.model.answer = answer
    metrics = task.evaluate(examples)
    assert 0 < metrics.pop("loss") < 3
    assert metrics == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("columns", "labels"), [({"text": "1", "label": "2"}, ("B-NP", "B-VP", "O")), ({"text": "1"}, ("B-PER", "O"))]
)
def test_columns(read, columns, labels):
    """Outside is always a label; by default, the labels are in the last column."""
    task, (example,) = read(Tagging, "1 Ann B-NP B-PER\n2 sings B-VP O\n", **columns)
    assert task.labels == labels
    assert example.encoding.tokens[1:-1] == ["ann", "sings"]
    for name in ("text", "label"):
        with pytest.raises(ValueError, match=f"{name} is 'words', wanted a number"):
            read(Tagging, SENTENCES, **{name: "words"})
