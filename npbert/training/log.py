"""The log of a run: files of rows, and event files for TensorBoard."""

import time
from pathlib import Path
from typing import Any

from npbert.io import METRICS_FILE, SHOWN_FILE, JsonLines, import_extra, naming
from npbert.training.progress import Step, Watcher

EVENTS_FOLDER = "tensorboard"


class Log(Watcher):
    """The numbers of a run by step, in `folder`:

        metrics.jsonl   losses, metrics, learning rate …
        shown.jsonl     what the model says of some examples

    A file is created with its first row. A resumed run has the same rows: numbers that depend on the clock go only to
    TensorBoard.

    after_step: rows of later steps, from a run that was killed after its last saved state, are dropped.
    """

    def __init__(self, folder: Path, *, after_step: int) -> None:
        self.metrics = JsonLines(folder / METRICS_FILE, after_step=after_step)
        self.shown = JsonLines(folder / SHOWN_FILE, after_step=after_step)

    def after(self, step: Step) -> None:
        for numbers in (step.row, step.judged):
            if numbers:
                self.metrics.write(step.number, numbers)
        if step.shown:
            self.shown.write(step.number, step.shown)
        if step.is_saved:
            self.metrics.sync()
            self.shown.sync()


class TensorBoard(Watcher):
    """Writes the same numbers, and the speed, to a new event file in `folder`. TensorBoard ignores older files from
    `first_step` on.

    Each event is a protocol buffer in TensorFlow's record format, written at once. (TensorBoard's writer uses a thread,
    whose errors are lost.) Extra: train. Raises: OSError with the file.
    """

    def __init__(self, folder: Path, *, first_step: int) -> None:
        self._events = import_extra("tensorboard.compat.proto.event_pb2", extra="train")
        records = import_extra("tensorboard.summary.writer.record_writer", extra="train")
        folder.mkdir(exist_ok=True)
        self._path = folder / f"events.out.tfevents.{time.time_ns()}"  # it reads files in the order of their names
        self._file = self._path.open("xb")
        self._records = records.RecordWriter(self._file)
        self._add(0, file_version="brain.Event:2")
        self._add(first_step, session_log={"status": self._events.SessionLog.START})

    def after(self, step: Step) -> None:
        speed = {"tokens_per_second": step.tokens_per_second} if step.row else {}
        numbers = {**step.row, **speed, **step.judged}
        if numbers:
            values = [{"tag": name, "simple_value": value} for name, value in numbers.items()]
            self._add(step.number, summary={"value": values})

    def close(self) -> None:
        with naming(self._path):
            self._file.close()

    def _add(self, step: int, **content: Any) -> None:
        event = self._events.Event(wall_time=time.time(), step=step, **content)
        with naming(self._path):
            self._records.write(event.SerializeToString())
            self._records.flush()
