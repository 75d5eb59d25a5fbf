"""Classification and regression: from a file to targets, and from logits to metrics."""

import warnings

import numpy as np
import pytest

from npbert.files import FileError
from npbert.training.tasks import TASKS, TaskSettings, TextClassification, TextRegression, make_task
from tests.shared_data import shared_data
from tests.training.tasks.tiny import Planted, model_that_learned, words_of


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
def test_labels_are_sorted(read, names, labels):
    task, examples = read(TextClassification, "".join(f"a b\t{name}\n" for name in names))
    assert task.labels == labels
    assert [example.label for example in examples] == [labels.index(name) for name in names]
    assert task.config() == {"num_labels": len(labels), "id2label": labels}


def test_labels_are_learned_once(read, tokenizer):
    assert TextClassification(TaskSettings(), tokenizer).config() == {}
    task, _ = read(TextClassification, "a\tgood\nb\tbad\n", "train.tsv")
    _, (example,) = read(task, "a\tgood\n", "dev.tsv")
    assert example.label == 1
    message = r"new\.tsv, line 3: the label 'fair' is none of those in training: 'bad', 'good'"
    with pytest.raises(FileError, match=message):
        read(task, "a\tgood\n\nb\tfair\n", "new.tsv")
    _, examples = read(TextClassification, "a\tgood\nb\tbad\n", labels=["good", "bad"])
    assert [example.label for example in examples] == [0, 1], "names given keep their order"


def test_columns(read):
    columns = {"text": "first", "text_pair": "second", "label": "gold", "delimiter": "comma"}
    _, (example,) = read(TextClassification, 'gold,second,first\nyes,"a, b",c\n', **columns)
    assert example.encoding.tokens == ["[CLS]", "c", "[SEP]", "a", "[UNK]", "b", "[SEP]"]
    assert example.encoding.type_ids == [0, 0, 0, 1, 1, 1, 1]
    _, (example,) = read(TextClassification, "x\ta\n", text="1", label="0")
    assert example.encoding.tokens == ["[CLS]", "a", "[SEP]"]


@pytest.mark.parametrize(("kind", "dtype"), [(TextClassification, "i"), (TextRegression, "f")])
def test_a_batch_is_what_the_model_learns_from(tokenizer, read, kind, dtype):
    task, examples = read(kind, "ann sings well\t3\nbob\t0\n")
    batch = task.collate(examples)
    assert words_of(tokenizer, batch) == [["[CLS]", "ann", "sings", "well", "[SEP]"], ["[CLS]", "bob", "[SEP]"]]
    assert batch.labels.dtype.kind == dtype
    assert batch.labels.tolist() == ([1, 0] if dtype == "i" else [3.0, 0.0])
    model, loss = model_that_learned(task, batch)
    assert loss == pytest.approx(np.log(2) if dtype == "i" else 9 / 2, rel=0.1)
    assert all(np.isfinite(value) for value in task.evaluate(model, examples).values())


def test_long_texts_are_cut_with_a_warning(read):
    with pytest.warns(UserWarning, match=r"a\.tsv: 1 of 2 texts cut to 8 tokens"):
        task, (long, short) = read(TextClassification, "a b c d e f a b c\tx\na b c d e f\tx\n", max_length=8)
    assert (len(long.encoding.ids), len(short.encoding.ids)) == (8, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(task, "a b c d e f\tx\n")


@pytest.mark.parametrize("value", ["x", "nan", "inf", "-inf", "", "1,5"])
def test_a_target_that_is_no_number(read, value):
    with pytest.raises(FileError, match=rf"a\.tsv, line 2: '{value}' is no number"):
        read(TextRegression, f"a\t1\nb\t{value}\n")


def test_targets_that_are_numbers(read):
    task, examples = read(TextRegression, "a\t1\nb\t-2.5\nc\t1e3\nd\t 4 \n")
    assert [example.label for example in examples] == [1, -2.5, 1000, 4]
    assert task.config() == {"num_labels": 1}


TEXTS = ["a b c d e", "a", "b a", "c d e f", "b b b", "d"]


@pytest.fixture
def judge(read, tokenizer):
    def judge(kind, labels, logits):
        """The metrics of a model that gives each text its row of logits, whatever batch it comes in."""
        task, examples = read(kind, "".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, labels, strict=True)))
        by_text = dict(zip(TEXTS, logits, strict=True))

        def answer(batch):
            return np.array([by_text[" ".join(words[1:-1])] for words in words_of(tokenizer, batch)], float)

        return task.evaluate(Planted(tokenizer, answer), examples)

    return judge


ALL_RIGHT = {"accuracy": 1, "macro_f1": 1, "matthews": 1, "f1": 1}


@pytest.mark.parametrize(
    ("logits", "wanted"),
    [
        (np.eye(2)[[0, 1, 1, 0, 1, 0]], ALL_RIGHT),
        (-np.eye(2)[[0, 1, 1, 0, 1, 0]], {"accuracy": 0, "macro_f1": 0, "matthews": -1, "f1": 0}),
        (np.eye(2)[[0, 1, 1, 1, 0, 0]], {"accuracy": 4 / 6, "macro_f1": 2 / 3, "matthews": 1 / 3, "f1": 2 / 3}),
        (np.eye(2)[[1, 1, 1, 1, 1, 1]], {"accuracy": 3 / 6, "macro_f1": 1 / 3, "matthews": 0, "f1": 2 / 3}),
    ],
)
def test_metrics_of_planted_logits(judge, logits, wanted):
    assert judge(TextClassification, "nyynyn", logits) == pytest.approx(wanted)


def test_the_f1_of_one_class_is_for_two_classes(judge):
    metrics = judge(TextClassification, "012012", np.eye(3)[[0, 1, 2] * 2])
    assert metrics == pytest.approx({name: 1 for name in ALL_RIGHT if name != "f1"})


def test_metrics_of_planted_numbers(judge):
    line = judge(TextRegression, np.arange(6) / 2, [[3 - 2 * number] for number in range(6)])
    assert line == pytest.approx({"pearson": -1, "spearman": -1})
    curve = judge(TextRegression, np.arange(6) / 2, [[10**number] for number in range(6)])
    assert curve["spearman"] == pytest.approx(1)
    assert curve["pearson"] == pytest.approx(np.corrcoef(range(6), 10.0 ** np.arange(6))[0, 1])


def test_tasks_by_name(tokenizer):
    for name, kind in TASKS.items():
        task = make_task(TaskSettings(task=name), tokenizer, ["x"])
        assert type(task) is kind
        assert task.labels == ("x",)
        assert task.goal in task.metrics
    goals = {name: task.goal for name, task in TASKS.items()}
    others = {"regression": "pearson", "tagging": "f1", "squad": "f1"}
    assert goals == {**dict.fromkeys(TASKS, "accuracy"), **others}
    message = "task is 'parsing', wanted one of classification, regression, multiple-choice, tagging, squad"
    with pytest.raises(ValueError, match=message):
        make_task(TaskSettings(task="parsing"), tokenizer)


def test_real_files(tokenizer):
    cola = TextClassification(TaskSettings(text="3"), tokenizer)
    assert len(cola.read(str(shared_data() / "cola" / "in_domain_dev.tsv"))) == 527
    assert cola.labels == ("0", "1")
    similarity = TextRegression(TaskSettings(text="5", text_pair="6", label="4", delimiter="tab"), tokenizer)
    examples = similarity.read(str(shared_data() / "stsb" / "sts-dev.csv"))
    assert len(examples) == 1500
    assert max(example.label for example in examples) == 5
    assert set(examples[0].encoding.sequence_ids) == {None, 0, 1}
