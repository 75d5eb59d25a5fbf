"""Classification, regression and multiple choice: from a file to targets, and from logits to metrics."""

import numpy as np
import pytest

from npbert import Batch
from npbert.training.tasks import MultipleChoice, TextClassification, TextRegression
from tests.training.tasks.tiny import words_of


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["good", "bad", "good"], ("bad", "good")),
        (["10", "2", "1", "2"], ("1", "2", "10")),
        (["1", "-1", "0", "-10"], ("-10", "-1", "0", "1")),
        (["10", "²", "9"], ("10", "9", "²")),
    ],
)
def test_labels_are_sorted_and_learned_once(read, names, labels):
    content = "".join(f"a b\t{name}\n" for name in names)
    task, examples = read(TextClassification, content)
    assert task.labels == labels
    assert task.collate(examples).labels.tolist() == [labels.index(name) for name in names]
    assert task.config(task.labels) == {"num_labels": len(labels), "id2label": labels}
    _, (example,) = read(task, f"a\t{labels[1]}\n")
    assert example.target == 1
    given, _ = read(TextClassification, content, labels=labels[::-1])
    assert given.labels == labels[::-1], "names given keep their order"


def test_numbers_and_columns(read):
    task, examples = read(TextRegression, "a\t1\nb\t-2.5\nc\t1e3\nd\t 4 \n")
    assert task.collate(examples).labels.tolist() == [1, -2.5, 1000, 4]
    assert task.config(task.labels) == {"num_labels": 1}
    columns = {"text": "first", "text_pair": "second", "label": "gold", "delimiter": "comma"}
    _, (example,) = read(TextClassification, 'gold,second,first\nyes,"a, b",c\n', **columns)
    assert example.encoding.tokens == ["[CLS]", "c", "[SEP]", "a", "[UNK]", "b", "[SEP]"]
    assert example.encoding.type_ids == [0, 0, 0, 1, 1, 1, 1]
    _, (example,) = read(TextClassification, "x\ta\n", text="1", label="0")
    assert example.encoding.tokens == ["[CLS]", "a", "[SEP]"]


TEXTS = ["a b c d e", "a", "b a", "c d e f", "b b b", "d"]
CURVE = [[10**number] for number in range(6)]
OF_CURVE = np.corrcoef(range(6), 10.0 ** np.arange(6))[0, 1]


def scores(accuracy, macro_f1, matthews, **others):
    return {"accuracy": accuracy, "macro_f1": macro_f1, "matthews": matthews, **others}


def loss_of(kind, logits, labels):
    if kind is TextRegression:
        return ((logits[:, 0] - labels.astype(float)) ** 2).mean()
    numbers = np.unique(labels, return_inverse=True)[1]
    return (np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(labels)), numbers]).mean()


NY, NYA = np.eye(2), np.eye(3)  # by the number of the label: n, y; and a, n, y


@pytest.mark.parametrize(
    ("kind", "labels", "positive", "logits", "wanted"),
    [
        (TextClassification, "nyynyn", "", NY[[1, 1, 1, 0, 1, 0]], scores(5 / 6, 29 / 35, 1 / 2**0.5, f1=6 / 7)),
        (TextClassification, "nyynyn", "n", NY[[1, 1, 1, 0, 1, 0]], scores(5 / 6, 29 / 35, 1 / 2**0.5, f1=4 / 5)),
        (TextClassification, "nyanya", "y", NYA[[1, 2, 2, 1, 2, 0]], scores(5 / 6, 37 / 45, 18 / 528**0.5, f1=4 / 5)),
        (TextClassification, "012012", "", NYA[[0, 1, 2] * 2], scores(1, 1, 1)),  # of three, none is positive
        (TextRegression, "012345", "", CURVE, {"pearson": OF_CURVE, "spearman": 1}),
    ],
)
def test_metrics_of_planted_logits(read, tokenizer, kind, labels, positive, logits, wanted):
    """Each text has its row of logits, whatever batch it comes in."""
    content = "".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, labels, strict=True))
    task, examples = read(kind, content, positive=positive)
    by_text = dict(zip(TEXTS, logits, strict=True))

    def answer(batch):
        return np.array([by_text[" ".join(words[1:-1])] for words in words_of(tokenizer, batch)], float)

    task.model.answer = answer
    metrics = task.evaluate(examples)
    assert metrics.pop("loss") == pytest.approx(loss_of(kind, np.array(logits, float), np.array(list(labels), str)))
    assert metrics == pytest.approx(wanted)
    if kind is TextClassification:
        assert task.title_of("f1") == (f"f1 (of '{positive or 'y'}')" if "f1" in wanted else "f1")
        assert task.title_of("macro_f1") == "macro f1"
        with pytest.raises(ValueError, match="positive is 'x', wanted one of the labels: "):
            read(kind, content, positive="x")


