"""Classification and regression: from a file to targets, and from logits to metrics."""

import warnings

import numpy as np
import pytest

from npbert.training.tasks import TextClassification, TextRegression
from tests.training.tasks.tiny import Planted, words_of


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["good", "bad", "good"], ("bad", "good")),
        (["10", "2", "1", "2"], ("1", "2", "10")),
        (["1", "-1", "0", "-10"], ("-10", "-1", "0", "1")),
        (["10", "2", "x"], ("10", "2", "x")),
        (["2", "--1"], ("--1", "2")),
        (["10", "²", "9"], ("10", "9", "²")),
        (["1.5", "10", "9"], ("1.5", "10", "9")),
    ],
)
def test_labels_are_sorted_and_learned_once(read, names, labels):
    content = "".join(f"a b\t{name}\n" for name in names)
    task, examples = read(TextClassification, content)
    assert task.labels == labels
    assert task.collate(examples).labels.tolist() == [labels.index(name) for name in names]
    assert task.config() == {"num_labels": len(labels), "id2label": labels}
    _, (example,) = read(task, f"a\t{labels[1]}\n")
    assert example.label == 1
    given, _ = read(TextClassification, content, labels=labels[::-1])
    assert given.labels == labels[::-1], "names given keep their order"


def test_numbers_and_columns(read):
    task, examples = read(TextRegression, "a\t1\nb\t-2.5\nc\t1e3\nd\t 4 \n")
    assert task.collate(examples).labels.tolist() == [1, -2.5, 1000, 4]
    assert task.config() == {"num_labels": 1}
    columns = {"text": "first", "text_pair": "second", "label": "gold", "delimiter": "comma"}
    _, (example,) = read(TextClassification, 'gold,second,first\nyes,"a, b",c\n', **columns)
    assert example.encoding.tokens == ["[CLS]", "c", "[SEP]", "a", "[UNK]", "b", "[SEP]"]
    assert example.encoding.type_ids == [0, 0, 0, 1, 1, 1, 1]
    _, (example,) = read(TextClassification, "x\ta\n", text="1", label="0")
    assert example.encoding.tokens == ["[CLS]", "a", "[SEP]"]


TEXTS = ["a b c d e", "a", "b a", "c d e f", "b b b", "d"]
LINE, CURVE = ([[3 - 2 * number] for number in range(6)], [[10**number] for number in range(6)])
OF_CURVE = np.corrcoef(range(6), 10.0 ** np.arange(6))[0, 1]


def scores(accuracy, macro_f1, matthews, **others):
    return {"accuracy": accuracy, "macro_f1": macro_f1, "matthews": matthews, **others}


@pytest.mark.parametrize(
    ("gold", "said", "positive", "title", "score"),
    [
        ("nyynyn", "yyynyn", "", "f1 (of 'y')", 6 / 7),
        ("nyynyn", "yyynyn", "n", "f1 (of 'n')", 4 / 5),
        ("nyanya", "nyynya", "y", "f1 (of 'y')", 4 / 5),
        ("nyanya", "nyynya", "", None, None),  # of three labels none is the positive one by itself
    ],
)
def test_the_label_that_f1_is_about(read, tokenizer, gold, said, positive, title, score):
    content = "".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, gold, strict=True))
    task, examples = read(TextClassification, content, positive=positive)
    by_text = {text: task.labels.index(label) for text, label in zip(TEXTS, said, strict=True)}

    def answer(batch):
        return np.eye(len(task.labels))[[by_text[" ".join(words[1:-1])] for words in words_of(tokenizer, batch)]]

    metrics = task.evaluate(Planted(tokenizer, answer), examples)
    assert metrics.get("f1") == (score and pytest.approx(score))
    assert title is None or task.title_of("f1") == title
    assert task.title_of("macro_f1") == "macro f1"
    with pytest.raises(ValueError, match="positive is 'x', wanted one of the labels: "):
        read(TextClassification, content, positive="x")


def loss_of(kind, logits, labels):
    if kind is TextRegression:
        return ((logits[:, 0] - labels.astype(float)) ** 2).mean()
    numbers = np.unique(labels, return_inverse=True)[1]
    return (np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(labels)), numbers]).mean()


@pytest.mark.parametrize(
    ("kind", "labels", "logits", "wanted"),
    [
        (TextClassification, "nyynyn", np.eye(2)[[0, 1, 1, 0, 1, 0]], scores(1, 1, 1, f1=1)),
        (TextClassification, "nyynyn", -np.eye(2)[[0, 1, 1, 0, 1, 0]], scores(0, 0, -1, f1=0)),
        (TextClassification, "nyynyn", np.eye(2)[[0, 1, 1, 1, 0, 0]], scores(4 / 6, 2 / 3, 1 / 3, f1=2 / 3)),
        (TextClassification, "nyynyn", np.eye(2)[[1, 1, 1, 1, 1, 1]], scores(3 / 6, 1 / 3, 0, f1=2 / 3)),
        (TextClassification, "012012", np.eye(3)[[0, 1, 2] * 2], scores(1, 1, 1)),  # f1 is for two classes
        (TextRegression, "012345", LINE, {"pearson": -1, "spearman": -1}),
        (TextRegression, "012345", CURVE, {"pearson": OF_CURVE, "spearman": 1}),
    ],
)
def test_metrics_of_planted_logits(read, tokenizer, kind, labels, logits, wanted):
    """Each text has its row of logits, whatever batch it comes in."""
    task, examples = read(kind, "".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, labels, strict=True)))
    by_text = dict(zip(TEXTS, logits, strict=True))

    def answer(batch):
        return np.array([by_text[" ".join(words[1:-1])] for words in words_of(tokenizer, batch)], float)

    metrics = task.evaluate(Planted(tokenizer, answer), examples)
    assert metrics.pop("loss") == pytest.approx(loss_of(kind, np.array(logits, float), np.array(list(labels), str)))
    assert metrics == pytest.approx(wanted)


def test_the_baselines_are_those_of_always_the_same_answer(read):
    task, examples = read(TextClassification, "a\tx\n" * 2 + "b\ty\n" * 6)
    wanted = {
        "accuracy": 0.75,
        "macro_f1": 3 / 7,
        "matthews": 0.0,
        "f1": 6 / 7,
        "loss": -0.75 * np.log(0.75) - 0.25 * np.log(0.25),
    }
    assert task.baselines(examples) == pytest.approx(wanted)
    task, examples = read(TextRegression, "a\t1\nb\t3\n")
    assert task.baselines(examples) == {"loss": 1.0}


def test_a_column_that_holds_no_texts_is_told(read):
    with pytest.warns(UserWarning, match=r"only 2 of 60 texts differ, the first is 'a'; --text says which column"):
        read(TextClassification, "a\tx\nb\ty\n" * 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(TextClassification, "".join(f"a {number}\t{'xy'[number % 2]}\n" for number in range(60)))
