"""What a report is put together from: sections, pictures with their words, tables, and numbers as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from npbert.pages.html import escape
from npbert.plots.svg import inline_svg


def section(name: str, title: str, *content: str) -> str:
    """A part of the page that the list at its top leads to."""
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n' + "\n".join(content) + "\n</section>"


def picture(figure: Any, name: str, alt: str, caption: str) -> str:
    """A figure with what it shows and how it is read.

    name: another for each of a page. alt: what it shows, for those who cannot see it; no HTML, nor is the caption.
    """
    drawn = inline_svg(figure, f"picture-{name}", alt)
    return f'<figure><div class="scrolls">{drawn}</div>\n<figcaption>{escape(caption)}</figcaption></figure>'


def paragraph(text: str) -> str:
    """A text, which is no HTML."""
    return f"<p>{escape(text)}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str) -> str:
    """A table whose cells are HTML; the first of each row is its head. A wide one scrolls by itself.

    head: above the columns, plain words of our own. kind: how it looks, as in report.css.
    """
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = []
    for first, *rest in rows:
        cells = (f'<td data-head="{name}">{cell}</td>' for name, cell in zip(head[1:], rest, strict=True))
        lines.append(f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>')
    body = "\n".join(lines)
    return (
        f'<div class="scrolls" tabindex="0"><table class="{kind}"><thead><tr>{top}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def text(value: object) -> str:
    """A user's text as HTML, which turns nothing beside it."""
    return f"<bdi>{escape(value)}</bdi>"


def isolated(html: str) -> str:
    """HTML of one text in several parts, which runs in its own direction and turns nothing beside it."""
    return f"<bdi>{html}</bdi>"


def name(value: object, longest: int = 60) -> str:
    """A label as HTML, shortened: there may be one in every row."""
    written = str(value)
    return text(written if len(written) <= longest else f"{written[: longest - 1]}…")


def percent(share: float | None) -> str:
    """A probability as HTML: 12%, 0.4%, or less than 0.1%."""
    if share is None:
        return "–"
    if 0 < share < 0.001:
        return "&lt;\N{NO-BREAK SPACE}0.1%"
    return f"{share:.1%}" if 0 < share < 0.0995 else f"{share:.0%}"


def number(value: float | None) -> str:
    """A number with four digits."""
    return "–" if value is None else f"{value:.4g}"
