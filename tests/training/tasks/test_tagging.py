"""Tagging: the first token of a word carries its tag, and entities are judged as a whole."""

import numpy as np
import pytest

from npbert import BertForTokenClassification
from npbert.files import FileError
from npbert.layers import IGNORED
from npbert.training.tasks import Tagging, TaskSettings
from tests.training.tasks.tiny import Planted, tiny_config, tiny_tokenizer, words_of

SENTENCES = "Ann B-PER\nAnn I-PER\nplaying O\nin O\nRome B-LOC\n. O\n\nBob B-PER\nsings O\n"


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture
def make(tmp_path, tokenizer):
    def make(content=SENTENCES, labels=None, **settings):
        task = Tagging(TaskSettings(**{"max_length": 32, **settings}), tokenizer, labels)
        (tmp_path / "a.conll").write_text(content, encoding="utf-8")
        return task, task.read(str(tmp_path / "a.conll"))

    return make


def test_the_first_token_of_a_word_has_its_tag(make, tokenizer):
    task, examples = make()
    assert task.labels == ("B-LOC", "B-PER", "I-PER", "O")
    batch = task.collate(examples)
    tokens = ["[CLS]", "ann", "ann", "play", "##ing", "in", "rome", ".", "[SEP]"]
    assert words_of(tokenizer, batch) == [tokens, ["[CLS]", "bob", "sings", "[SEP]"]]
    no = IGNORED
    assert batch.labels.tolist() == [[no, 1, 2, 3, no, 3, 0, 3, no], [no, 1, 3, no, no, no, no, no, no]]
    model = BertForTokenClassification(tiny_config(**task.config()), rng=np.random.default_rng(0))
    loss, cache = model.loss(batch)
    model.backward(cache)
    assert abs(loss - np.log(4)) < 0.1
    assert set(task.evaluate(model, examples)) == {"precision", "recall", "f1", "accuracy"}


def test_a_word_of_several_signs_and_a_word_of_none(make, tokenizer):
    """a.b is three tokens; a zero-width space none, so it has no target. The same word twice is two words."""
    task, examples = make("a.b B\n\u200b I-X\nann B\nann O\n")
    batch = task.collate(examples)
    assert words_of(tokenizer, batch) == [["[CLS]", "a", ".", "b", "ann", "ann", "[SEP]"]]
    tags = [task.labels[label] if label != IGNORED else None for label in batch.labels[0]]
    assert tags == [None, "B", None, None, "B", "O", None]


def planted(tokenizer, labels, tag_of):
    """A tagger that gives each token the tag of its word in `tag_of`; all other tokens get a tag that is wrong."""

    def answer(batch):
        rows = words_of(tokenizer, batch)
        logits = np.zeros((*batch.input_ids.shape, len(labels)))
        logits[..., labels.index("I-PER")] = 1
        for row, words in enumerate(rows):
            for place, word in enumerate(words):
                if word in tag_of:
                    logits[row, place, labels.index(tag_of[word])] = 2
        return logits

    return Planted(tokenizer, answer)


TAGS = {"ann": "B-PER", "bob": "B-PER", "rome": "B-LOC", "play": "O", "sings": "O", "in": "O", ".": "O"}
ONE_WORD_NAMES = SENTENCES.replace("Ann I-PER\n", "")


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
    task, examples = make(ONE_WORD_NAMES, labels=("B-LOC", "B-PER", "I-PER", "O"))
    metrics = task.evaluate(planted(tokenizer, task.labels, {**TAGS, **changes}), examples)
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    assert metrics == pytest.approx({"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy})


def test_words_that_are_cut_off_count_as_outside(make, tokenizer):
    content = "in O\n" * 6 + "Rome B-LOC\nin O\n\nBob B-PER\n"
    with pytest.warns(UserWarning, match=r"a\.conll: 1 of 2 texts cut to 8 tokens"):
        task, examples = make(content, labels=("B-LOC", "B-PER", "I-PER", "O"), max_length=8)
    assert (task.collate(examples).labels != IGNORED).sum() == 6 + 1
    metrics = task.evaluate(planted(tokenizer, task.labels, TAGS), examples)
    assert metrics == pytest.approx({"precision": 1, "recall": 1 / 2, "f1": 2 / 3, "accuracy": 8 / 9})


def test_a_model_that_does_not_know_outside(make, tokenizer):
    with pytest.warns(UserWarning, match="1 of 1 texts cut"):
        task, examples = make("Bob B-PER\n" * 10, labels=("B-PER", "I-PER"), max_length=8)
    metrics = task.evaluate(planted(tokenizer, task.labels, {"bob": "B-PER"}), examples)
    assert metrics == pytest.approx({"precision": 1, "recall": 0.6, "f1": 0.75, "accuracy": 0.6})


def test_columns(make):
    content = "1 Ann B-NP B-PER\n2 sings B-VP O\n"
    task, examples = make(content, text="1", label="2")
    assert task.labels == ("B-NP", "B-VP", "O"), "outside is always a label"
    assert examples[0].encoding.tokens[1:-1] == ["ann", "sings"]
    task, _ = make(content, text="1")
    assert task.labels == ("B-PER", "O"), "by default the last column"
    for name in ("text", "label"):
        with pytest.raises(ValueError, match=f"{name} is 'words', wanted a number"):
            make(content, **{name: "words"})


def test_a_tag_that_is_none(make):
    with pytest.raises(
        FileError, match=r"a\.conll, line 3 on: tags\[1\] is 'NN', wanted O, or B, I, E or S with a type"
    ):
        make("Ann B-PER\n\nAnn B-PER\nsings NN\n")


def test_a_tag_that_training_never_had(make, tmp_path):
    task, _ = make()
    (tmp_path / "dev.conll").write_text("Ann B-PER\n\nsings O\nRome B-ORG\n")
    with pytest.raises(
        FileError, match=r"dev\.conll, line 3 on: the label 'B-ORG' is none of those in training: 'B-LOC'"
    ):
        task.read(str(tmp_path / "dev.conll"))
