"""Classification and regression: from a file to targets, and from logits to metrics."""

import warnings

import numpy as np
import pytest

from npbert import BertForSequenceClassification
from npbert.files import FileError
from npbert.training.tasks import TASKS, TaskSettings, TextClassification, TextRegression, make_task
from tests.shared_data import shared_data
from tests.training.tasks.tiny import Planted, tiny_config, tiny_tokenizer, words_of


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture
def read(tmp_path):
    def read(task, content, name="a.tsv"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return task.read(str(tmp_path / name))

    return read


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["good", "bad", "good"], ("bad", "good")),
        (["10", "2", "1", "2"], ("1", "2", "10")),
        (["1", "-1", "0", "-10"], ("-10", "-1", "0", "1")),
        (["10", "2", "x"], ("10", "2", "x")),
        (["--1", "2"], ("--1", "2")),
        (["²", "10", "9"], ("10", "9", "²")),
        (["1.5", "10", "9"], ("1.5", "10", "9")),
        (["", "x"], ("", "x")),
    ],
)
def test_labels_are_sorted(tokenizer, read, names, labels):
    task = TextClassification(TaskSettings(), tokenizer)
    examples = read(task, "".join(f"a b\t{name}\n" for name in names))
    assert task.labels == labels
    assert [example.label for example in examples] == [labels.index(name) for name in names]
    assert task.config() == {"num_labels": len(labels), "id2label": labels}


def test_a_label_that_training_never_had(tokenizer, read, tmp_path):
    task = TextClassification(TaskSettings(), tokenizer)
    assert task.config() == {}
    read(task, "a\tgood\nb\tbad\n", "train.tsv")
    assert [example.label for example in read(task, "a\tgood\n", "dev.tsv")] == [1], "not learned anew"
    message = r"new\.tsv, line 3: the label 'fair' is none of those in training: 'bad', 'good'"
    with pytest.raises(FileError, match=message):
        read(task, "a\tgood\n\nb\tfair\n", "new.tsv")
    known = TextClassification(TaskSettings(), tokenizer, ["good", "bad"])
    assert [example.label for example in read(known, "a\tgood\nb\tbad\n")] == [0, 1], "names given keep their order"


def test_columns(tokenizer, read):
    settings = TaskSettings(text="first", text_pair="second", label="gold", delimiter="comma")
    (example,) = read(TextClassification(settings, tokenizer), 'gold,second,first\nyes,"a, b",c\n')
    assert example.encoding.tokens == ["[CLS]", "c", "[SEP]", "a", "[UNK]", "b", "[SEP]"]
    assert example.encoding.type_ids == [0, 0, 0, 1, 1, 1, 1]
    (example,) = read(TextClassification(TaskSettings(text="1", label="0"), tokenizer), "x\ta\n")
    assert example.encoding.tokens == ["[CLS]", "a", "[SEP]"]


@pytest.mark.parametrize(("kind", "dtype"), [(TextClassification, "i"), (TextRegression, "f")])
def test_a_batch_is_what_the_model_learns_from(tokenizer, read, kind, dtype):
    task = kind(TaskSettings(), tokenizer)
    examples = read(task, "ann sings well\t3\nbob\t0\n")
    batch = task.collate(examples)
    assert words_of(tokenizer, batch) == [["[CLS]", "ann", "sings", "well", "[SEP]"], ["[CLS]", "bob", "[SEP]"]]
    assert batch.labels.dtype.kind == dtype
    assert batch.labels.tolist() == ([1, 0] if dtype == "i" else [3.0, 0.0])
    model = BertForSequenceClassification(tiny_config(**task.config()), rng=np.random.default_rng(0))
    loss, cache = model.loss(batch)
    model.backward(cache)
    assert np.isfinite(loss)
    assert all(np.isfinite(value) for value in task.evaluate(model, examples).values())


