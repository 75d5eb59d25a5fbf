"""classify, tag, answer and evaluate with the folder of a run, and with published files."""

import json
from pathlib import Path

import pytest

from npbert import BertForSequenceClassification
from tests.inference.checkpoints import write_checkpoint as write_other

SMALL = ["--model", "checkpoint", "--max-length", "20", "--batch-size", "4", "--steps", "2", "--log-every", "1"]
TAGGED = "the O\nkind B-ADJ\ncow O\n\na O\nbad B-ADJ\nold I-ADJ\ngoat O\n\n" * 4
SQUAD = {"context": "the bad cow sees a cat .", "qas": [{"id": "q1", "question": "who sees",
         "answers": [{"text": "bad cow", "answer_start": 4}]}]}  # fmt: skip


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def finetune(npbert):
    """finetune("--train", …) makes a run in the folder `run`."""

    def finetune(*options):
        result = npbert("finetune", "run", *SMALL, *options)
        assert result.status == 0, result

    return finetune


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_classify_with_a_run_reads_its_columns(npbert, finetune):
    """A plain file is read as ever, and so is what comes by standard input."""
    rows = "".join(f"7\tthe good cow .\t{label}\ta cat .\n" for label in ("yes", "no", "no", "yes"))
    write("train.tsv", f"id\tsentence\tlabel\tother\n\n{rows}")
    write("test.tsv", f"id\ttext\tnothing\tother\n\n{rows}")
    finetune("--train", "train.tsv", "--text", "sentence,text", "--text-pair", "other", "--label", "label")
    found = npbert("classify", "run", "test.tsv").rows
    pair = ["the good cow .", "a cat ."]
    assert [(row["line"], row["text"]) for row in found] == [(line, pair) for line in (3, 4, 5, 6)]
    missing = npbert("classify", "run", "test.tsv", "--text", "gone").error
    assert missing.startswith("test.tsv, line 3: column 'gone' is missing, wanted one of")
    (line,) = npbert("classify", "run/model", stdin="\t".join(pair).encode()).rows
    assert (line["text"], line["label"]) == (pair, found[0]["label"])
    assert line["score"] == pytest.approx(found[0]["score"])
    assert [row["text"] for row in npbert("classify", "run", write("plain.txt", "a cat .\n")).rows] == ["a cat ."]


@pytest.mark.parametrize(
    ("name", "content", "options", "rows"),
    [
        ("t.tsv", "id\ttext\nx\ta cat\n", ["--text", "1", "--first-row", "header"], [(2, "a cat")]),
        ("t.csv", 'q,t\n"a, cat","the ""dog"""\n', ["--text", "t", "--text-pair", "q"], [(2, ['the "dog"', "a, cat"])]),
        ("t.txt", "a cat,1\n", ["--delimiter", "comma"], [(1, "a cat")]),
        ("t.tsv", "a cat\tthe dog\n", [], [(None, ["a cat", "the dog"])]),  # no columns without a run or an option
    ],
)
def test_classify_reads_columns(npbert, checkpoints, name, content, options, rows):
    found = npbert("classify", checkpoints["classify"], write(name, content), *options).rows
    assert [(row.get("line"), row["text"]) for row in found] == rows


def test_tag_with_a_run(npbert, finetune):
    finetune("--task", "ner", "--train", write("train.conll", TAGGED))
    write("words.txt", "1 the DT\n2 kind JJ\n\n1 a DT\n")
    write("text.txt", "the kind cow.\na cats")
    for file, options, wanted in (
        ("train.conll", [], [(line, "the kind cow" if line % 9 == 1 else "a bad old goat") for line in (1, 5, 10, 14)]),
        ("words.txt", ["--text", "1"], [(1, "the kind"), (4, "a")]),
        ("text.txt", [], [(None, "the kind cow."), (None, "a cats")]),
        ("text.txt", ["--words"], [(None, "the kind cow."), (None, "a cats")]),
    ):
        rows = npbert("tag", "run", file, *options).rows
        assert [(row.get("line"), row["text"]) for row in rows[:4]] == wanted
        is_split = file == "text.txt" and not options
        words = ["the", "kind", "cow", "."] if is_split else rows[0]["text"].split()
        assert [word["word"] for word in rows[0]["words"]] == words
    assert npbert("tag", "run", "words.txt", "--text", "word").error.startswith("--text is 'word', wanted a number")


def test_answer_with_a_run_and_a_file_of_squad(npbert, finetune):
    finetune("--task", "qa", "--train", write("squad.json", json.dumps({"data": [{"paragraphs": [SQUAD]}]})))
    asked = {"id": "q1", "question": "who sees"}  # as a test set has it
    write("test.json", json.dumps({"data": [{"paragraphs": [{**SQUAD, "qas": [asked]}]}]}))
    (row,) = npbert("answer", "run", "test.json").rows
    line = json.dumps({"question": "who sees", "passage": SQUAD["context"]}).encode()
    (same,) = npbert("answer", "run/model", stdin=line).rows
    assert row == asked | same


def test_evaluate_as_json(npbert, finetune):
    finetune("--train", "train.tsv", "--held-out", "dev.tsv", "--positive", "no", "--max-length", "8")
    tables = npbert("evaluate", "run", "dev.tsv", "train.tsv").out.decode()
    rows = npbert("evaluate", "run", "dev.tsv", "train.tsv", "--json").rows
    assert [row["file"] for row in rows] == ["dev.tsv", "train.tsv"]
    assert list(rows[0]) == ["file", "accuracy", "macro_f1", "matthews", "f1", "loss", "labels"]
    assert list(rows[0]["labels"]["yes"]) == ["precision", "recall", "f1", "support"]
    assert f"  accuracy{rows[0]['accuracy']:>24.4f}  " in tables
    assert f"  f1 (of 'no'){rows[1]['f1']:>20.4f}  " in tables
    assert tables == npbert("evaluate", "run/model", "dev.tsv", "train.tsv", "--positive", "no").out.decode()
    assert npbert("evaluate", "run", "dev.tsv", "--json", "--positive", "yes").rows[0]["f1"] != rows[0]["f1"]
    regression = write_other(Path("regression"), BertForSequenceClassification, num_labels=1)
    options = ["--task", "sts", "--max-length", "8", "--json"]
    (row,) = npbert("evaluate", regression, write("one.tsv", "a cat .\t2\n"), *options).rows
    assert row["pearson"] is None, "JSON has no nan"
