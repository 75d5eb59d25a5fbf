"""The style of all pictures, with colors and fonts, and the writing of picture files."""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from npbert.io import Wanted, import_extra, printable, read_json_lines, write_where_asked

Rows = Sequence[dict[str, Any]]
"""Rows of a file of a run."""

Run = str | Path | Rows
"""The folder of a run, or rows of one of its files."""

INK = "#16191f"
"""The color of text. Those of curves and points, C0 to C5, are in look.mplstyle."""

_LOOK = Path(__file__).with_name("look.mplstyle")
_LONGEST = 24
_MORE_LETTERS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Microsoft YaHei", "Hiragino Sans", "Arial Unicode MS")
_NO_DATE = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


@contextmanager
def style() -> Iterator[None]:
    """Within it, figures have the shared style of look.mplstyle, with the installed fonts for Chinese or Japanese."""
    installed = set(import_extra("matplotlib.font_manager").get_font_names())
    families = ["DejaVu Sans", *(name for name in _MORE_LETTERS if name in installed)]
    look = import_extra("matplotlib.style").context([_LOOK, {"font.family": families}])
    with look, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box replaces it
        yield


def new_figure(width: float, height: float, title: str = "") -> Any:
    """Return an empty figure of that size, in inches, with room for its labels."""
    figure = import_extra("matplotlib.figure").Figure(figsize=(width, height))
    figure.suptitle(title or None)
    figure._repr_png_ = partial(as_bytes, figure)  # for notebooks, as pyplot is not used
    return figure


def new_panel(width: float, height: float, title: str, **look: Any) -> tuple[Any, Any]:
    """Return an empty figure with one panel, and its axes. look: of the axes, such as xlabel."""
    figure = new_figure(width, height, title)
    return figure, figure.add_subplot(**look)


def rows_of(run: Run, file: str) -> list[dict[str, Any]]:
    """Return the rows of a run. Raises: as read_json_lines."""
    return read_json_lines(Path(run) / file) if isinstance(run, str | Path) else list(run)


def label(text: object) -> str:
    """Return a text for a picture: one short line, without control characters."""
    line = printable(" ".join(str(text).split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def name_places(axis: Any, names: Sequence[object], *, at: float = 0, upright: bool = False, **how: Any) -> None:
    """Write `names` at `at`, `at` + 1, … of an axis. upright: vertical text."""
    if upright:
        how |= {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
    axis.set_ticks([at + place for place in range(len(names))], list(map(label, names)), **how)


def step_axis(axes: Any) -> None:
    """Show at most six whole steps on the horizontal axis."""
    axes.locator_params(axis="x", nbins=5, integer=True, min_n_ticks=1)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("step")


def name_powers(axis: Any) -> None:
    """Name the powers of ten of a logarithmic axis, and no other numbers."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def as_bytes(figure: Any, kind: str = "png") -> bytes:
    """Return the figure as a file of that kind, always the same bytes. SVG has no background."""
    file = io.BytesIO()
    with style():
        figure.savefig(file, format=kind, metadata=_NO_DATE[kind], transparent=kind == "svg")
    return file.getvalue()


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a picture as PNG, SVG or PDF by its ending, whole or not at all. Raises: InputError for another ending;
    OSError."""
    PICTURE_NAME.check("path", str(path))
    write_where_asked(path, [as_bytes(figure, _kind_of(path))])


def _kind_of(path: str | Path) -> str:
    return Path(path).suffix.removeprefix(".").lower()


PICTURE_NAME = Wanted("a name that ends in .png, .svg or .pdf", lambda path: _kind_of(path) in _NO_DATE)
