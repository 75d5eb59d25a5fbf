"""What holds for every kind of task, and the rows of a report."""

import json
from copy import copy

import numpy as np
import pytest

from npbert import Tape
from npbert.data.task_files import GoldAnswer, Question
from npbert.inference import AnswerSpan
from npbert.io import FileError, InputError
from npbert.io.lines import finite_or_null
from npbert.training.tasks import (
    ALIASES,
    TASKS,
    Labelled,
    QuestionAnswering,
    TaskSettings,
    TextClassification,
    task_class,
)
from npbert.training.tasks.task import MOST, confusion
from tests.training.parallel.together import together
from tests.training.tasks.tiny import FILES, Planted, tiny_config

NAMES = {"ner": "tagging", "Token-Classification": "tagging", "sts": "regression", "question_answering": "squad"}


@pytest.mark.parametrize("name", TASKS)
def test_a_model_learns_from_its_batches_and_is_judged(read, name):
    settings, content, loss, goal = FILES[name]
    task, examples = read(TASKS[name], content, **settings)
    config = {"num_labels": len(task.labels), "id2label": task.labels}
    config = {"num_labels": 1} if name == "regression" else {} if name == "squad" else config
    model = task.model = task.model_class(tiny_config(**config), rng=np.random.default_rng(0))
    batch, tape = task.collate(examples), Tape()
    first = model.loss(batch, tape).loss
    assert first == pytest.approx(loss or first, rel=0.1)
    model.loss_backward(1.0, tape)
    metrics = task.evaluate(examples)
    assert tuple(metrics) == task.metrics and task.goal == goal
    assert metrics["loss"] == pytest.approx(model.loss(batch).loss, rel=1e-6), "that of training"

    def shared(communicator):
        own = copy(task)
        own.communicator = communicator
        return own.evaluate(examples)

    for found in together(3, shared):
        assert found == pytest.approx(metrics, rel=0, abs=0, nan_ok=True)


def test_tasks_by_name():
    for name, known in {**dict(zip(TASKS, TASKS, strict=True)), **NAMES, **ALIASES}.items():
        assert task_class(TaskSettings(task=name, choices=("2", "3"))) is TASKS[known]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "taging"}, r"task is 'taging', wanted one of classification, .*; did you mean tagging"),
        ({"task": "ner", "positive": "x"}, "positive is 'x', wanted none, as only the task classification has it"),
        ({"pooling": "mean"}, "pooling is 'mean', wanted none, as only the task vectors has it"),
        ({"negatives": ("2",)}, "negatives is .*, wanted none, as only the task vectors has it"),
        ({"task": "swag", "choices": ("one",)}, "choices is .*, wanted at least 2 columns"),
    ],
)
def test_settings_of_other_tasks_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        task_class(TaskSettings(**settings))


def test_long_texts_are_cut_with_a_warning(read):
    content = "a\t0\tb b b b b b b\tc\na\t1\tb b b b\tc\n"
    with pytest.warns(UserWarning, match=r"a\.tsv: 1 of 4 texts cut to the 8 tokens that max_length allows"):
        task, examples = read(TASKS["multiple-choice"], content, max_length=8, choices=("2", "3"))
    assert task.collate(examples).input_ids.shape[-1] == 8


WRONG = [
    ("classification", "a\tgood\n\nb\tfair\n", "3: the label is 'fair', wanted one of the training labels: 'bad', 'go"),
    *(("regression", f"a\t1\nb\t{x}\n", f"2: the label is '{x}', wanted a number") for x in ("x", "nan", "", "1,5")),
    *(
        ("multiple-choice", f"a\t{x}\tb\tc\n", f"1: the label is '{x}', wanted one of 0, 1")
        for x in ("2", "-1", "1.0", "²")
    ),
    ("tagging", "Ann B-PER\n\nBob I-PER\nAnn NN\n", r"3 on: tags\[1\] is 'NN', wanted O, or B, I, E or S with a type"),
    ("tagging", "Ann B-PER\n\nRome B-LOC\n", "3 on: the label is 'B-LOC', wanted one of the training labels: 'B-PER'"),
    ("squad", "", "1"),
]


@pytest.mark.parametrize(("name", "content", "message"), WRONG)
def test_a_wrong_label_is_refused_with_its_place(read, name, content, message):
    settings, right, *_ = FILES[name]
    task, _ = read(TASKS[name], right, **settings)
    with pytest.raises(FileError, match=rf"new\.tsv, line {message}"):
        read(task, content, name="new.tsv")


