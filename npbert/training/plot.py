"""The pictures that a run leaves: its curves at the end, and what TensorBoard shows of its evaluations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from npbert.extras import import_extra
from npbert.files import FileError
from npbert.plots import plot_confusion, plot_curves, plot_layers, plot_predictions, save_figure
from npbert.plots.drawing import as_bytes

PLOT_FILE = "curves.png"
_SHARE, _FIRST = 0.02, 0.5


def draw_curves(folder: Path) -> None:
    """Write curves.png into the folder of a run; nothing when there is nothing to draw. (Extra: train.)"""
    import_extra("matplotlib.figure", extra="train")
    try:
        figure = plot_curves(folder)
    except FileError:
        return
    save_figure(figure, folder / PLOT_FILE)


class Pictures:
    """Pictures of a run in `folder` for TensorBoard, as long as they take no more than a fiftieth of its time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._start, self._spent = folder, time.perf_counter(), _FIRST

    def draw(self, shown: dict[str, Any]) -> dict[str, bytes]:
        """PNG files by name: the gradients by layer and step, and of what is shown, what can be drawn."""
        start = time.perf_counter()
        if self._spent > _SHARE * (start - self._start):
            return {}
        drawn = {name: as_bytes(figure) for name, figure in self._figures(shown)}
        self._spent += time.perf_counter() - start
        return drawn

    def _figures(self, shown: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        with suppress(FileError):  # no step was written down yet, or none has a gradient
            yield "layers/gradient_norms", plot_layers(self.folder)
        if shown.get("kind") in ("labels", "tags"):
            yield "held out/confusion", plot_confusion(shown["labels"], shown["counts"])
        elif shown.get("kind") == "numbers":
            yield "held out/predictions", plot_predictions(shown["pairs"])
