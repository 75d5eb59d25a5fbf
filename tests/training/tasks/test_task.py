"""What holds for every kind of task. What is shown of a model's answers: true, in the right order, and never too much
of it."""

import json
import warnings

import numpy as np
import pytest

from npbert import Tape
from npbert.data.squad import GoldAnswer, Question
from npbert.inference import AnswerSpan
from npbert.io.files import FileError
from npbert.training.tasks import (
    ALIASES,
    TASKS,
    MultipleChoice,
    PartOfSpeech,
    QuestionAnswering,
    Tagging,
    TaskSettings,
    task_class,
)
from npbert.training.tasks import TextClassification as Classification
from npbert.training.tasks import TextRegression as Regression
from npbert.training.tasks.question import Answered
from npbert.training.tasks.report_rows import MOST, confusion
from tests.training.parallel.together import together
from tests.training.tasks.tiny import FILES, Planted, tiny_config

GOALS = {
    **dict.fromkeys(TASKS, "accuracy"),
    "regression": "pearson",
    "tagging": "f1",
    "squad": "f1",
    "vectors": "mrr_at_10",
}
NAMES = {"ner": "tagging", "Token-Classification": "tagging", "sts": "regression", "question_answering": "squad"}


@pytest.mark.parametrize("name", TASKS)
def test_a_model_learns_from_its_batches_and_is_judged(read, name):
    settings, content, loss = FILES[name]
    task, examples = read(TASKS[name], content, **settings)
    labels = None if name == "squad" else task.labels
    model = task.model = task.model_class(tiny_config(**task.config(labels)), rng=np.random.default_rng(0))
    batch = task.collate(examples)
    tape = Tape()
    first = model.loss(batch, tape).loss
    assert first == pytest.approx(loss or first, rel=0.1)
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


def test_each_process_judges_its_share_once_and_all_get_everything_in_order(read, monkeypatch):
    task, examples = read(Classification, "".join(f"{text}\tl\n" for text in "abcdef"))
    asked, groups = [], [[5, 1], [0], [2, 4], [3]]

    def answer(batch):
        asked.extend(batch.input_ids[:, 1].tolist())
        return batch.input_ids[:, 1:2]

    task.model.answer = answer
    monkeypatch.setattr("npbert.training.tasks.task.batches_by_length", lambda *_: groups)
    wanted = [[example.encoding.ids[1]] for example in examples]

    def predict(communicator):
        return Classification(task.model, task.tokenizer, communicator=communicator).predict(examples)

    for found in together(3, predict):
        assert np.array(found).tolist() == wanted
    assert sorted(asked) == sorted(number for (number,) in wanted)


def test_tasks_by_name():
    for name, known in {**dict(zip(TASKS, TASKS, strict=True)), **NAMES, **ALIASES}.items():
        assert task_class(TaskSettings(task=name, choices=("2", "3"))) is TASKS[known]
    with pytest.raises(ValueError, match=r"task is 'taging', wanted one of classification, .*; did you mean tagging"):
        task_class(TaskSettings(task="taging"))
    with pytest.raises(ValueError, match="positive is 'x', wanted none, as only classification has it"):
        task_class(TaskSettings(task="ner", positive="x"))


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
    (
        "classification",
        "a\tgood\n\nb\tfair\n",
        "line 3: the label is 'fair', wanted one of the training labels: 'bad', 'good'",
    ),
    *(
        ("regression", f"a\t1\nb\t{x}\n", f"line 2: the label is '{x}', wanted a number")
        for x in ("x", "nan", "-inf", "", "1,5")
    ),
    *(
        ("multiple-choice", f"a\t{x}\tb\tc\n", f"line 1: the label is '{x}', {CHOICE}")
        for x in ("2", "-1", "", "1.0", "²")
    ),
    ("tagging", "Ann B-PER\n\nBob I-PER\nAnn NN\n", r"line 3 on: tags\[1\] is 'NN', wanted O, or B, I, E or S with a"),
    (
        "tagging",
        "Ann B-PER\n\nRome B-LOC\n",
        "line 3 on: the label is 'B-LOC', wanted one of the training labels: 'B-PER', 'O'",
    ),
    ("squad", "", "line 1"),
]


@pytest.mark.parametrize(("name", "content", "message"), WRONG)
def test_a_wrong_label_is_refused_with_its_place(read, name, content, message):
    settings, right, _ = FILES[name]
    task, _ = read(TASKS[name], right, **settings)
    with pytest.raises(FileError, match=rf"new\.tsv, {message}"):
        read(task, content, name="new.tsv")


