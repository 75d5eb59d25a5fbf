"""The files of the tasks: words and their tags (CoNLL), SQuAD's JSON, and tables, with the place of what is wrong."""

import json

import pytest
from hypothesis import example, given, strategies as st

from npbert.data.task_files import GoldAnswer, Question, read_conll, read_squad, read_table
from npbert.io.files import FileError

ANSWER = {"text": "Zoë", "answer_start": 6}
ROW = {"id": "q1", "question": "Who?", "answers": [ANSWER]}
BOOK = "x" * 200_000


def read(folder, name, content, *columns, **options):
    """What the reader of such a file makes of it; a value that is no text is written as JSON."""
    path = folder / name
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return {"a.conll": read_conll, "squad.json": read_squad}.get(name, read_table)(path, *columns, **options)


@pytest.mark.parametrize(
    "content",
    [
        "Ann B-PER\n10\u00a0000\u2028 O\n\nYes O",
        "\n\n  Ann   B-PER \n10\u00a0000\u2028 \t O\t\n\n \n\t\n\nYes\tO\n\n\n",
        "-DOCSTART- -X- -X- O\n\nAnn NNP B-NP B-PER\n10\u00a0000\u2028 CD B-NP O\n\n-DOCSTART- -X- O\n\nYes UH O O\n",
    ],
)
def test_sentences_of_words_and_tags(tmp_path, content):
    """Spaces and tabs separate; a number with a no-break space in it is one word."""
    found = [(words, tags) for words, tags, *_ in read(tmp_path, "a.conll", content)]
    assert found == [(["Ann", "10\u00a0000\u2028"], ["B-PER", "O"]), (["Yes"], ["O"])]


def test_columns_and_places_of_words_and_tags(tmp_path):
    content, path = "-DOCSTART- O\n\n1 Ann NNP PER\n2 sings VB O\n\n1 Yes UH O\n", tmp_path / "a.conll"
    wanted = [(["Ann", "sings"], ["NNP", "VB"], (path, 3)), (["Yes"], ["UH"], (path, 6))]
    assert read(tmp_path, "a.conll", content, "1", "-2") == wanted
    words = [(["Ann"], [], (path, 1)), (["sings", "."], [], (path, 3))]
    assert read(tmp_path, "a.conll", "Ann\n\nsings\n.\n", label=None) == words


def stored(row=ROW, **answer):
    """A file of one question; options change its answer."""
    row = {**row, "answers": [{**ANSWER, **answer}]} if answer else row
    return {"data": [{"title": "T", "paragraphs": [{"context": "Here, Zoë sings.", "qas": [row]}]}]}


def test_questions(tmp_path):
    content = stored({**ROW, "answers": [ANSWER, {"text": "Here", "answer_start": 0}]})
    content["data"] += stored({**ROW, "id": "q2"})["data"]
    content["data"][0]["paragraphs"] += [{"context": "Zoë", "qas": []}]
    assert read(tmp_path, "squad.json", "\ufeff" + json.dumps(content, indent=1).replace("\n", "\r\n")) == [
        Question("q1", "Who?", "Here, Zoë sings.", (GoldAnswer("Zoë", 6), GoldAnswer("Here", 0))),
        Question("q2", "Who?", "Here, Zoë sings.", (GoldAnswer("Zoë", 6),)),
    ]


@pytest.mark.parametrize(
    ("name", "content", "columns", "rows"),
    [
        ("a.tsv", "\r\nx\t1\r\n\r\ny\t2\r\n\r\n", "10", [("1", "x"), ("2", "y")]),
        ("a.tsv", b"\xef\xbb\xbftext\tlabel\nx\t1\n", ["text"], [("x",)]),
        ("a.tsv", "text\tlabel\nx\t1\n", ["label", "0"], [("1", "x")]),
        ("a.csv", 'text,label\n"x, y",1\n"say ""hi""",2\n', ["text", "label"], [("x, y", "1"), ('say "hi"', "2")]),
        ("a.csv", '"two\r\n\r\nlines",1\r\n', "01", [("two\n\nlines", "1")]),
        ("a.tsv", "a,b\tlabel\ta\nx\t1\ty\n", ["a,b", "label,a"], [("x", "1")]),  # a whole name comes first
        ("a.jsonl", '{"b": "x", "a": null}\n{"a": "y"}\n', ["a,b"] * 2, [("x", "x"), ("y", "y")]),
        ("a.jsonl", '{"t": "x", "l": 1}\n\n{"l": 0.5, "t": "y"}', "lt", [("1", "x"), ("0.5", "y")]),
        pytest.param("a.csv", f"yes,{BOOK}\n", "1", [(BOOK,)], id="longer than Python's reader reads by itself"),
        ("a.ndjson", '{"0": "by name"}\n', "0", [("by name",)]),
    ],
)
def test_values(tmp_path, name, content, columns, rows):
    assert [row.values for row in read(tmp_path, name, content, list(columns))] == rows


