"""Sheet: what there is to be seen of an object, as data, as text and as HTML. Shown: the base of what has a sheet."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from typing import NamedTuple

from npbert.display.html import escape

_WIDTH, _HEIGHT = 240, 60
_FEW = 20


class Shown:
    """Something that prints what it is, and shows the same in a notebook. A subclass puts its `_sheet` together."""

    def _sheet(self) -> Sheet:
        raise NotImplementedError(f"{type(self).__name__} has no sheet")

    def __repr__(self) -> str:
        return str(self._sheet())

    def _repr_html_(self) -> str:
        return as_html(self._sheet(), type(self).__name__)


class Row(NamedTuple):
    """A name and what belongs to it. Below the row `encoder`, a notebook folds the rows `encoder.…` that follow it."""

    name: str
    cells: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}: {'  '.join(self.cells)}"


class Token(NamedTuple):
    """A token of a text. kind: `special`, `masked`, `padding`, `first` or `second`, its text of a pair. label: what is
    to be learned here, "" for nothing."""

    text: str
    kind: str
    label: str = ""

    def __str__(self) -> str:
        return f"{self.text}→{self.label}" if self.label else self.text


class Curve(NamedTuple):
    """A number by step: (step, number), at least one."""

    name: str
    points: Sequence[tuple[float, float]]

    def __str__(self) -> str:
        ends = dict.fromkeys([self.points[0], self.points[-1]])
        return f"{self.name}: {', '.join(f'{number:.3g} at step {step}' for step, number in ends)}"


@dataclass(frozen=True, repr=False)
class Sheet(Shown):
    """What there is to be seen of an object, from the top down. All of it is plain text, of which nothing is escaped.

    title: in a line. says: lines of text; those that begin with a space are code. texts: each its tokens, and what is
    to be learned of the whole, "" for nothing. parts: sheets in it. is_right: where there is a verdict.
    """

    title: str
    says: str = ""
    rows: Sequence[Row] = ()
    texts: Sequence[tuple[Sequence[Token], str]] = ()
    curves: Sequence[Curve] = ()
    parts: Sequence[Sheet] = ()
    is_right: bool | None = None

    @classmethod
    def of(cls, text: str, *, is_right: bool | None = None) -> Sheet:
        """The sheet of a text: its first line is the title."""
        title, _, says = text.partition("\n")
        return cls(title.strip(), dedent(says), is_right=is_right)

    def _sheet(self) -> Sheet:
        return self

    def __str__(self) -> str:
        lines = [self.says, *map(str, self.rows)]
        for tokens, label in self.texts:
            shown = " ".join(str(token) for token in tokens if token.kind != "padding")
            lines.append(f"{shown}  ->  {label}" if label else shown)
        below = "\n".join(filter(None, [*lines, *map(str, [*self.curves, *self.parts])]))
        return "\n".join(filter(None, [self.title, indent(below, "  " if self.title else "")]))


def as_html(sheet: Sheet, name: str) -> str:
    """The sheet in an element that brings its own look, for light and dark pages. Whatever it holds is escaped. name:
    the title where the sheet has none."""
    look = Path(__file__).with_name("look.css").read_text(encoding="utf-8")
    return f'<div class="npbert"><style>{look}</style>{_section(sheet, name)}</div>'


def _section(sheet: Sheet, name: str = "") -> str:
    verdict = {None: "", True: " right", False: " wrong"}[sheet.is_right]
    parts = [f'<p class="title{verdict}"><b>{escape(sheet.title or name)}</b></p>']
    for is_code, run in itertools.groupby(sheet.says.splitlines(), lambda line: line.startswith(" ")):
        tag, text = ("pre" if is_code else "p"), escape("\n".join(run).strip("\n"))
        parts.append(f"<{tag}>{text}</{tag}>" if text else "")
    parts.append(_tree(sheet.rows))
    parts += [_text(tokens, label) for tokens, label in sheet.texts]
    parts.append("".join(map(_curve, sheet.curves)))
    parts += [f"<section>{_section(part)}</section>" for part in sheet.parts]
    return "".join(parts)


def _tree(rows: Sequence[Row], above: str = "") -> str:
    """The rows, each with those below it folded into it. above: the beginning of their names, said already."""
    written, rest = [], list(rows)
    while rest:
        row = rest.pop(0)
        below = f"{row.name}."
        inside = list(itertools.takewhile(lambda other, below=below: other.name.startswith(below), rest))  # type: ignore[misc]
        del rest[: len(inside)]
        cells = "".join(f" <span><bdi>{escape(cell)}</bdi></span>" for cell in row.cells)
        line = f"<b><bdi>{escape(row.name.removeprefix(above))}</bdi></b>{cells}"
        is_open = "" if above else ' open=""'
        folded = f"<details{is_open}><summary>{line}</summary>{_tree(inside, below)}</details>"
        written.append(folded if inside else f'<div class="row">{line}</div>')
    return "".join(written)


def _text(tokens: Sequence[Token], label: str) -> str:
    shown = "".join(
        f'<span class="token {token.kind}"><bdi>{escape(token.text)}</bdi>'
        + (f" <small>↑ <bdi>{escape(token.label)}</bdi></small>" if token.label else "")
        + "</span> "
        for token in tokens
    )
    return f'<div class="text">{shown}{f"→ {escape(label)}" if label else ""}</div>'


def _curve(curve: Curve) -> str:
    """A line from the first point to the last, as high as the numbers are far apart; its text stands below. Of a few
    points each has a dot."""
    (steps, numbers), text = zip(*curve.points, strict=True), escape(curve)
    low, high, start = min(numbers), max(numbers), steps[0]
    across, up = _WIDTH / ((steps[-1] - start) or 1), _HEIGHT / ((high - low) or 1)
    points = " ".join(f"{(x - start) * across:.1f},{(high - y) * up:.1f}" for x, y in curve.points)
    size = f'viewBox="-4 -4 {_WIDTH + 8} {_HEIGHT + 8}" width="{_WIDTH + 8}" height="{_HEIGHT + 8}"'
    line = f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2"/>'
    dots = [f'<circle cx="{(x - start) * across:.1f}" cy="{(high - y) * up:.1f}" r="3"/>' for x, y in curve.points]
    line += f'<g fill="currentColor">{"".join(dots)}</g>' if len(dots) <= _FEW else ""
    drawn = f'<svg {size} role="img" aria-label="{text}">{line}</svg>'
    return f"<figure>{drawn}<figcaption>{text}</figcaption></figure>"
