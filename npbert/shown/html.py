"""as_html: a Sheet as HTML. Whatever it holds is escaped, and the colours fit light and dark pages."""

import html
import itertools
import re
from collections.abc import Sequence
from importlib.resources import files

from npbert.shown.sheet import Curve, Row, Sheet, Token

_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_WIDTH, _HEIGHT = 240, 60
_FEW = 20


def escape(text: object) -> str:
    """Text as HTML: it shows as it is, also as the value of an attribute. A character that cannot be shown is U+FFFD.

    A text that runs from right to left does not turn what stands beside it, when it is put into a <bdi>.
    """
    return html.escape(visible(text), quote=True)


def visible(text: object) -> str:
    """The text with U+FFFD for each character that cannot be shown."""
    return _NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", str(text))


def as_html(sheet: Sheet, name: str) -> str:
    """The sheet in an element that brings its own look. name: the title where the sheet has none."""
    look = files("npbert.shown").joinpath("look.css").read_text(encoding="utf-8")
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