def test_the_delimiter_outdoes_the_ending(tmp_path):
    assert read(tmp_path, "a.csv", '"x, y\t1\n', ["0"], delimiter="tab")[0].values == ('"x, y',)
    assert read(tmp_path, "a.tsv", '"x,\t y",1\n', ["0"], delimiter="comma")[0].values == ("x,\t y",)
    assert read(tmp_path, "a.json", 't;l\n"x; y";1\n', ["t"], delimiter="semicolon")[0].values == ("x; y",)
    with pytest.raises(ValueError, match="delimiter is ';', wanted one of tab, comma, semicolon"):
        read(tmp_path, "a.csv", "x;1\n", ["0"], delimiter=";")


CONLL_ERRORS = [
    ("Ann B-PER\nsings\n", {}, "line 2: only one column, wanted a word and a tag"),
    ("Ann B-PER\n\nsings O\n", {"label": "3"}, "line 1: 2 columns, wanted more"),
    ("-DOCSTART- O\n \n\r\n", {}, "is empty, wanted sentences"),
    ("Ann O\n\u3000\u2003 O\n", {}, "line 2: the word is only white space"),
]
SQUAD_ERRORS = [
    ({}, r"is not in SQuAD's format: 'data' is missing"),
    (stored({**ROW, "answers": {"text": ["Zoë"], "answer_start": [6]}}), "is not in SQuAD's format"),
    ({"data": [{"paragraphs": []}]}, "is empty, wanted questions"),
    (stored({**ROW, "answers": [], "is_impossible": True}), "question 'q1' has no answer, wanted version 1.1"),
    (stored(answer_start=5), "'q1': answer 'Zoë' is not at 5 in"),
    (stored(text="Zoé"), "'q1': answer 'Zoé' is not at 6 in"),
    (stored(text=None), "'q1': answer None is not at 6 in"),
    (stored(answer_start=True), "'q1': answer 'Zoë' is not at True in"),
    (stored({**ROW, "question": 7}), "question 'q1' has 7, wanted an id, a question and a context"),
    ({"data": stored()["data"] * 2}, "question 'q1' comes twice"),
]
TABLE_ERRORS = [
    ("a.tsv", "x\t1\ny\n", "01", "a.tsv, line 2: column '1' is missing, wanted one of '0'; for columns with another"),
    (
        "a.csv",
        "text,l\nx,1\nHello, you there,1\n",
        ["text"],
        "line 3: 3 columns, wanted 2, as above; put a value with , in it",
    ),
    ("a.tsv", "text\tlabel\nx\t1\n", ["texts"], "line 2: column 'texts' is missing, wanted one of 'text', 'label'$"),
    ("a.jsonl", '{"t": 1}\n', ["t", "u,v"], "line 1: column 'u' or 'v' is missing, wanted one of 't'$"),
    ("a.tsv", "", "0", "a.tsv is empty, wanted text"),
    ("a.csv", 'x,1\n"y,2\nz,3\n', "0", "a.csv, line 3: unexpected end of data"),
    ("a.jsonl", '{"t": 1}\n{"t": }\n', "t", "a.jsonl, line 2: not valid JSON: Expecting value"),
    ("a.jsonl", '["t"]\n', "t", "line 1: it is a JSON list, wanted an object"),
    ("a.jsonl", '{"t": 1}\n{"t": ["a"]}\n', "t", "line 2: 't' is a list or an object, wanted a text or a number"),
]
ERRORS = [("a.conll", content, (), options, rf"a\.conll.*{message}") for content, options, message in CONLL_ERRORS]
ERRORS += [("squad.json", content, (), {}, rf"squad\.json.*{message}") for content, message in SQUAD_ERRORS]
ERRORS += [(name, content, [list(columns)], {}, message) for name, content, columns, message in TABLE_ERRORS]


@pytest.mark.parametrize(("name", "content", "columns", "options", "message"), ERRORS)
def test_errors(tmp_path, name, content, columns, options, message):
    with pytest.raises(FileError, match=message):
        read(tmp_path, name, content, *columns, **options)


cells = st.text("aZ1 ,;\"'\\\v\f\x1c\x85\u2028\ufeffßé中😀", min_size=1)


@example([(" ", " ", " ")])
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=5))
def test_any_text_comes_back(tmp_path_factory, rows):
    tabs = "".join("\t".join(row) + "\n" for row in rows)
    commas = "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows)
    objects = "".join(json.dumps(dict(zip("abc", row, strict=True)), ensure_ascii=False) + "\n" for row in rows)
    for name, content, columns in (("x.tsv", tabs, "012"), ("x.csv", commas, "012"), ("x.jsonl", objects, "abc")):
        marked = "\ufeff" + content  # or a first cell that begins with one would lose it
        assert [row.values for row in read(tmp_path_factory.getbasetemp(), name, marked, list(columns))] == rows