def worst(texts, true, predicted, *probability, name="texts"):
    row = {name: texts, "true": true, "predicted": predicted}
    return {**row, "probability": probability[0]} if probability else row


SHOWN = {  # the content of a file, what is said of it, and the row of a report
    "classification": (
        "a\tno\nb\tno\nc\tyes\nd\tyes\te\n", np.log([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.1, 0.9]]),
        {"kind": "labels", "wrong": 2, "worst": [worst("b", "no", "yes", 0.8), worst("c", "yes", "no", 0.7)],
         "labels": ["no", "yes"], "counts": [[1, 1], [1, 1]]}),
    "regression": (
        "a\t0\nb\t2.5\n", np.array([[0.25], [0.5]]),
        {"kind": "numbers", "wrong": 2, "worst": [worst("b", 2.5, 0.5), worst("a", 0, 0.25)],
         "pairs": [[0, 0.25], [2.5, 0.5]]}),
    "multiple-choice": (
        "a\t0\tb\tc\nd\t1\te\tf\n", np.log([[0.25, 0.75], [0.5, 0.5]]),
        {"kind": "choices", "wrong": 2, "worst": [worst("a", "b", "c", 0.75), worst("d", "f", "e", 0.5)]}),
    "tagging": (
        "Ann B-PER\nplaying O\n\nBob B-PER\nsings O\nwell O\n", [np.eye(2), np.array([[1, 0], [1, 0], [0, 1]])],
        {"kind": "tags", "wrong": 1, "labels": ["B-PER", "O"], "counts": [[2, 0], [1, 2]],
         "worst": [worst(["Bob", "sings", "well"], ["B-PER", "O", "O"], ["B-PER", "B-PER", "O"], name="words")]}),
    "vectors": (
        "a\tb\nc\td\ne\tf\n", [np.eye(3)[[0, 1]], np.eye(3)[[1, 0]], np.eye(3)[[2, 2]]],
        {"kind": "search", "wrong": 2, "worst": [worst("a", "b", "d"), worst("c", "d", "b")]}),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_the_surest_mistakes_are_shown_first(read, name):
    content, said, wanted = SHOWN[name]
    task, examples = read(TASKS[name], content, **FILES[name][0])
    row = finite_or_null(task.report_row(said, examples), digits=4)
    assert row == {**wanted, "examples": len(examples)}


def test_answers_are_shown_in_their_passage(tokenizer):
    gold, before, after = "the right answer", "before " * 50, " after" * 50
    question = Question("1", "what?", before + gold + after, (GoldAnswer(gold, len(before)), GoldAnswer("answer", 0)))
    task, said = QuestionAnswering(Planted(tokenizer), tokenizer), {"answer": 0.9, "the": 0.5, "before": 0.8}
    task.best = lambda _, scores, *more: [AnswerSpan(*scores[0], 0, 0)]
    shown = task.report_row(list(said.items()), [Labelled(question._replace(id=text), 0) for text in said])
    assert (shown["kind"], shown["wrong"]) == ("answers", 2), "one of the gold answers will do"
    far, near = shown["worst"]
    excerpt = [before[-160:], gold, after[:160]]
    assert near == {**worst("what?", [gold, "answer"], "the", 0.5), "excerpt": excerpt} and far["predicted"] == "before"


@pytest.mark.filterwarnings("ignore:.*texts cut:UserWarning")
def test_however_much_there_is_a_row_stays_small(read):
    text, label = f"{'x' * 1000} {'y ' * 100}".strip(), "z" * 5000
    task, examples = read(TextClassification, "".join(f"{text}\tl{number % 2}{label}\n" for number in range(40)))
    shown = task.report_row(np.eye(2)[[1 - example.target for example in examples]], examples)
    assert len(shown["worst"]) == MOST and len(json.dumps(shown)) < 60_000
    true = np.repeat(np.arange(40), np.arange(40, 0, -1)).astype(str).tolist()
    table = confusion(list(zip(true, true, strict=True)), list(map(str, range(40))))
    assert table["labels"] == [*map(str, range(25)), "(others)"]
    assert np.array(table["counts"]).tolist() == np.diag([*range(40, 15, -1), sum(range(16))]).tolist()
