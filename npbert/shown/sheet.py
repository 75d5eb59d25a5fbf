"""Sheet: what there is to be seen of an object, as plain data, and its text. Shown: the base of what has a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import NamedTuple


class Shown:
    """Something that prints what it is, and shows the same in a notebook. A subclass puts its `_sheet` together."""

    def _sheet(self) -> Sheet:
        raise NotImplementedError(f"{type(self).__name__} has no sheet")

    def __repr__(self) -> str:
        return str(self._sheet())

    def _repr_html_(self) -> str:
        from npbert.shown.html import as_html

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
