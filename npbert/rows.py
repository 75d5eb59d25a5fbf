"""Rows: a file with one row of JSON a line, each with its step, that a run adds to and takes up again."""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path
from typing import Any

from npbert.files import FileError, atomic_write, naming, read_text

METRICS_FILE, LAYERS_FILE, SHOWN_FILE = "metrics.jsonl", "layers.jsonl", "shown.jsonl"
"""The files of rows in the folder of a run: its numbers, those of each layer, and what the model says of examples."""


class Rows:
    """The rows of the file at `path`, which is made for the first of them; those of later steps than `after_step`, from
    a run that was killed after its last saved state, are dropped.

    Raises: what read_rows raises; OSError.
    """

    def __init__(self, path: Path, *, after_step: int) -> None:
        self.path = path
        rows = read_rows(path)
        self.reached = max((row["step"] for row in rows), default=0)
        if path.exists():
            kept = (json.dumps(row) + "\n" for row in rows if row["step"] <= after_step)
            with atomic_write(path) as written:
                written.write_text("".join(kept), encoding="utf-8")

    def write(self, step: int, row: dict[str, Any]) -> None:
        """Add a row. What is not finite is null."""
        line = (json.dumps({"step": step, **_finite(row)}, allow_nan=False) + "\n").encode()
        if not self.path.exists():
            with atomic_write(self.path):
                pass  # an empty file, whose name survives a power cut
        with (
            naming(self.path),
            self.path.open("ab", buffering=0) as file,
        ):  # one write, so that a kill leaves the whole line or none of it
            if file.write(line) < len(line):  # the disk is full, which only another write would say
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def sync(self) -> None:
        """See to it that all rows are on the disk."""
        if self.path.exists():
            with naming(self.path), self.path.open("ab") as file:
                os.fsync(file.fileno())


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, as far as their lines are complete; none when there is no file.

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


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