def test_the_baselines_are_those_of_always_the_same_answer(read):
    task, examples = read(TextClassification, "a\tx\n" * 2 + "b\ty\n" * 6)
    loss = -0.75 * np.log(0.75) - 0.25 * np.log(0.25)
    assert task.baselines(examples) == pytest.approx(scores(0.75, 3 / 7, 0.0, f1=6 / 7, loss=loss))
    task, examples = read(TextRegression, "a\t1\nb\t3\n")
    assert task.baselines(examples) == {"loss": 1.0}


TABLE = "text\tone\ttwo\tthree\tgold\nann sings\ta b\tc\td e f\t2\nbob\td\te\tf\t0\nrome\ta\tb\tc\t1\n"
COLUMNS = {"text": "text", "choices": ("one", "two", "three"), "label": "gold", "batch_size": 2}


def rows_of(batch):
    """Each example of a batch as a batch of its choices."""
    return [Batch(*arrays) for arrays in zip(batch.input_ids, batch.token_type_ids, batch.attention_mask, strict=True)]


def test_every_choice_comes_with_its_text(read, tokenizer):
    task, examples = read(MultipleChoice, TABLE, **COLUMNS)
    batch = task.collate(examples)
    assert batch.input_ids.shape == batch.token_type_ids.shape == batch.attention_mask.shape == (3, 3, 8)
    assert batch.labels.tolist() == [example.target for example in examples] == [2, 0, 1]
    sentences = [[" ".join(words) for words in words_of(tokenizer, row)] for row in rows_of(batch)]
    assert sentences[0] == [f"[CLS] ann sings [SEP] {choice} [SEP]" for choice in ("a b", "c", "d e f")]
    assert sentences[1] == [f"[CLS] bob [SEP] {choice} [SEP]" for choice in "def"]
    assert batch.token_type_ids[0, 2].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(("best", "accuracy"), [("fdb", 1), ("fda", 2 / 3), ("fec", 1 / 3), ("aec", 0)])
def test_accuracy_of_planted_scores(read, tokenizer, best, accuracy):
    """The choice that holds the planted word has the highest score."""

    def answer(batch):
        rows = [words_of(tokenizer, row) for row in rows_of(batch)]
        return np.array([[float(wanted[words[1]] in words) for words in row] for row in rows])

    task, examples = read(MultipleChoice, TABLE, **COLUMNS)
    wanted = dict(zip(("ann", "bob", "rome"), best, strict=True))
    right = round(3 * accuracy)
    loss = np.log(2 + np.e) - right / 3  # of one logit that is 1 and two that are 0
    task.model.answer = answer
    assert task.evaluate(examples) == pytest.approx({"accuracy": accuracy, "loss": loss})


def test_columns_of_choices(read):
    for choices in ((), ("one",)):
        with pytest.raises(ValueError, match=f"choices has {len(choices)} columns, wanted at least 2"):
            read(MultipleChoice, TABLE, **{**COLUMNS, "choices": choices})
