"""JSON lines: a file with a row of JSON on each line, each with its step, that a run appends to."""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npbert.io.files import FileError, atomic_write, naming
from npbert.io.messages import warn

METRICS_FILE, LAYERS_FILE, SHOWN_FILE = "metrics.jsonl", "layers.jsonl", "shown.jsonl"
"""The files of rows in a run's folder: metrics, numbers of each layer, and sample predictions."""

MOST_ROWS = 5000
"""The most points that a picture can show side by side."""


class JsonLines:
    """The rows of the file at `path`, created with the first row. Existing rows stay, except those after `after_step`,
    from a run that was killed after its last saved state.

    digits: of the numbers in new rows; by default all.
    Raises: FileError with file and line for a line that is not a row; OSError.
    """

    def __init__(self, path: Path, *, after_step: int, digits: int = 17) -> None:
        self.path, self.digits = path, digits
        if path.exists():
            with atomic_write(path) as written, written.open("wb") as file:
                for row in _rows(path):
                    if row["step"] <= after_step:
                        file.write(f"{json.dumps(row)}\n".encode())

    def write(self, step: int, row: dict[str, Any]) -> None:
        """Append a row in one write, so that a kill leaves the whole line or nothing. Numbers that are not finite
        become null.

        Raises: OSError with the file, also for a full disk.
        """
        line = f"{json.dumps({'step': step, **finite_or_null(row, digits=self.digits)})}\n".encode()
        if not self.path.exists():
            with atomic_write(self.path):
                pass  # creates a file whose name survives a power cut
        with naming(self.path), self.path.open("ab", buffering=0) as file:
            while line:  # on a full disk, the second write raises the error
                line = line[file.write(line) :]

    def sync(self) -> None:
        """Sync all rows to the disk. Raises: OSError with the file."""
        if self.path.exists():
            with naming(self.path), self.path.open("ab") as file:
                os.fsync(file.fileno())


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the complete lines of a file, or none without a file.

    Of rows with the same names, a picture needs at most MOST_ROWS. The last one in each of so many equal parts of the
    steps is read, with a warning if others are left out.

    Raises: FileError with file and line for a line that is not a row; OSError.
    """
    rows = list(_rows(path))
    if len(rows) <= MOST_ROWS:
        return rows
    width = max(1, max(row["step"] for row in rows) / MOST_ROWS)
    read = {(*row, row["step"] // width): row for row in rows}
    if len(read) < len(rows):
        warn(f"{path} has {len(rows):,} rows, too many to draw: {len(read):,} of them are read")
    return list(read.values())


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
                yield {"step": int(row.pop("step")), **row}
            except Exception as error:  # whatever else the JSON is
                raise FileError(f"{path}, line {number} is not a row of numbers with its step") from error


def finite_or_null(value: Any, *, digits: int = 17) -> Any:
    """Return a value for JSON: named tuples as objects, floats rounded to so many digits, by default to none less, and
    None, JSON's null, for one that is not finite."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: finite_or_null(each, digits=digits) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite_or_null(each, digits=digits) for each in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
