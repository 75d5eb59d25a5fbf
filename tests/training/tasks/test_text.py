"""Classification, regression and multiple choice: from a file to targets, and from logits to metrics. Published files
as they are: a row of names is no example, and a column of texts holds no labels."""

import warnings
from itertools import product

import numpy as np
import pytest

from npbert.io.files import FileError
from npbert.training.tasks import MultipleChoice, TextClassification, TextRegression
from tests.training.tasks.tiny import words_of


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["good", "bad", "good"], ("bad", "good")),
        (["10", "2", "-1", "2"], ("-1", "2", "10")),
        (["10", "²", "9"], ("10", "9", "²")),
    ],
)
def test_labels_are_sorted_and_learned_once(read, names, labels):
    content = "".join(f"a b\t{name}\n" for name in names)
    task, examples = read(TextClassification, content)
    assert task.labels == labels
    assert task.collate(examples).labels.tolist() == [labels.index(name) for name in names]


def test_numbers_and_columns(read):
    task, examples = read(TextRegression, "a\t1\nb\t-2.5\nc\t1e3\nd\t 4 \n")
    assert task.collate(examples).labels.tolist() == [1, -2.5, 1000, 4]
    columns = {"text": "first", "text_pair": "second", "label": "gold", "delimiter": "comma", "sample_weight": "w"}
    task, (example,) = read(TextClassification, 'gold,second,first,w\nyes,"a, b",c,2.5\n', **columns)
    assert task.tokenizer.decode(example.encoding.ids) == ["[CLS]", "c", "[SEP]", "a", "[UNK]", "b", "[SEP]"]
    assert example.encoding.type_ids.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert task.collate([example]).sample_weight == [2.5]


@pytest.mark.parametrize(
    ("labels", "predicted", "positive", "f1"),
    [
        ("nyynyn", [1, 1, 1, 0, 1, 0], "", 6 / 7),  # of two, the second is positive
        ("nyynyn", [1, 1, 1, 0, 1, 0], "n", 4 / 5),
        ("nyanya", [1, 2, 2, 1, 2, 0], "y", 4 / 5),
        ("012012", [0, 1, 2, 0, 1, 2], "", None),  # of three, none is
    ],
)
def test_metrics_of_labels(read, labels, predicted, positive, f1):
    content = "".join(f"a\t{label}\n" for label in labels)
    task, examples = read(TextClassification, content, positive=positive)
    metrics = task.judge(np.eye(3)[predicted][:, : len(task.labels)], examples)
    assert metrics.pop("f1", None) == pytest.approx(f1)
    assert list(metrics) == ["accuracy", "macro_f1", "matthews", "loss"]
    assert metrics["accuracy"] == pytest.approx(5 / 6 if f1 else 1)
    assert task.positive == (positive or "y" if f1 else "")
    with pytest.raises(ValueError, match="positive is 'x', wanted one of "):
        read(TextClassification, content, positive="x")


def test_the_baselines_are_those_of_always_the_same_answer(read):
    task, examples = read(TextClassification, "a\tx\n" * 2 + "b\ty\n" * 6)
    loss = -0.75 * np.log(0.75) - 0.25 * np.log(0.25)
    wanted = {"accuracy": 0.75, "macro_f1": 3 / 7, "matthews": 0.0, "f1": 6 / 7, "loss": loss}
    assert task.baselines(examples) == pytest.approx(wanted)
    task, examples = read(TextRegression, "a\t1\nb\t3\n")
    assert task.baselines(examples) == {"loss": 1.0}


def test_every_choice_comes_with_its_text_and_the_highest_score_counts(read, tokenizer):
    table = "text\tone\ttwo\tthree\tgold\nann sings\ta b\tc\td e f\t2\nbob\td\te\tf\t0\nrome\ta\tb\tc\t1\n"
    task, examples = read(MultipleChoice, table, text="text", choices=("one", "two", "three"), label="gold")
    batch = task.collate(examples)
    assert batch.labels.tolist() == [2, 0, 1] and batch.input_ids.shape == (3, 3, 8)
    assert batch.token_type_ids[0, 2].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]

    second = [" ".join(words) for words in words_of(tokenizer, batch, 1)]
    assert second == ["[CLS] ann sings [SEP] c [SEP]", "[CLS] bob [SEP] e [SEP]", "[CLS] rome [SEP] b [SEP]"]
    losses = [np.log(2 + np.e) - 1, np.log(2 + np.e) - 1, np.log(3)]
    metrics = task.judge([np.eye(3)[2], np.eye(3)[0], np.zeros(3)], examples)
    assert metrics == pytest.approx({"accuracy": 2 / 3, "loss": np.mean(losses)})


