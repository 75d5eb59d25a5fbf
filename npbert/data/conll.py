"""CoNLL columns: a word and its tag a line, a blank line between sentences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from npbert.files import FileError, read_text

_DOCUMENT_START = "-DOCSTART-"


class TaggedSentence(NamedTuple):
    """The words of a sentence, their tags, and where it begins: `file, line 7`."""

    words: list[str]
    tags: list[str]
    place: str


def read_conll(path: str | Path, *, word_column: int = 0, tag_column: int = -1) -> list[TaggedSentence]:
    """The sentences of a file; columns are separated by spaces or tabs, and numbered from 0, or from −1 at the end.

    (Tjong Kim Sang & De Meulder 2003; lines that say where a document starts are passed over.)

    Raises: FileError that gives file and line for a line with too few columns; for an empty file, or text that is not
    UTF-8; OSError.
    """
    path = Path(path)
    sentences: list[TaggedSentence] = []
    is_new = True
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        cells = re.split("[ \t]+", line.strip(" \t\r"))
        if cells == [""] or cells[0] == _DOCUMENT_START:
            is_new = True
            continue
        if is_new:
            sentences.append(TaggedSentence([], [], f"{path}, line {number}"))
            is_new = False
        try:
            word, tag = cells[word_column], cells[tag_column]
        except IndexError as error:
            raise FileError(f"{path}, line {number}: {len(cells)} columns, wanted more") from error
        if len(cells) < 2:
            raise FileError(f"{path}, line {number}: only one column, wanted a word and a tag")
        sentences[-1].words.append(word)
        sentences[-1].tags.append(tag)
    if not sentences:
        raise FileError(f"{path} is empty: it has no sentences")
    return sentences
