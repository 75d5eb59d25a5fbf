"""SQuAD's JSON: every answer stands where the file says, or the question is named."""

import json

import pytest

from npbert.data.squad import GoldAnswer, Question, read_squad
from npbert.files import FileError

ANSWER = {"text": "Zoë", "answer_start": 6}
ROW = {"id": "q1", "question": "Who?", "answers": [ANSWER]}


def stored(row=ROW, **answer):
    """A file of one question; options change its answer."""
    row = {**row, "answers": [{**ANSWER, **answer}]} if answer else row
    return {"data": [{"title": "T", "paragraphs": [{"context": "Here, Zoë sings.", "qas": [row]}]}]}


def read(folder, content):
    path = folder / "a.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read_squad(path)


def test_questions(tmp_path):
    content = stored({**ROW, "answers": [ANSWER, {"text": "Here", "answer_start": 0}]})
    content["data"] += stored({**ROW, "id": "q2"})["data"]
    content["data"][0]["paragraphs"] += [{"context": "Zoë", "qas": []}]
    assert read(tmp_path, "\ufeff" + json.dumps(content, indent=1).replace("\n", "\r\n")) == [
        Question("q1", "Who?", "Here, Zoë sings.", (GoldAnswer("Zoë", 6), GoldAnswer("Here", 0))),
        Question("q2", "Who?", "Here, Zoë sings.", (GoldAnswer("Zoë", 6),)),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n'data': []}", "line 2: not valid JSON"),
        ({}, r"is not in SQuAD's format: KeyError\('data'\)"),
        (stored({"question": "Who?", "answers": []}), r"is not in SQuAD's format: KeyError\('id'\)"),
        (stored({**ROW, "answers": {"text": ["Zoë"], "answer_start": [6]}}), "is not in SQuAD's format"),
        ({"data": [{"paragraphs": []}]}, "is empty: it has no questions"),
        (stored({**ROW, "answers": [], "is_impossible": True}), "question q1 has no answer; version 2.0"),
        (stored(answer_start=5), "q1: 'Zoë' does not stand at 5 of"),
        (stored(text="ing", answer_start=-5), "'ing' does not stand at -5"),
        (stored(answer_start="6"), "q1: 'Zoë' at '6' is not a text with its place"),
        (stored(text=None), "q1: None at 6 is not a text with its place"),
        (stored(answer_start=True), "q1: 'Zoë' at True is not a text with its place"),
        (stored(text=" ", answer_start=5), "question q1: ' ' does not stand at 5"),
        (stored({**ROW, "question": 7}), "question q1: its question is 7, wanted a text"),
        (stored({**ROW, "question": " \n"}), "question q1: its question is empty"),
        (stored({**ROW, "id": 1}), "the id 1 of a question is not text"),
        ({"data": stored()["data"] * 2}, "the id 'q1' of a question comes twice"),
        (f'{{"data": {"9" * 5000}}}', "not valid JSON: Exceeds the limit"),
    ],
)
def test_errors(tmp_path, content, message):
    with pytest.raises(FileError, match=rf"a\.json.*{message}"):
        read(tmp_path, content)
