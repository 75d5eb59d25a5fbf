"""Log: what a run says about itself, on disk: a metrics.jsonl, and event files for TensorBoard."""

from __future__ import annotations

import errno
import json
import math
import os
import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any

from npbert.extras import import_extra
from npbert.files import FileError, atomic_write, naming, read_text

METRICS_FILE = "metrics.jsonl"


class Log:
    """Rows of numbers by step: `folder`/metrics.jsonl has one as a line, TensorBoard's files have them as scalars.

    The numbers of a run and of the same run resumed are the same, so what depends on the clock goes to TensorBoard
    alone. after_step: rows of later steps, from a run that was killed after its last saved state, are dropped. every:
    after how many steps there is a row. (Extra: train.)

    Warns: when there are rows but no step to go on from, or when rows are missing before it.
    """

    def __init__(self, folder: Path, *, after_step: int, every: int = 1) -> None:
        self.path = folder / METRICS_FILE
        all_rows = read_metrics(self.path)
        rows = [row for row in all_rows if row["step"] <= after_step]
        reached = max((row["step"] for row in all_rows), default=0)
        if all_rows and not after_step:
            warnings.warn(f"{self.path} goes to step {reached}, but no state was saved: it begins anew", stacklevel=4)
        elif reached < after_step // every * every:
            warnings.warn(f"{self.path} ends at step {reached}, but the state is of step {after_step}", stacklevel=4)
        with atomic_write(self.path) as written:
            written.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        writer = import_extra("tensorboard.summary.writer.event_file_writer", extra="train")
        self._events = import_extra("tensorboard.compat.proto.event_pb2", extra="train")
        self._summaries = import_extra("tensorboard.compat.proto.summary_pb2", extra="train")
        self._writer = writer.EventFileWriter(str(folder / "tensorboard"))
        log = self._events.SessionLog
        self._add(after_step + 1, session_log=log(status=log.START))  # TensorBoard drops what it had from there on

    def write(self, step: int, numbers: dict[str, float], **of_the_clock: float) -> None:
        """Add a row: `numbers` to both, `of_the_clock` to TensorBoard alone. What is not finite is null in JSON."""
        finite = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        line = (json.dumps({"step": step, **finite}, allow_nan=False) + "\n").encode()
        with (
            naming(self.path),
            self.path.open("ab", buffering=0) as file,
        ):  # one write, so that a kill leaves the whole line or none of it
            if file.write(line) < len(line):  # the disk is full, which only another write would say
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        values = [
            self._summaries.Summary.Value(tag=name, simple_value=value)
            for name, value in {**numbers, **of_the_clock}.items()
        ]
        self._add(step, summary=self._summaries.Summary(value=values))

    def sync(self) -> None:
        """See to it that all rows are on the disk."""
        with naming(self.path), self.path.open("ab") as file:
            os.fsync(file.fileno())

    def _add(self, step: int, **content: Any) -> None:
        self._writer.add_event(self._events.Event(wall_time=time.time(), step=step, **content))

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._writer.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of a metrics.jsonl, as far as their lines are complete; none when there is no file.

    Raises: FileError that gives file and line for a line that is no row.
    """
    if not path.is_file():
        return []
    rows = []
    for number, line in enumerate(read_text(path).split("\n")[:-1], start=1):
        try:
            row = json.loads(line)
            rows.append({"step": int(row.pop("step")), **row})
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as error:
            raise FileError(f"{path}, line {number} is no row of numbers with its step") from error
    return rows
