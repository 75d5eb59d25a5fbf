"""Text in columns as a table: two spaces or more keep them apart, and what begins in one column stands in one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_LONG = 40
"""A cell with more letters is words, which may go on in another line, and no formula."""


def aligned(lines: list[str], shown: Callable[[str], str]) -> str:
    """The table, or "" where a line has but one column, unless it stands among several with two. shown: a cell's text
    as HTML."""
    rows = [_cells(line) for line in lines]
    widths = [len(row) for row in rows]
    if len(rows) < 2 or (min(widths) < 2 and (max(widths) > 2 or widths.count(2) < 2)):
        return ""
    if all(row[-1][1].startswith("=") for row in rows):  # what is equal stands below each other
        last = max(row[-1][0] for row in rows)
        rows = [[*row[:-1], (last, row[-1][1])] for row in rows]
    starts = sorted({start for row in rows for start, _ in row})
    out = []
    for row in rows:
        ends = [*(start for start, _ in row[1:]), None]
        cells = []
        for (start, text), end in zip(row, ends, strict=True):
            span = (len(starts) if end is None else starts.index(end)) - starts.index(start)
            wide = f' colspan="{span}"' if span > 1 else ""
            words = ' class="words"' if len(text) > _LONG else ""
            cells.append(f"<td{words}{wide}>{shown(text)}</td>")
        before = f'<td colspan="{starts.index(row[0][0])}"></td>' if row[0][0] != starts[0] else ""
        out.append(f"<tr>{before}{''.join(cells)}</tr>")
    return f'<div class="scrolls"><table class="aligned">{"".join(out)}</table></div>'


def _cells(line: str) -> list[tuple[int, str]]:
    """(the column that it begins in, text) of each cell; an accent takes no column of its own."""
    found = re.finditer(r"\S+(?: \S+)*", line)
    return [(sum(not unicodedata.combining(each) for each in line[: cell.start()]), cell[0]) for cell in found]
