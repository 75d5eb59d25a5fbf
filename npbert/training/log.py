"""Log: what a run says about itself, on disk: files of rows, and event files for TensorBoard."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any

from npbert.extras import import_extra
from npbert.training.rows import Rows

METRICS_FILE = "metrics.jsonl"
LAYERS_FILE = "layers.jsonl"
SHOWN_FILE = "shown.jsonl"


class Log:
    """What is known of a run, by step, in `folder`:

        metrics.jsonl   losses, metrics, learning rate …        layers.jsonl   of each parameter: gradient and update
        shown.jsonl     what the model says of some examples    tensorboard/   the metrics as scalars

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
        writer = import_extra("tensorboard.summary.writer.event_file_writer", extra="train")
        self._events = import_extra("tensorboard.compat.proto.event_pb2", extra="train")
        self._summaries = import_extra("tensorboard.compat.proto.summary_pb2", extra="train")
        self._writer = writer.EventFileWriter(str(folder / "tensorboard"))
        log = self._events.SessionLog
        self._add(after_step + 1, session_log=log(status=log.START))  # TensorBoard drops what it had from there on

    def write(self, step: int, numbers: dict[str, float], **of_the_clock: float) -> None:
        """Add a row of metrics: `numbers` to both, `of_the_clock` to TensorBoard alone."""
        self._metrics.write(step, numbers)
        values = [
            self._summaries.Summary.Value(tag=name, simple_value=value)
            for name, value in {**numbers, **of_the_clock}.items()
        ]
        self._add(step, summary=self._summaries.Summary(value=values))

    def write_layers(self, step: int, numbers: dict[str, dict[str, float]]) -> None:
        """Add what Watch gives: numbers by parameter, under the name of what they are."""
        self._layers.write(step, numbers)

    def write_shown(self, step: int, examples: list[dict[str, Any]]) -> None:
        """Add what the model says of a few examples."""
        self._shown.write(step, {"examples": examples})

    def sync(self) -> None:
        """See to it that all rows are on the disk."""
        for rows in (self._metrics, self._layers, self._shown):
            rows.sync()

    def _add(self, step: int, **content: Any) -> None:
        self._writer.add_event(self._events.Event(wall_time=time.time(), step=step, **content))

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._writer.close()