def test_long_texts_are_cut_with_a_warning(tokenizer, read):
    task = TextClassification(TaskSettings(max_length=8), tokenizer)
    with pytest.warns(UserWarning, match=r"a\.tsv: 1 of 2 texts cut to 8 tokens"):
        long, short = read(task, "a b c d e f a b c\tx\na b c d e f\tx\n")
    assert (len(long.encoding.ids), len(short.encoding.ids)) == (8, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(task, "a b c d e f\tx\n")


@pytest.mark.parametrize("value", ["x", "nan", "inf", "-inf", "", "1,5"])
def test_numbers_that_are_none(tokenizer, read, value):
    with pytest.raises(FileError, match=rf"a\.tsv, line 2: '{value}' is no number"):
        read(TextRegression(TaskSettings(), tokenizer), f"a\t1\nb\t{value}\n")


def test_numbers(tokenizer, read):
    task = TextRegression(TaskSettings(), tokenizer)
    examples = read(task, "a\t1\nb\t-2.5\nc\t1e3\nd\t 4 \n")
    assert [example.label for example in examples] == [1, -2.5, 1000, 4]
    assert task.config() == {"num_labels": 1}


TEXTS = ["a b c d e", "a", "b a", "c d e f", "b b b", "d"]


def planted(tokenizer, rows):
    """The row of logits of each text, whatever batch it comes in."""
    by_text = dict(zip(TEXTS, rows, strict=True))
    return Planted(
        tokenizer,
        lambda batch: np.array([by_text[" ".join(words[1:-1])] for words in words_of(tokenizer, batch)], float),
    )


def test_metrics_of_planted_logits(tokenizer, read):
    task = TextClassification(TaskSettings(), tokenizer)
    labels = [0, 1, 1, 0, 1, 0]
    examples = read(task, "".join(f"{text}\t{'ny'[label]}\n" for text, label in zip(TEXTS, labels, strict=True)))
    perfect = task.evaluate(planted(tokenizer, np.eye(2)[labels]), examples)
    assert perfect == {"accuracy": 1, "macro_f1": 1, "matthews": 1, "f1": 1}
    wrong = task.evaluate(planted(tokenizer, -np.eye(2)[labels]), examples)
    assert wrong == {"accuracy": 0, "macro_f1": 0, "matthews": -1, "f1": 0}
    some = task.evaluate(planted(tokenizer, np.eye(2)[[0, 1, 1, 1, 0, 0]]), examples)
    assert some == pytest.approx({"accuracy": 4 / 6, "macro_f1": 2 / 3, "matthews": 1 / 3, "f1": 2 / 3})
    many = TextClassification(TaskSettings(), tokenizer)
    examples = read(many, "".join(f"{text}\t{number % 3}\n" for number, text in enumerate(TEXTS)))
    metrics = many.evaluate(planted(tokenizer, np.eye(3)[[0, 1, 2] * 2]), examples)
    assert metrics == {"accuracy": 1, "macro_f1": 1, "matthews": pytest.approx(1)}, "F1 of one class is for two"


def test_metrics_of_planted_numbers(tokenizer, read):
    task = TextRegression(TaskSettings(), tokenizer)
    examples = read(task, "".join(f"{text}\t{number / 2}\n" for number, text in enumerate(TEXTS)))
    line = task.evaluate(planted(tokenizer, [[3 - 2 * number] for number in range(6)]), examples)
    assert line == pytest.approx({"pearson": -1, "spearman": -1})
    curve = task.evaluate(planted(tokenizer, [[10**number] for number in range(6)]), examples)
    assert curve["spearman"] == pytest.approx(1)
    assert curve["pearson"] == pytest.approx(np.corrcoef(range(6), 10.0 ** np.arange(6))[0, 1])


def test_goals_are_metrics():
    assert {name: task.goal for name, task in TASKS.items()} == {
        "classification": "accuracy",
        "regression": "pearson",
        "multiple-choice": "accuracy",
        "tagging": "f1",
        "squad": "f1",
    }


def test_tasks_by_name(tokenizer):
    for name, kind in TASKS.items():
        task = make_task(TaskSettings(task=name), tokenizer, ["x"])
        assert type(task) is kind
        assert task.labels == ("x",)
    with pytest.raises(
        ValueError, match="task is 'parsing', wanted one of classification, regression, multiple-choice"
    ):
        make_task(TaskSettings(task="parsing"), tokenizer)


@pytest.mark.parametrize("name", ["max_length", "batch_size"])
def test_settings(name):
    with pytest.raises(ValueError, match=f"{name} is 0, wanted at least {8 if name == 'max_length' else 1}"):
        TaskSettings(**{name: 0})


def test_real_files(tokenizer):
    cola = TextClassification(TaskSettings(text="3"), tokenizer)
    assert len(cola.read(str(shared_data() / "cola" / "in_domain_dev.tsv"))) == 527
    assert cola.labels == ("0", "1")
    similarity = TextRegression(TaskSettings(text="5", text_pair="6", label="4", delimiter="tab"), tokenizer)
    examples = similarity.read(str(shared_data() / "stsb" / "sts-dev.csv"))
    assert len(examples) == 1500
    assert max(example.label for example in examples) == 5
    assert set(examples[0].encoding.sequence_ids) == {None, 0, 1}
