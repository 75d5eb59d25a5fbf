"""Classification, regression and multiple choice: from a file to targets, and from logits to metrics."""

import numpy as np
import pytest

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
