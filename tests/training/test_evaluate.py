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
from npbert.training.tasks import TASKS, TaskSettings
from tests.training.tasks.tiny import tiny_config, tiny_tokenizer

pytest.importorskip("safetensors", reason="safetensors is not installed: in npbert's folder, pip install '.[hf]'")

ANSWER = {"id": "1", "question": "who?", "answers": [{"text": "ann", "answer_start": 0}]}
TAGS = {"num_labels": 2, "id2label": ("O", "B-PER")}
TEXT = BertForSequenceClassification
KINDS = {  # the model, changes to its configuration, settings, and a file
    "classification": (TEXT, {}, {}, "a\t0\nb c\t1\n"),
    "regression": (TEXT, {"num_labels": 1}, {}, "a\t2.5\nb c\t1\n"),
    "multiple-choice": (BertForMultipleChoice, {}, {"choices": ("2", "3")}, "a\t0\tb\tc\nd\t1\te\tf\n"),
    "tagging": (BertForTokenClassification, TAGS, {}, "Ann B-PER\nsings O\n"),
    "squad": (
        BertForQuestionAnswering,
        {},
        {},
        json.dumps({"data": [{"paragraphs": [{"context": "ann sings", "qas": [ANSWER]}]}]}),
    ),
}


@pytest.fixture
def evaluate(tmp_path):
    def evaluate(kind, content, favourite=None, settings=None, **changes):
        """The metrics of a new model on a file; `favourite` is the number of the class that it always chooses."""
        model = kind(tiny_config(**changes), rng=np.random.default_rng(0))
        if favourite is not None:
            model.classifier.bias.value[favourite] = 100
        model.save_pretrained(tmp_path / "model")
        tiny_tokenizer().save_pretrained(tmp_path / "model")
        (tmp_path / "a.tsv").write_text(content)
        settings = TaskSettings(**{"max_length": 32, **(settings or {})})
        return evaluate_checkpoint(tmp_path / "model", str(tmp_path / "a.tsv"), settings)

    return evaluate


@pytest.mark.parametrize("names", [("good", "bad"), ("bad", "good"), ("fair", "good", "bad"), None])
def test_labels_by_name_in_the_order_of_the_checkpoint_or_by_number(evaluate, names):
    """The model says "good", or 1, each time."""
    good, bad = ("good", "bad") if names else ("1", "0")
    content = f"a b\t{good}\nc\t{bad}\nd\t{good}\ne f\t{good}\n"
    count = len(names or "01")
    metrics = evaluate(TEXT, content, names.index("good") if names else 1, num_labels=count, id2label=names)
    assert metrics["accuracy"] == 0.75
    assert ("f1" in metrics) == (count == 2)


@pytest.mark.parametrize(("names", "label"), [(("good", "bad"), "fair"), (None, "2"), (None, "LABEL_1")])
def test_a_label_that_the_model_does_not_know(evaluate, names, label):
    known = "'good', 'bad'" if names else "'0', '1'"
    with pytest.raises(FileError, match=rf"a\.tsv, line 2: the label '{label}' is none of those in training: {known}"):
        evaluate(TEXT, f"a\t{(names or '0')[0]}\nb\t{label}\n", num_labels=2, id2label=names)


@pytest.mark.parametrize("task", KINDS)
def test_every_task(evaluate, task):
    model, changes, columns, content = KINDS[task]
    metrics = evaluate(model, content, settings={"task": task, **columns}, **changes)
    assert set(metrics) == set(TASKS[task].metrics)
    assert all(np.isfinite(value) for value in metrics.values())


@pytest.mark.parametrize(
    ("task", "model", "message"),
    [
        ("classification", BertForMaskedLM, "missing: "),
        ("classification", BertForQuestionAnswering, r"missing: bert\.pooler|missing: .*classifier"),
        ("squad", BertForMaskedLM, "missing: "),
        ("squad", TEXT, "missing: .*qa_outputs"),
        ("regression", TEXT, r"classifier\.weight \(2, 4\), wanted \(1, 4\)"),
        ("multiple-choice", TEXT, r"classifier\.weight \(2, 4\), wanted \(1, 4\)"),
    ],
)
def test_a_head_is_neither_made_up_nor_taken_for_one_of_another_size(evaluate, task, model, message):
    _, _, columns, content = KINDS[task]
    with pytest.raises(FileError, match=rf"(?s)model\.safetensors does not fit.*({message})"):
        evaluate(model, content, settings={"task": task, **columns})


def test_the_settings_cut_long_texts(evaluate):
    with pytest.warns(UserWarning, match="1 of 2 texts cut to 9 tokens"):
        evaluate(TEXT, "a b c d e f a b c\t0\nb\t1\n", settings={"max_length": 9})


def test_no_checkpoint_and_no_file(evaluate, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none is no checkpoint"):
        evaluate_checkpoint(tmp_path / "none", "a.tsv", TaskSettings())
    evaluate(TEXT, "a\t0\nb\t1\n")
    with pytest.raises(FileNotFoundError, match=r"none\.tsv"):
        evaluate_checkpoint(tmp_path / "model", str(tmp_path / "none.tsv"), TaskSettings(max_length=32))