# As GLUE publishes them, each with its columns and what would name them
MRPC = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\ta b\tc\n0\t9\t1\td e\tf\n1\t2\t3\ta\tb\n"
STSB = "index\tgenre\tsentence1\tsentence2\tscore\n0\tnews\ta\tb\t5.000\n1\tnews\tc\td\t2.5\n"
FILES = {
    "mrpc": (TextClassification, MRPC, {"label": "0", "text": "3", "text_pair": "4"}),
    "sst-2": (TextClassification, "sentence\tlabel\na b c\t0\nd e\t1\nf\t1\n", {}),
    "mnli": (TextClassification, "gold_label\ttext\nneutral\ta\nentailment\tb\nneutral\tc\n",
             {"label": "0", "text": "1"}),
    "sts-b": (TextRegression, STSB, {"text": "2", "text_pair": "3", "label": "4"}),
    "swag": (MultipleChoice, "ctx\tright\tone\ttwo\na b\t1\tc\td\n", {"choices": ("2", "3")}),
}  # fmt: skip
WAYS = "if this row has the names of the columns, give first_row='header'; if it is an example, first_row='example'"


@pytest.mark.parametrize(("kind", "content", "columns"), FILES.values(), ids=FILES)
def test_a_published_header_is_refused_with_what_to_give(read, kind, content, columns):
    with pytest.raises(FileError, match=rf"a\.tsv, line 1: .*; {WAYS}$"):
        read(kind, content, **columns)
    _, examples = read(kind, content, **columns, first_row="header")
    without = content.partition("\n")[2]
    task, again = read(kind, without, **columns)
    assert [each.target for each in again] == [each.target for each in examples]
    assert len(again) == without.count("\n")
    with pytest.raises(FileError, match=rf"b\.tsv, line 1: .*{WAYS}"):
        read(task, content, name="b.tsv")  # a later file


def test_a_label_of_one_example_alone(read):
    content = "a\trare\nb\tcommon\nc\tcommon\n"
    with pytest.raises(FileError, match="no other row has the label 'rare'"):
        read(TextClassification, content)
    for way in ({"first_row": "example"}, {"labels": ("common", "rare")}):
        task, _ = read(TextClassification, content, **way)
        assert task.labels == ("common", "rare")
    for undoubted in ("a\tx\nb\ty\n", "a\t1\nb\t2\nc\t2\n"):
        _, examples = read(TextClassification, undoubted)
        assert len(examples) == undoubted.count("\n")


def test_by_names_or_in_json_the_first_row_is_an_example(read):
    by_names, in_json = "t\tl\nx y\tlabel\nb\t1\nc\t1\n", '{"t": "x", "l": "label"}\n{"t": "b", "l": 1}\n'
    files = (("a.tsv", by_names), ("a.jsonl", in_json))
    for (name, content), first_row in product(files, ("", "example", "header")):
        task, _ = read(TextClassification, content, name=name, first_row=first_row, text="t", label="l")
        assert task.labels == ("1", "label")


def rows(labels):
    return "".join(f"a\t{label}\n" for label in labels)


def test_texts_and_measurements_are_no_labels(read):
    with pytest.raises(FileError) as error:
        read(TextClassification, rows(f"the number {number}" for number in range(3000)))
    message = str(error.value)
    assert "a.tsv: 3,000 different labels for 3,000 examples are too many: 'the number 0', " in message
    assert message.endswith(", … (3,000 in all); label names the column of the labels")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for labels in ([f"l{n % 150}" for n in range(300)], ["0.0", "1.0"] * 3, [str(n % 20) for n in range(40)]):
            task, _ = read(TextClassification, rows(labels))
            assert len(task.labels) == len(set(labels)), "150 are as many as a data set of intents has"
