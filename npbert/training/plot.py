"""The curves of a run, drawn at its end."""

from pathlib import Path

from npbert.io.extras import import_extra
from npbert.io.files import FileError, atomic_write
from npbert.plots import plot_curves
from npbert.plots.drawing import as_bytes

PLOT_FILE = "curves.png"


def draw_curves(folder: Path) -> None:
    """Write curves.png into the folder of a run, if there are numbers to draw. (Extra: train.)"""
    import_extra("matplotlib.figure", extra="train")
    try:
        figure = plot_curves(folder)
    except FileError:
        return
    with atomic_write(folder / PLOT_FILE) as file:
        file.write_bytes(as_bytes(figure))
