"""Log: what a run says about itself, on disk: files of rows, and event files for TensorBoard."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import TracebackType
from typing import Any

from npbert.compute import Array
from npbert.rows import LAYERS_FILE, METRICS_FILE, SHOWN_FILE, Rows
from npbert.training.event_file import EventFile


class Log:
    """What is known of a run, by step, in `folder`:

        metrics.jsonl   losses, metrics, learning rate …        layers.jsonl   of each layer: gradient and update
        shown.jsonl     what the model says of some examples    tensorboard/   scalars, histograms and images

    Of the first three, a file is there when there is something in it.

    The numbers of a run and of the same run resumed are the same, so what depends on the clock goes to TensorBoard
    alone. after_step: rows of later steps, from a run that was killed after its last saved state, are dropped. every:
    after how many steps there is a row. (Extra: train.)

    Warns: when there are rows but no step to go on from, or when rows are missing before it.
    """

    def __init__(self, folder: Path, *, after_step: int, every: int = 1) -> None:
        self._metrics, self._layers, self._shown = (
            Rows(folder / name, after_step=after_step) for name in (METRICS_FILE, LAYERS_FILE, SHOWN_FILE)
        )
        path, reached = self._metrics.path, self._metrics.reached
        if reached and not after_step:
            warnings.warn(f"{path} goes to step {reached}, but no state was saved: it begins anew", stacklevel=4)
        elif reached < after_step // every * every:
            warnings.warn(f"{path} ends at step {reached}, but the state is of step {after_step}", stacklevel=4)
        self._events = EventFile(folder / "tensorboard", first_step=after_step + 1)

    def write(self, step: int, numbers: dict[str, float], **of_the_clock: float) -> None:
        """Add a row of metrics: `numbers` to both, `of_the_clock` to TensorBoard alone."""
        self._metrics.write(step, numbers)
        self._events.scalars(step, {**numbers, **of_the_clock})

    def write_layers(self, step: int, numbers: dict[str, dict[str, float]]) -> None:
        """Add what Watch gives: numbers by layer, under the name of what they are."""
        self._layers.write(step, numbers)

    def write_shown(self, step: int, shown: dict[str, Any]) -> None:
        """Add what the model says of a few examples; `shown["kind"]` says what they are."""
        self._shown.write(step, shown)

    def write_histograms(self, step: int, samples: dict[str, Array]) -> None:
        """How the numbers of each sample are spread, for TensorBoard alone."""
        self._events.histograms(step, samples)

    def write_images(self, step: int, pictures: dict[str, bytes]) -> None:
        """Pictures by name, each a PNG file, for TensorBoard alone."""
        self._events.images(step, pictures)

    def sync(self) -> None:
        """See to it that all rows are on the disk."""
        for rows in (self._metrics, self._layers, self._shown):
            rows.sync()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._events.close()
