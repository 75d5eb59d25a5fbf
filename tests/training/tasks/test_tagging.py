"""Tagging: the first token of a word carries its tag, and entities are judged as a whole."""

import numpy as np
import pytest

from npbert import IGNORED
from npbert.files import FileError
from npbert.training.tasks import Tagging
from tests.training.tasks.tiny import Planted, model_that_learned, words_of

SENTENCES = "Ann B-PER\nAnn I-PER\nplaying O\nin O\nRome B-LOC\n. O\n\nBob B-PER\nsings O\n"
LABELS = ("B-LOC", "B-PER", "I-PER", "O")


@pytest.fixture
def make(read):
    def make(content=SENTENCES, labels=None, **settings):
        return read(Tagging, content, name="a.conll", labels=labels, **{"max_length": 32, **settings})

    return make


def test_the_first_token_of_a_word_has_its_tag_and_a_model_learns_from_it(make, tokenizer):
    task, examples = make()
    assert task.labels == LABELS
    batch = task.collate(examples)
    tokens = ["[CLS]", "ann", "ann", "play", "##ing", "in", "rome", ".", "[SEP]"]
    assert words_of(tokenizer, batch) == [tokens, ["[CLS]", "bob", "sings", "[SEP]"]]
    no = IGNORED
    assert batch.labels.tolist() == [[no, 1, 2, 3, no, 3, 0, 3, no], [no, 1, 3, no, no, no, no, no, no]]
    model, loss = model_that_learned(task, batch)
    assert abs(loss - np.log(4)) < 0.1
    assert set(task.evaluate(model, examples)) == {"precision", "recall", "f1", "accuracy"}


def test_a_word_of_several_signs_and_a_word_of_none(make, tokenizer):
    """a.b is three tokens; a zero-width space none, so it has no target. The same word twice is two words."""
    task, examples = make("a.b B\n\u200b I-X\nann B\nann O\n")
    batch = task.collate(examples)
    assert words_of(tokenizer, batch) == [["[CLS]", "a", ".", "b", "ann", "ann", "[SEP]"]]
    tags = [task.labels[label] if label != IGNORED else None for label in batch.labels[0]]
    assert tags == [None, "B", None, None, "B", "O", None]


TAGS = {"ann": "B-PER", "bob": "B-PER", "rome": "B-LOC", "play": "O", "sings": "O", "in": "O", ".": "O"}
ONE_WORD_NAMES = SENTENCES.replace("Ann I-PER\n", "")


def planted(tokenizer, labels, tag_of):
    """A tagger that gives each token the tag of its word in `tag_of`; all other tokens get a tag that is wrong."""

    def answer(batch):
        logits = np.zeros((*batch.input_ids.shape, len(labels)))
        logits[..., labels.index("I-PER")] = 1
        for row, words in enumerate(words_of(tokenizer, batch)):
            for place, word in enumerate(words):
                if word in tag_of:
                    logits[row, place, labels.index(tag_of[word])] = 2
        return logits

    return Planted(tokenizer, answer)


def scores(precision, recall, accuracy):
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    return pytest.approx({"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy})


@pytest.mark.parametrize(
    ("changes", "precision", "recall", "accuracy"),
    [
        ({}, 1, 1, 1),
        ({"rome": "B-PER"}, 2 / 3, 2 / 3, 6 / 7),
        ({"rome": "O"}, 1, 2 / 3, 6 / 7),
        ({"sings": "B-LOC"}, 3 / 4, 1, 6 / 7),
        ({"bob": "I-PER"}, 1, 1, 6 / 7),
        (dict.fromkeys(TAGS, "O"), 0, 0, 4 / 7),
    ],
)
def test_metrics_of_planted_tags(make, tokenizer, changes, precision, recall, accuracy):
    """What is said of ##ing, [CLS] and [SEP] counts nothing."""
    task, examples = make(ONE_WORD_NAMES, labels=LABELS)
    metrics = task.evaluate(planted(tokenizer, task.labels, {**TAGS, **changes}), examples)
    assert metrics == scores(precision, recall, accuracy)


def test_words_that_are_cut_off_count_as_outside(make, tokenizer):
    content = "in O\n" * 6 + "Rome B-LOC\nin O\n\nBob B-PER\n"
    with pytest.warns(UserWarning, match=r"a\.conll: 1 of 2 texts cut to 8 tokens"):
        task, examples = make(content, labels=LABELS, max_length=8)
    assert (task.collate(examples).labels != IGNORED).sum() == 6 + 1
    assert task.evaluate(planted(tokenizer, LABELS, TAGS), examples) == scores(1, 1 / 2, 8 / 9)


def test_a_model_that_does_not_know_outside(make, tokenizer):
    with pytest.warns(UserWarning, match="1 of 1 texts cut"):
        task, examples = make("Bob B-PER\n" * 10, labels=("B-PER", "I-PER"), max_length=8)
    assert task.evaluate(planted(tokenizer, task.labels, {"bob": "B-PER"}), examples) == scores(1, 0.6, 0.6)


@pytest.mark.parametrize(
    ("columns", "labels"),
    [({"text": "1", "label": "2"}, ("B-NP", "B-VP", "O")), ({"text": "1"}, ("B-PER", "O"))],
    ids=["outside is always a label", "by default the last column"],
)
def test_columns(make, columns, labels):
    task, (example,) = make("1 Ann B-NP B-PER\n2 sings B-VP O\n", **columns)
    assert task.labels == labels
    assert example.encoding.tokens[1:-1] == ["ann", "sings"]


@pytest.mark.parametrize("name", ["text", "label"])
def test_columns_have_no_names(make, name):
    with pytest.raises(ValueError, match=f"{name} is 'words', wanted a number"):
        make(**{name: "words"})


def test_a_tag_that_is_none_or_that_training_never_had(make, read):
    message = r"a\.conll, line 3 on: tags\[1\] is 'NN', wanted O, or B, I, E or S with a type"
    with pytest.raises(FileError, match=message):
        make("Ann B-PER\n\nAnn B-PER\nsings NN\n")
    task, _ = make()
    message = r"dev\.conll, line 3 on: the label 'B-ORG' is none of those in training: 'B-LOC'"
    with pytest.raises(FileError, match=message):
        read(task, "Ann B-PER\n\nsings O\nRome B-ORG\n", name="dev.conll")
