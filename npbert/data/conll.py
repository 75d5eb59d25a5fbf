"""CoNLL columns: a word and its tag a line, a blank line between sentences."""

import re
from pathlib import Path
from typing import NamedTuple

from npbert.io import FileError, InputError, Place, counted, read_lines

_DOCUMENT_START = "-DOCSTART-"


class TaggedSentence(NamedTuple):
    """The words of a sentence, their tags, and its file and first line."""

    words: list[str]
    tags: list[str]
    place: Place


def read_conll(path: str | Path, *, word_column: int = 0, tag_column: int | None = -1) -> list[TaggedSentence]:
    """Return the sentences of a file, or of standard input for `-`. Columns are separated by spaces or tabs, and
    numbered from 0, or from −1 at the end.

    tag_column: None reads only the words, for sentences without tags: `tags` is empty.

    (Tjong Kim Sang & De Meulder 2003; lines that start a document are skipped.)

    Raises: FileError with file and line for too few columns, an empty file, or text that is not UTF-8; OSError.
    """
    columns = (word_column,) if tag_column is None else (word_column, tag_column)
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


def column_number(name: str, value: str) -> int:
    """Return the number of the column in the setting `name`. Raises: InputError for a word, as CoNLL columns have no
    names."""
    try:
        return int(value)
    except ValueError as error:
        raise InputError(name, value, "a number, as columns of a CoNLL file have no names") from error
