"""evaluate_checkpoint: a finished model on a labelled file, with the labels that the checkpoint knows."""

import json

import numpy as np
import pytest

from npbert import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from npbert.files import FileError
from npbert.training.evaluate import evaluate_checkpoint
from npbert.training.tasks import TaskSettings
from tests.training.tasks.tiny import tiny_config, tiny_tokenizer

pytest.importorskip("safetensors", reason="safetensors is not installed: in npbert's folder, pip install '.[hf]'")


@pytest.fixture
def save(tmp_path):
    def save(kind, favourite=None, **changes):
        """A checkpoint of a new model; `favourite` is the number of the class that it always chooses."""
        model = kind(tiny_config(**changes), rng=np.random.default_rng(0))
        if favourite is not None:
            model.classifier.bias.value[favourite] = 100
        folder = tmp_path / "model"
        model.save_pretrained(folder)
        tiny_tokenizer().save_pretrained(folder)
        return folder

    return save


@pytest.fixture
def write(tmp_path):
    def write(content, name="a.tsv"):
        (tmp_path / name).write_text(content)
        return str(tmp_path / name)

    return write


SETTINGS = TaskSettings(max_length=32)
NAMED = "a b\tgood\nc\tbad\nd\tgood\ne f\tgood\n"


@pytest.mark.parametrize("names", [("good", "bad"), ("bad", "good"), ("fair", "good", "bad")])
def test_labels_by_name(save, write, names):
    """In the order of the checkpoint, whichever that is: it says "good" each time."""
    folder = save(BertForSequenceClassification, names.index("good"), num_labels=len(names), id2label=names)
    metrics = evaluate_checkpoint(folder, write(NAMED), SETTINGS)
    assert metrics["accuracy"] == 0.75
    assert ("f1" in metrics) == (len(names) == 2)


def test_labels_by_number(save, write):
    folder = save(BertForSequenceClassification, 2, num_labels=3)
    assert evaluate_checkpoint(folder, write("a\t2\nb\t0\nc\t1\nd\t2\n"), SETTINGS)["accuracy"] == 0.5


@pytest.mark.parametrize(("names", "label"), [(("good", "bad"), "fair"), (None, "2"), (None, "LABEL_1")])
def test_a_label_that_the_model_does_not_know(save, write, names, label):
    folder = save(BertForSequenceClassification, num_labels=2, id2label=names)
    known = "'good', 'bad'" if names else "'0', '1'"
    with pytest.raises(FileError, match=rf"a\.tsv, line 2: the label '{label}' is none of those in training: {known}"):
        evaluate_checkpoint(folder, write(f"a\t{(names or '0')[0]}\nb\t{label}\n"), SETTINGS)


SQUAD = {
    "data": [
        {
            "paragraphs": [
                {
                    "context": "ann sings",
                    "qas": [{"id": "1", "question": "who?", "answers": [{"text": "ann", "answer_start": 0}]}],
                }
            ]
        }
    ]
}
KINDS = {
    "classification": (
        BertForSequenceClassification,
        {},
        {},
        "a\t0\nb c\t1\n",
        {"accuracy", "macro_f1", "matthews", "f1"},
    ),
    "regression": (BertForSequenceClassification, {"num_labels": 1}, {}, "a\t2.5\nb c\t1\n", {"pearson", "spearman"}),
    "multiple-choice": (BertForMultipleChoice, {}, {"choices": ("2", "3")}, "a\t0\tb\tc\nd\t1\te\tf\n", {"accuracy"}),
    "tagging": (
        BertForTokenClassification,
        {"num_labels": 2, "id2label": ("O", "B-PER")},
        {},
        "Ann B-PER\nsings O\n",
        {"precision", "recall", "f1", "accuracy"},
    ),
    "squad": (BertForQuestionAnswering, {}, {}, json.dumps(SQUAD), {"exact_match", "f1"}),
}


@pytest.mark.parametrize("task", KINDS)
def test_every_task(save, write, task):
    model, changes, columns, content, wanted = KINDS[task]
    settings = TaskSettings(task=task, max_length=32, **columns)
    metrics = evaluate_checkpoint(save(model, **changes), write(content), settings)
    assert set(metrics) == wanted
    assert all(np.isfinite(value) for value in metrics.values())


@pytest.mark.parametrize(
    ("task", "model", "changes", "message"),
    [
        *((task, BertForMaskedLM, {}, "missing: ") for task in ("classification", "squad")),
        ("classification", BertForQuestionAnswering, {}, r"missing: bert\.pooler|missing: .*classifier"),
        ("squad", BertForSequenceClassification, {}, "missing: .*qa_outputs"),
        (
            "regression",
            BertForSequenceClassification,
            {"num_labels": 2},
            r"classifier\.weight \(2, 4\), wanted \(1, 4\)",
        ),
        (
            "multiple-choice",
            BertForSequenceClassification,
            {"num_labels": 2},
            r"classifier\.weight \(2, 4\), wanted \(1, 4\)",
        ),
    ],
)
def test_another_head(save, write, task, model, changes, message):
    """Nothing is made up for a head that is not there, and none of another size is taken for it."""
    _, _, columns, content, _ = KINDS[task]
    settings = TaskSettings(task=task, max_length=32, **columns)
    with pytest.raises(FileError, match=rf"(?s)model\.safetensors does not fit.*({message})"):
        evaluate_checkpoint(save(model, **changes), write(content), settings)


def test_no_checkpoint(write, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none is no checkpoint"):
        evaluate_checkpoint(tmp_path / "none", write(NAMED), SETTINGS)


def test_no_file(save, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.tsv"):
        evaluate_checkpoint(save(BertForSequenceClassification), str(tmp_path / "none.tsv"), SETTINGS)
