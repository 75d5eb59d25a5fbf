"""The look that all pictures share, its colours and letters, and how a picture becomes a file or part of a page."""

import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

from npbert.io.extras import import_extra
from npbert.io.files import FileError, write_where_asked
from npbert.io.json_lines import MOST_ROWS, read_json_lines
from npbert.io.messages import printable

Run: TypeAlias = "str | Path | Sequence[dict[str, Any]]"
"""The folder of a run, or rows of one of its files."""

INK, BLUE, ORANGE = "#16191f", "#2166ac", "#c8611a"
"""Text, and the two colours that colour-blind people tell apart best."""

MAGNITUDES = "cividis"
"""From dark blue to yellow, brighter where there is more: it is the same to colour-blind people and in print."""

FORMATS = ("png", "svg", "pdf")
_LONGEST = 24
_MORE_LETTERS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Microsoft YaHei", "Hiragino Sans", "Arial Unicode MS")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST_ALT = 600
_IN_PAGE = {INK: "currentColor", BLUE: "var(--plus)", ORANGE: "var(--minus)", "#b0b0b0": "var(--line)"}
_IN_PAGE |= {"'DejaVu Sans'": "'DejaVu Sans', Verdana"}  # which is as wide
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
    figure = import_extra("matplotlib.figure", extra="plot").Figure(figsize=(width, height), layout="constrained")
    figure._repr_png_ = partial(as_bytes, figure)  # a notebook asks for it; pyplot, which would show it, is not used
    return figure


def new_panel(width: float, height: float) -> tuple[Any, Any]:
    """An empty figure with one panel in it, and its axes."""
    figure = new_figure(width, height)
    return figure, figure.add_subplot()


def rows_of(run: Run, file: str) -> tuple[list[dict[str, Any]], str]:
    """The rows of a run, and the file that they are from for the beginning of an error. Raises: as read_json_lines;
    TypeError for rows that are no dicts."""
    if isinstance(run, str | Path):
        return read_json_lines(Path(run) / file, at_most=MOST_ROWS), f"{Path(run) / file}: "
    rows = list(run)
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise TypeError(f"row {number} of the run is {row!r:.40}, wanted a dict such as {{'step': 1, 'loss': 0.5}}")
    return rows, ""


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


def step_axis(axes: Any) -> None:
    """Have the horizontal axis name whole steps only, and at most six."""
    ticker = import_extra("matplotlib.ticker", extra="plot")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("step")


def log_scale(axes: Any, which: str) -> None:
    """Make an axis, x or y, logarithmic, with only its powers of ten named."""
    axes.set(**{f"{which}scale": "log"})
    axis = getattr(axes, f"{which}axis")
    axis.set_major_formatter(as_power)
    axis.set_minor_formatter(import_extra("matplotlib.ticker", extra="plot").NullFormatter())


def line_look(num_points: int, **look: Any) -> dict[str, Any]:
    """The look of a line; a point that stands alone makes no line, and becomes a dot."""
    return {"marker": "o", "markersize": 4, **look} if num_points == 1 else look


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
    with write_where_asked(Path(path)) as file:
        file.write_bytes(data)


def kind_of(path: str | Path) -> str:
    """png, svg or pdf. Raises: FileError that names the file, for another ending."""
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise FileError(f"{path}: a picture's name ends in .{', .'.join(FORMATS[:-1])} or .{FORMATS[-1]}")
    return kind


def inline_svg(figure: Any, name: str, alt: str) -> str:
    """The <svg> of a figure. It takes the colours that the page has in look.css, and so fits light and dark.

    name: the beginning of all ids in it, another for each figure of a page. alt: a description, for those who cannot
    see it.
    """
    root = ElementTree.fromstring(as_bytes(figure, "svg"))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):  # a style would be that of the whole page
                parent.remove(child)
    for element in root.iter():  # in a page, names have no namespace before them
        element.tag = element.tag.rpartition("}")[2]
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        element.attrib = {key: _value(key, value, name) for key, value in attributes.items()}
    root.attrib.update({"role": "img", "aria-label": label(alt, _LONGEST_ALT), "id": name})
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    width = float(root.attrib["viewBox"].split()[2])
    root.attrib["style"] = f"width: {width * 4 / 3:.0f}px; stroke-linejoin: round; stroke-linecap: butt"
    return ElementTree.tostring(root, encoding="unicode")


def _value(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in ("href", "clip-path"):
        return re.sub(r"^#|(?<=url\()#", f"#{name}-", value)
    if key in ("style", "fill", "stroke"):
        for in_picture, in_page in _IN_PAGE.items():
            value = value.replace(in_picture, in_page)
    return value
