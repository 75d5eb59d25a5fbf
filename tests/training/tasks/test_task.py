"""What holds for every kind of task."""

import warnings

import numpy as np
import pytest

from npbert import Tape
from npbert.files import FileError
from npbert.training.tasks import ALIASES, TASKS, TaskSettings, task_class
from tests.training.parallel.together import together
from tests.training.tasks.tiny import FILES, tiny_config

GOALS = {**dict.fromkeys(TASKS, "accuracy"), "regression": "pearson", "tagging": "f1", "squad": "f1"}
NAMES = {"ner": "tagging", "Token-Classification": "tagging", "sts": "regression", "question_answering": "squad"}


@pytest.mark.parametrize("name", TASKS)
def test_a_model_learns_from_its_batches_and_is_judged(read, name):
    settings, content, loss = FILES[name]
    task, examples = read(TASKS[name], content, **settings)
    labels = None if name == "squad" else task.labels
    model = task.model = task.model_class(tiny_config(**task.config(labels)), rng=np.random.default_rng(0))
    batch = task.collate(examples)
    tape = Tape()
    assert model.loss(batch, tape).loss == pytest.approx(loss, rel=0.1)
    model.loss_backward(1.0, tape)
    metrics = task.evaluate(examples)
    assert set(metrics) == set(task.metrics)
    assert metrics["loss"] == pytest.approx(model.loss(batch).loss, rel=1e-6), "that of training"
    assert all(np.isfinite(value) for value in metrics.values())
    assert task.goal == GOALS[name]
    assert task.goal in metrics

    def shared(communicator):
        return type(task)(model, task.tokenizer, task.settings, communicator=communicator).evaluate(examples)

    for size in (1, 3):
        for found in together(size, shared):
            assert found == pytest.approx(metrics, rel=0, abs=0, nan_ok=True)


def test_tasks_by_name():
    for name, known in {**dict(zip(TASKS, TASKS, strict=True)), **NAMES, **ALIASES}.items():
        assert task_class(TaskSettings(task=name)) is TASKS[known]
    with pytest.raises(ValueError, match=r"wanted one of .*; did you mean tagging"):
        task_class(TaskSettings(task="taging"))
    with pytest.raises(ValueError, match="positive is 'x', but only a classification has a positive label"):
        task_class(TaskSettings(task="ner", positive="x"))
    with pytest.raises(ValueError, match=r"task is 'parsing', wanted one of classification, regression, .*, squad"):
        task_class(TaskSettings(task="parsing"))


@pytest.mark.parametrize(
    ("name", "content", "count"),
    [
        ("classification", "a b c d e f a b c\tx\na b c d e f\tx\n", "1 of 2 texts is"),
        ("multiple-choice", "a\t0\tb b b b b b b\tc\na\t1\tb b b b\tc\n", "1 of 4 texts is"),
        ("tagging", "in O\n" * 7 + "\nBob B-PER\n", "1 of 2 texts is"),
    ],
)
def test_long_texts_are_cut_with_a_warning(read, name, content, count):
    settings, short, _ = FILES[name]
    with pytest.warns(UserWarning, match=rf"a\.tsv: {count} longer than the 8 tokens that max_length allows"):
        task, examples = read(TASKS[name], content, max_length=8, **settings)
    assert task.collate(examples).input_ids.shape[-1] == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(TASKS[name], short, max_length=8, **settings)


CHOICE = "wanted the number of a choice, 0 to 1"
WRONG = [
    ("classification", "a\tgood\n\nb\tfair\n", "line 3: the label 'fair' is none of those in training: 'bad', 'good'"),
    *(("regression", f"a\t1\nb\t{x}\n", f"line 2: '{x}' is not a number") for x in ("x", "nan", "-inf", "", "1,5")),
    *(
        ("multiple-choice", f"a\t{x}\tb\tc\n", f"line 1: the label is '{x}', {CHOICE}")
        for x in ("2", "-1", "", "1.0", "²")
    ),
    ("tagging", "Ann B-PER\n\nBob I-PER\nAnn NN\n", r"line 3 on: tags\[1\] is 'NN', wanted O, or B, I, E or S with a"),
    ("tagging", "Ann B-PER\n\nRome B-LOC\n", "line 3 on: the label 'B-LOC' is none of those in training: 'B-PER', 'O'"),
    ("squad", "", "line 1"),
]


@pytest.mark.parametrize(("name", "content", "message"), WRONG)
def test_a_wrong_label_is_refused_with_its_place(read, name, content, message):
    settings, right, _ = FILES[name]
    task, _ = read(TASKS[name], right, **settings)
    with pytest.raises(FileError, match=rf"new\.tsv, {message}"):
        read(task, content, name="new.tsv")
