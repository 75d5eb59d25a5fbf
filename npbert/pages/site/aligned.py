"""Text in columns as a table: two spaces or more keep them apart, and what begins in one column stands in one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable


def aligned(lines: list[str], shown: Callable[[str], str]) -> str:
    """The table, or "" where a line has but one column. shown: a cell's text as HTML."""
    rows = [_cells(line) for line in lines]
    if len(rows) < 2 or any(len(row) < 2 for row in rows):
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
            cells.append(f"<td{wide}>{shown(text)}</td>")
        before = f'<td colspan="{starts.index(row[0][0])}"></td>' if row[0][0] != starts[0] else ""
        out.append(f"<tr>{before}{''.join(cells)}</tr>")
    return f'<div class="scrolls"><table class="aligned">{"".join(out)}</table></div>'


def _cells(line: str) -> list[tuple[int, str]]:
    """(the column that it begins in, text) of each cell; an accent takes no column of its own."""
    found = re.finditer(r"\S+(?: \S+)*", line)
    return [(sum(not unicodedata.combining(each) for each in line[: cell.start()]), cell[0]) for cell in found]