def test_labels(read):
    task, examples = read(Classification, "a\tno\nb\tno\nc\tyes\nd\tyes\te\n", text="0")
    said = np.log([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.1, 0.9]])
    shown = task.report_row(said, examples)
    assert shown.pop("worst") == [
        {"texts": "b", "true": "no", "predicted": "yes", "probability": 0.8},
        {"texts": "c", "true": "yes", "predicted": "no", "probability": 0.7},
    ]
    assert shown == {"kind": "labels", "examples": 4, "wrong": 2, "labels": ["no", "yes"], "counts": [[1, 1], [1, 1]]}
    task, examples = read(Classification, "a\tx\tb\nb\ty\tc\n", text="0", text_pair="2")
    assert [one["texts"] for one in task.report_row(-np.eye(2), examples)["worst"]] == [["a", "b"], ["b", "c"]]


def test_numbers(read):
    task, examples = read(Regression, "a\t0\nb\t2.5\nc\t5\n")
    shown = task.report_row(np.array([[0.25], [0.5], [5]]), examples)
    assert (shown["kind"], shown["examples"], shown["pairs"]) == ("numbers", 3, [[0, 0.25], [2.5, 0.5], [5, 5]])
    assert shown["worst"][:2] == [
        {"texts": "b", "true": 2.5, "predicted": 0.5},
        {"texts": "a", "true": 0.0, "predicted": 0.25},
    ]


def test_choices(read):
    settings, content, _ = FILES["multiple-choice"]
    task, examples = read(MultipleChoice, content, **settings)
    shown = task.report_row(np.log([[0.25, 0.75], [0.5, 0.5]]), examples)
    first = {"texts": "ann sings", "true": "a b", "predicted": "c", "probability": 0.75}
    second = {"texts": "bob", "true": "e f", "predicted": "d", "probability": 0.5}
    assert shown == {"kind": "choices", "examples": 2, "wrong": 2, "worst": [first, second]}


def test_tags(read):
    task, examples = read(Tagging, "Ann B-PER\nplaying O\n\nBob B-PER\nsings O\nwell O\n")
    right, wrong = np.eye(2), np.array([[1, 0], [1, 0], [0, 1]])
    shown = task.report_row([right, wrong], examples)
    (worst,) = shown.pop("worst")
    assert shown == {"kind": "tags", "examples": 2, "wrong": 1, "labels": ["B-PER", "O"], "counts": [[2, 0], [1, 2]]}
    assert worst["words"] == ["Bob", "sings", "well"]
    assert (worst["true"], worst["predicted"]) == (["B-PER", "O", "O"], ["B-PER", "B-PER", "O"])
    task, examples = read(PartOfSpeech, "Ann NNP\nplaying VBG\n")
    shown = task.report_row([np.eye(2)], examples)
    assert (shown["labels"], shown["counts"], shown["worst"]) == (["NNP", "VBG"], [[1, 0], [0, 1]], []), "no outside"


def test_answers(tokenizer):
    passage = f"{'before ' * 50}the right answer {'after ' * 50}"
    start = passage.index("the right answer")
    gold, said = (GoldAnswer("the right answer", start), GoldAnswer("answer", start + 10)), []
    for number, (a, b) in enumerate([(start + 10, start + 16), (start, start + 3), (0, 6)], start=1):
        span = AnswerSpan(passage[a:b], 0.25 * number, a, b)
        said.append(Answered(Question(str(number), "what?", passage, gold), span, [0.0]))
    shown = QuestionAnswering(Planted(tokenizer), tokenizer).report_row(said, [])
    assert (shown["kind"], shown["examples"], shown["wrong"]) == ("answers", 3, 2), "one of the gold answers will do"
    far, near = shown["worst"]
    assert (far["predicted"], far["probability"]) == ("before", 0.75)
    assert (near["predicted"], near["probability"], near["true"]) == ("the", 0.5, ["the right answer", "answer"])
    before, answer, after = near["excerpt"]
    assert answer == "the right answer" and f"{before}{answer}{after}" in passage and len(before) == len(after) == 160


@pytest.mark.filterwarnings("ignore:.*texts (are longer|differ):UserWarning")
def test_however_much_there_is_a_row_stays_small(read):
    text, label = f"{'x' * 10_000} {'y ' * 100}".strip(), "z" * 5000
    task, examples = read(Classification, "".join(f"{text}\tl{number % 2}{label}\n" for number in range(80)))
    shown = task.report_row(np.eye(2)[[1 - example.target for example in examples]], examples)
    assert len(shown["worst"]) == MOST
    assert len(json.dumps(shown)) < 60_000


def test_confusion_of_many_labels_keeps_the_commonest():
    true = np.repeat(np.arange(40), np.arange(40, 0, -1))
    names = [f"l{number}" for number in true]
    table = confusion(names, names, [f"l{number}" for number in range(40)])
    assert table["labels"] == [*(f"l{number}" for number in range(25)), "(others)"]
    assert np.diag(table["counts"]).tolist() == [*range(40, 15, -1), sum(range(16))]
    assert np.sum(table["counts"]) == len(true)
    some = confusion(["c", "b"], ["a", "c"], ["a", "b", "c", "d"])
    assert some == {"labels": ["a", "b", "c"], "counts": [[0, 0, 0], [0, 0, 1], [1, 0, 0]]}
