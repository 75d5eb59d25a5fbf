"""The files of a training run, its result in a sentence, and notes on its pictures."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npbert.io import METRICS_FILE, SHOWN_FILE, FileError, read_json_lines
from npbert.plots.curves import judged_in
from npbert.training import SETTINGS_FILE, read_settings

_LEARNED = ((0.0, "it has learned nothing yet"), (0.1, "it has barely learned"), (0.5, "it has begun to learn"))
"""The sentence up to each share of the way from the baseline to the best value, 1, or 0 of a loss."""


class Run:
    """The run in `folder`, also during the run. (Extra: train.)

    settings: as texts, by name   step: the last with a number   metrics, shown: the rows of metrics.jsonl and
    shown.jsonl   last: the last row of shown.jsonl, with what `judged_in` adds   judged: the numbers of
    evaluations on the held-out set, by step and name

    Raises: FileError if it is not a run's folder, has no numbers yet, or a wrong row; OSError.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        path = self.folder / SETTINGS_FILE
        if not path.is_file():
            raise FileError(f"{folder} is not a run of npbert pretrain or npbert finetune: it has no {SETTINGS_FILE}")
        self.metrics, self.shown = (read_json_lines(self.folder / name) for name in (METRICS_FILE, SHOWN_FILE))
        if not self.metrics:
            raise FileError(f"{self.folder / METRICS_FILE} has no numbers yet, wanted at least one step")
        self.settings = {name: _in_words(value) for name, value in read_settings(path).items()}
        self.step, self.last = max(row["step"] for row in self.metrics), judged_in(self.shown)
        self.judged = {}
        for row in self.metrics:
            numbers = {name.removeprefix("eval_"): row[name] for name in row if name.startswith("eval_")}
            if numbers:
                self.judged[row["step"]] = numbers

    def command(self) -> str:
        """Return the command to repeat this run in a new FOLDER, from its file of settings."""
        name = "pretrain" if "corpus" in self.settings else "finetune"
        return shlex.join(["npbert", name, "FOLDER", "--settings", str(self.folder / SETTINGS_FILE)])

    def verdict(self) -> str:
        """Return a sentence that compares the model on the held-out set with the baseline."""
        last = self.last
        row = self.judged.get(last["best_step"]) or next(reversed(self.judged.values()), {})
        of_words = "mlm_accuracy" if "mlm_accuracy" in row else "accuracy"
        goal, what = last.get("goal", of_words), "masked words" if "corpus" in self.settings else "examples"
        value, baseline = row.get(goal), last["baselines"].get(goal)
        if value is None:
            return "There is no evaluation on held-out data yet, so its quality on new data is unknown."
        said = _told(goal, value, f"of {what} right")
        if baseline is None:
            return f"{said}."
        best = 0 if goal.endswith("loss") else 1
        share = (value - baseline) / ((best - baseline) or 1e-9)
        learned = next((words for most, words in _LEARNED if share <= most), "it has learned")
        beaten = "the baseline that always predicts the most frequent answer"
        if last.get("before") == "before training":
            beaten = "the model before training"
        return f"{said}; {beaten} gets {_told(goal, baseline)}: {learned}."

    def notes(self) -> Iterator[str]:
        """Return sentences on noteworthy facts."""
        losses = {step: row["loss"] for step, row in self.judged.items() if row.get("loss") is not None}
        lowest = min(losses, key=losses.__getitem__, default=0)
        if losses and losses[lowest] < 0.98 * losses[max(losses)]:
            yield f"The held-out loss was lowest at step {lowest:,} and has risen since: the model overfits."
        lost = sum(value is None for row in self.metrics for value in row.values())
        if lost:
            yield f"Numbers that are not finite (NaN or infinite): {lost:,}, shown as crosses in the curves."
        counts = self.last.get("counts")
        if counts and sum(any(column) for column in zip(*counts, strict=True)) == 1:
            yield "It gives every example the same label. It needs more steps, or another learning rate."


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _told(goal: str, value: float, what: str = "") -> str:
    if goal.endswith("accuracy"):
        return f"{value:.1%} {what}".rstrip()
    return f"{goal.replace('_', ' ').capitalize()} {value:.3g}" if what else f"{value:.3g}"
