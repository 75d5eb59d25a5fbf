"""What every picture shares: its colours, its letters, and how it becomes a file."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from npbert.extras import import_extra
from npbert.files import FileError, atomic_write
from npbert.messages import printable

INK, BLUE, ORANGE, LINE = "#16191f", "#2166ac", "#c8611a", "#d5d9e0"
"""What is written; the two colours that colour-blind people tell apart best; and what stands behind."""

MAGNITUDES = "cividis"
"""From dark blue to yellow, brighter where there is more: it is the same to colour-blind people and in print."""

FORMATS = ("png", "svg", "pdf")
_LONGEST = 24
_MORE_LETTERS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Microsoft YaHei", "Hiragino Sans", "Arial Unicode MS")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NO_DATE = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


@contextmanager
def style() -> Iterator[None]:
    """While it lasts, what is drawn or saved looks as all pictures here; text is text, and `$` no formula."""
    matplotlib = import_extra("matplotlib", extra="plot")
    lines = {"axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK}
    letters = {"font.family": _families(), "font.size": 9, "axes.titlesize": 9, "text.parse_math": False}
    rest = {"axes.spines.top": False, "axes.spines.right": False, "axes.unicode_minus": False, "legend.frameon": False}
    svg = {"svg.fonttype": "none", "svg.hashsalt": "npbert"}
    with matplotlib.rc_context({**lines, **letters, **rest, **svg}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box stands in its place
        yield


@lru_cache(maxsize=1)
def _families() -> list[str]:
    """The fonts that letters are looked for in: of those with Chinese or Japanese, what is installed."""
    installed = set(import_extra("matplotlib.font_manager", extra="plot").get_font_names())
    return ["DejaVu Sans", *(name for name in _MORE_LETTERS if name in installed)]


def new_figure(width: float, height: float) -> Any:
    """An empty figure of that size, in inches, that makes room for what is written in it."""
    return import_extra("matplotlib.figure", extra="plot").Figure(figsize=(width, height), layout="constrained")


def label(text: object, longest: int = _LONGEST) -> str:
    """A text from somewhere else, as a picture may hold it: in one short line, without control characters."""
    line = printable(" ".join(str(text).split()).replace("\ufffe", "?").replace("\uffff", "?"))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def name_places(axis: Any, names: Sequence[object], *, upright: bool = False, **how: Any) -> None:
    """Write `names` at 0, 1, 2 … of an axis. upright: turned, from below upwards."""
    if upright:
        how |= {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
    axis.set_ticks(range(len(names)), [label(name) for name in names], parse_math=False, **how)


def as_power(value: float, _: Any = None) -> str:
    """A number on an axis: 0.001, 250, or 2·10⁻⁵ for one with many zeros."""
    if value == 0 or 1e-4 <= abs(value) < 1e6 or not math.isfinite(value):
        return f"{value:.6g}"
    digits, _, power = f"{value:.4e}".partition("e")
    digits = f"{float(digits):g}"
    raised = str(int(power)).translate(_RAISED)
    return f"10{raised}" if digits == "1" else f"{digits}·10{raised}"


def at_whole_steps(axis: Any) -> None:
    """Have an axis of steps name whole ones only, and at most six."""
    axis.set_major_locator(import_extra("matplotlib.ticker", extra="plot").MaxNLocator(5, integer=True, min_n_ticks=1))
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def mark_alone(points: Sequence[Any], look: dict[str, Any]) -> dict[str, Any]:
    """How a line looks: a point that stands alone makes no line, and becomes a dot."""
    return {"marker": "o", "markersize": 4, **look} if len(points) == 1 else look


def as_bytes(figure: Any, kind: str = "png") -> bytes:
    """The figure as a file of that kind, the same each time. SVG has no background, so that it fits any page."""
    file = io.BytesIO()
    with style():
        figure.savefig(file, format=kind, dpi=110, metadata=_NO_DATE[kind], transparent=kind == "svg")
    return file.getvalue()


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a picture: PNG, SVG or PDF, as the name ends; it is whole or not there at all.

    Raises: as kind_of; OSError.
    """
    data = as_bytes(figure, kind_of(path))
    with atomic_write(Path(path)) as written:
        written.write_bytes(data)


def kind_of(path: str | Path) -> str:
    """png, svg or pdf. Raises: FileError that names the file, for another ending."""
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise FileError(f"{path}: a picture's name ends in .{', .'.join(FORMATS[:-1])} or .{FORMATS[-1]}")
    return kind
