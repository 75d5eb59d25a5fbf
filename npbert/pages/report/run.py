"""Reads and checks the files of a training run."""

from pathlib import Path
from typing import Any, NamedTuple

from npbert.io import METRICS_FILE, SHOWN_FILE, FileError, read_json_lines
from npbert.plots.curves import judged_in
from npbert.training import SETTINGS_FILE, read_settings


class RunFiles(NamedTuple):
    """The folder of a run, its settings by name, and the rows of metrics.jsonl and shown.jsonl.

    last: the last row of shown.jsonl, with what `judged_in` adds.
    """

    folder: Path
    settings: dict[str, Any]
    metrics: list[dict[str, Any]]
    report_rows: list[dict[str, Any]]
    last: dict[str, Any]

    @property
    def step(self) -> int:
        """The last step with a number."""
        return max(row["step"] for row in self.metrics)

    @property
    def judged(self) -> dict[int, dict[str, Any]]:
        """The rows of evaluations on the held-out set."""
        return {row["step"]: row for row in self.metrics if any(name.startswith("eval_") for name in row)}


def read_run(folder: str | Path) -> RunFiles:
    """Return the run in `folder`, also during the run. (Extra: train.)

    Raises: FileError if it is not a run's folder, has no numbers yet, or a wrong row; OSError.
    """
    folder = Path(folder)
    if not (folder / SETTINGS_FILE).is_file():
        raise FileError(f"{folder} is not a run of npbert pretrain or npbert finetune: it has no {SETTINGS_FILE}")
    metrics, report_rows = (read_json_lines(folder / name) for name in (METRICS_FILE, SHOWN_FILE))
    if not metrics:
        raise FileError(f"{folder / METRICS_FILE} has no numbers yet, wanted at least one step")
    settings = read_settings(folder / SETTINGS_FILE)
    return RunFiles(folder, settings, metrics, report_rows, judged_in(report_rows))
