"""classify, tag and answer with the folder of a run, and with published files; what evaluate and a run's end say."""

import json
from pathlib import Path

import pytest

from npbert import BertForSequenceClassification, Classify, Tag
from tests.cli.conftest import rounded
from tests.inference.checkpoints import write_checkpoint as write_other

SMALL = ["--model", "checkpoint", "--max-length", "20", "--batch-size", "4", "--steps", "2", "--log-every", "1"]
TAGGED = "the O\nkind B-ADJ\ncow O\n\na O\nbad B-ADJ\nold I-ADJ\ngoat O\n\n" * 4
SQUAD = {"context": "the bad cow sees a cat .", "qas": [{"id": "q1", "question": "who sees",
         "answers": [{"text": "bad cow", "answer_start": 4}]}]}  # fmt: skip


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def finetune(npbert):
    """finetune("--train", …) -> what it printed; the run is in `run`."""

    def finetune(*options):
        result = npbert("finetune", "run", *SMALL, *options)
        assert result.status == 0, result
        return result.out.decode()

    return finetune


def published(path, head, first="sentence"):
    """A file of pairs with a header, an empty line, and values that nobody asks for."""
    rows = [f"7\tthe good cow .\t{label}\ta cat ." for label in ("yes", "no", "no", "yes")]
    path.write_text("\n".join([f"id\t{first}\t{head}\tother", "", *rows, ""]), encoding="utf-8")
    return path


def test_classify_with_a_run_reads_its_columns(npbert, finetune):
    """A plain file is read as ever, and so is what comes by standard input."""
    train, test = published(Path("train.tsv"), "label"), published(Path("test.tsv"), "nothing", first="text")
    finetune("--train", train, "--text", "sentence,text", "--text-pair", "other", "--label", "label")
    rows = npbert("classify", "run", test).rows
    pair = ["the good cow .", "a cat ."]
    wanted = Classify.from_pretrained("run/model")(tuple(pair))
    assert [(row["line"], row["text"]) for row in rows] == [(line, pair) for line in (3, 4, 5, 6)]
    assert all((row["label"], row["score"]) == (wanted.label, pytest.approx(wanted.score)) for row in rows)
    missing = npbert("classify", "run", test, "--text", "gone").error
    assert missing.startswith("test.tsv, line 3: column 'gone' is missing, wanted one of")

    lines = npbert("classify", "run", stdin=b"the good cow .\ta cat .\n")
    assert lines.rows == [{name: value for name, value in rows[0].items() if name != "line"} | lines.rows[0]]
    assert lines.rows[0]["score"] == pytest.approx(rows[0]["score"])
    Path("plain.txt").write_text("a cat .\n", encoding="utf-8")
    assert [row["text"] for row in npbert("classify", "run", "plain.txt").rows] == ["a cat ."]


@pytest.mark.parametrize(
    ("name", "content", "options", "rows"),
    [
        ("t.tsv", "x\ta cat\t1\ny\tthe dog\t0\n", ["--text", "1"], [(1, "a cat"), (2, "the dog")]),
        ("t.tsv", "id\ttext\nx\ta cat\n", ["--text", "1", "--first-row", "header"], [(2, "a cat")]),
        ("t.csv", 'q,t\n"a, cat","the ""dog"""\n', ["--text", "t", "--text-pair", "q"], [(2, ['the "dog"', "a, cat"])]),
        ("t.txt", "a cat,1\n", ["--delimiter", "comma"], [(1, "a cat")]),
        ("t.jsonl", '\n{"t": "a cat", "l": 1}\n', ["--text", "s,t"], [(2, "a cat")]),
        ("t.tsv", "a cat\tthe dog\n", [], [(None, ["a cat", "the dog"])]),  # no columns without a run or an option
    ],
)
def test_classify_reads_columns(npbert, checkpoints, name, content, options, rows):
    Path(name).write_text(content, encoding="utf-8")
    result = npbert("classify", checkpoints["classify"], name, *options, stdin=content.encode())
    assert [(row.get("line"), row["text"]) for row in result.rows] == rows
    assert result.rows[0]["label"] in ("LABEL_0", "LABEL_1")


def test_a_text_is_cut_where_it_was_in_training(npbert, finetune, checkpoints):
    """A tagger says how many words it lost."""
    rows = npbert("tag", checkpoints["tag"], stdin=b"cat " * 35 + b"\na cat").rows
    assert [(len(row["words"]), row.get("words_cut_off")) for row in rows] == [(30, 5), (2, None)]
    finetune("--train", "train.tsv")
    long = b"the good cow sees a cat . " * 5
    cut = npbert("classify", "run/model", stdin=long)
    assert "1 of 1 text is longer than the 20 tokens that" in cut.err
    assert npbert("classify", "run", stdin=long) == cut


def test_tag_with_a_run(npbert, finetune):
    Path("train.conll").write_text(TAGGED, encoding="utf-8")
    finetune("--task", "ner", "--train", "train.conll")
    Path("words.txt").write_text("1 the DT\n2 kind JJ\n\n1 a DT\n", encoding="utf-8")
    Path("text.txt").write_text("the kind cow.\na cats", encoding="utf-8")
    tag = Tag.from_pretrained("run/model")
    for file, options, lines, texts in (
        ("train.conll", [], [1, 5, 10, 14, 19, 23, 28, 32], [["the", "kind", "cow"], ["a", "bad", "old", "goat"]] * 4),
        ("words.txt", ["--text", "1"], [1, 4], [["the", "kind"], ["a"]]),
        ("text.txt", [], [None, None], ["the kind cow.", "a cats"]),
        ("text.txt", ["--words"], [None, None], [["the", "kind", "cow."], ["a", "cats"]]),
    ):
        rows = npbert("tag", "run", file, *options).rows
        assert [row.get("line") for row in rows] == lines
        assert [row["text"] for row in rows] == [text if isinstance(text, str) else " ".join(text) for text in texts]
        wanted = [
            [[word._asdict() for word in found.words], [e._asdict() for e in found.entities]] for found in tag(texts)
        ]
        assert [[row["words"], row["entities"]] for row in rows] == rounded(wanted)
    assert npbert("tag", "run", "words.txt", "--text", "word").error.startswith("--text is 'word', wanted a number")


def test_answer_with_a_run_and_a_file_of_squad(npbert, finetune):
    Path("squad.json").write_text(json.dumps({"data": [{"paragraphs": [SQUAD]}]}), encoding="utf-8")
    finetune("--task", "qa", "--train", "squad.json")
    asked = {"id": "q1", "question": "who sees"}  # as a test set has it
    test = {"data": [{"paragraphs": [{**SQUAD, "qas": [asked]}]}]}
    Path("test.json").write_text(json.dumps(test), encoding="utf-8")
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
    turned = npbert("evaluate", "run", "dev.tsv", "--json", "--positive", "yes").rows[0]
    assert turned.pop("f1") != rows[0].pop("f1")
    assert turned == rows[0]
    Path("same.tsv").write_text("a cat .\tyes\na cat .\tno\n", encoding="utf-8")
    said = npbert("evaluate", "run", "same.tsv", "same.tsv").out.decode()
    assert said.count("the model gives every example the same label; train longer") == 1, "for all files once"
    Path("one.tsv").write_text("a cat .\t2\n", encoding="utf-8")
    regression = write_other(Path("regression"), BertForSequenceClassification, num_labels=1)
    options = ["--task", "sts", "--max-length", "8", "--json"]
    assert npbert("evaluate", regression, "one.tsv", *options).rows[0]["pearson"] is None, "JSON has no nan"
