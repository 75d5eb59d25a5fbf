"""The files of labelled examples, with errors that give file and line: tables of texts (TSV, CSV and JSON lines), words
with tags (CoNLL), and questions (SQuAD's JSON)."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from npbert.io import (
    JSON_LINES,
    FileError,
    InputError,
    Place,
    Setting,
    as_file_error,
    counted,
    listed,
    one_of,
    parse_json,
    read_json,
    read_lines,
)
from npbert.io.files import LARGEST_STREAM

DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";"}
DELIMITER = one_of(("", *DELIMITERS))


TABLE_ENDINGS = (".tsv", ".csv", *JSON_LINES)
"""Endings of files that are nearly always tables."""


class TableRow(NamedTuple):
    """The chosen values of a row, and its file and last line."""

    values: tuple[str, ...]
    place: Place


def read_table(
    path: str | Path, columns: Sequence[str], *, delimiter: str = "", header: bool = False
) -> list[TableRow]:
    """Return the values in `columns` of every row of a file, or of standard input for `-`.

    columns: each is a number, from 0, a name, or several names with commas, one of them in the file
    (`sentence,content`). With a name among them, the first line of the file names the columns.
    delimiter: `tab`, with quotes as ordinary text, or `comma` or `semicolon`, with quotes around a value; by default
    comma for .csv, otherwise tab. In .jsonl, .json and .ndjson every line is a JSON object, and columns are names.
    header: the first line names the columns even if they are given as numbers.

    Raises: FileError that gives file and line for a row without one of the columns, or of a CSV with more or fewer than
    the first, or a line that is not a JSON object, and for an empty file, or text that is not UTF-8; ValueError for
    another delimiter; OSError.
    """
    DELIMITER.check("delimiter", delimiter)
    ending = Path(path).suffix
    if ending in JSON_LINES and not delimiter:
        found = json_rows(path, columns)
    else:
        by = DELIMITERS[delimiter or ("comma" if ending == ".csv" else "tab")]
        found = _rows(path, columns, by, header=header or not all(map(str.isdigit, columns)))
    rows = list(found)
    if not rows:
        raise FileError(f"{Place(path)} is empty, wanted rows")
    return rows


def json_rows(path: str | Path, columns: Sequence[str], *, hint: str = "") -> Iterator[TableRow]:
    """Yield the values in `columns` of every line of JSON. hint: the end of errors, with a fix. Raises: as
    read_table."""
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            place = Place(path, number)
            yield _chosen(parse_json(line, place, hint=hint), columns, place, hint)


def _rows(path: str | Path, columns: Sequence[str], by: str, *, header: bool) -> Iterator[TableRow]:
    """Yield the values in `columns`, by the names in the `header` and by their numbers."""
    csv.field_size_limit(2**31 - 1)  # no limit
    dialect: Any = {"delimiter": by, "quoting": csv.QUOTE_NONE if by == "\t" else csv.QUOTE_MINIMAL}
    reader = csv.reader((f"{line}\n" for line in read_lines(path, may_be_blank=True)), strict=True, **dialect)
    width, names = 0, list[str]()
    other = f"; for columns with another character between them, give {Setting('delimiter')}"
    try:
        for row in filter(None, reader):
            place = Place(path, reader.line_num)
            width = width or len(row)
            if header and not names:
                names = row
                continue
            if by != "\t" and len(row) != width:
                says = f"{counted(len(row), 'column')}, wanted {width}, as above"
                raise FileError(f"{place}: {says}; put a value with {by} in it in quotes")
            by_number = {str(number): cell for number, cell in enumerate(row)}
            cells = {**dict(zip(names, row, strict=False)), **by_number}
            yield _chosen(cells, columns, place, "" if len(row) > 1 else other)
    except csv.Error as error:
        raise FileError(f"{Place(path, reader.line_num)}: {error}") from error


def _chosen(cells: Mapping[str, Any], columns: Sequence[str], place: Place, hint: str) -> TableRow:
    """Return the values in `columns`. A column may have several names with commas, one of them in the row."""
    known = {name: value for name, value in cells.items() if value is not None}
    values = []
    for column in columns:
        name = next((name for name in (column, *column.split(",")) if name in known), None)
        if name is None:
            missing = " or ".join(map(repr, column.split(",")))
            names = [name for name in known if not name.isdigit()] or known
            raise FileError(f"{place}: column {missing} is missing, wanted one of {listed(names)}{hint}")
        if isinstance(known[name], list | dict):
            raise FileError(f"{place}: {name!r} is a list or an object, wanted a text or a number")
        values.append(str(known[name]))
    return TableRow(tuple(values), place)


_DOCUMENT_START = "-DOCSTART-"


class TaggedSentence(NamedTuple):
    """The words of a sentence, their tags, and its file and first line."""

    words: list[str]
    tags: list[str]
    place: Place


def read_conll(path: str | Path, text: str = "0", label: str | None = "-1") -> list[TaggedSentence]:
    """Return the sentences of a file, or of standard input for `-`. Columns are separated by spaces or tabs.

    text, label: the columns of the words and of their tags, numbered from 0, or from −1 at the end. label: None reads
    only the words, for sentences without tags: `tags` is empty.

    (Tjong Kim Sang & De Meulder 2003; lines that start a document are skipped.)

    Raises: InputError for a column that is not a number; FileError with file and line for too few columns, an empty
    file, or text that is not UTF-8; OSError.
    """
    columns = [_number("text", text), *([] if label is None else [_number("label", label)])]
    sentences: list[TaggedSentence] = []
    is_new = True
    for number, line in enumerate(read_lines(path), start=1):
        place, cells = Place(path, number), re.split("[ \t]+", line.strip(" \t"))
        if cells == [""] or cells[0] == _DOCUMENT_START:
            is_new = True
            continue
        if is_new:
            sentences.append(TaggedSentence([], [], place))
            is_new = False
        try:
            word, *tag = (cells[column] for column in columns)
        except IndexError as error:
            raise FileError(f"{place}: {counted(len(cells), 'column')}, wanted more") from error
        if len(cells) < len(columns):
            raise FileError(f"{place}: only one column, wanted a word and a tag")
        if not word.strip():
            raise FileError(f"{place}: the word is only white space, wanted a word")
        sentences[-1].words.append(word)
        sentences[-1].tags.extend(tag)
    if not sentences:
        raise FileError(f"{Place(path)} is empty, wanted sentences")
    return sentences


def _number(setting: str, column: str) -> int:
    try:
        return int(column)
    except ValueError as error:
        raise InputError(setting, column, "a number, as columns of a CoNLL file have no names") from error


class GoldAnswer(NamedTuple):
    """An answer by a person: passage[start : start + len(text)] is its text."""

    text: str
    start: int


class Question(NamedTuple):
    """A question about a passage, and its right answers."""

    id: str
    question: str
    passage: str
    answers: tuple[GoldAnswer, ...]


def read_squad(path: str | Path, *, answered: bool = True) -> list[Question]:
    """Return the questions of a file in SQuAD's format. (Rajpurkar et al. 2016, version 1.1.)

    answered: False for questions without answers; any answers are ignored.

    Raises: FileError with the file and the question for another format, a question without an answer, or an answer that
    is not at its place; OSError.
    """
    path = Path(path)
    stored = read_json(path, most=LARGEST_STREAM)
    with as_file_error(f"{path} is not in SQuAD's format"):
        questions = [
            Question(
                row["id"],
                row["question"],
                paragraph["context"],
                tuple(GoldAnswer(answer["text"], answer["answer_start"]) for answer in row["answers"])
                if answered
                else (),
            )
            for article in stored["data"]
            for paragraph in article["paragraphs"]
            for row in paragraph["qas"]
        ]
    if not questions:
        raise FileError(f"{path} is empty, wanted questions")
    seen: set[str] = set()
    for question in questions:
        where = f"{path}: question {question.id!r}"
        for text in question[:3]:
            if not isinstance(text, str) or not text.strip():
                raise FileError(f"{where} has {text!r}, wanted an id, a question and a context that are texts")
        if question.id in seen:
            raise FileError(f"{where} comes twice, wanted an id for each")
        seen.add(question.id)
        if answered and not question.answers:
            raise FileError(f"{where} has no answer, wanted version 1.1 of SQuAD, not 2.0")
        for answer, start in question.answers:
            is_answer = isinstance(answer, str) and type(start) is int and start >= 0 and answer.strip()
            if not is_answer or question.passage[start : start + len(answer)] != answer:
                raise FileError(f"{where}: answer {answer!r} is not at {start!r} in the passage")
    return questions
