"""What there is to be seen of a run: its step, the best so far, and the curves of the numbers that count."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from npbert.files import FileError
from npbert.json_lines import METRICS_FILE, MOST_ROWS, read_json_lines
from npbert.messages import is_quiet
from npbert.shown import Curve, Row, Sheet
from npbert.training.log import Bar, step_line

_EVERY = 0.5  # seconds


def sheet_of(trainer: Any) -> Sheet:
    """Of a Trainer, up to its step."""
    rows: list[dict[str, Any]] = []
    with suppress(FileError, OSError):
        rows = read_json_lines(trainer.folder / METRICS_FILE, at_most=MOST_ROWS)
    curves, goal = [], trainer.goal.name if trainer.goal else "loss"
    for name in dict.fromkeys(["loss", "eval_loss", f"eval_{goal}"]):
        points = [(row["step"], row[name]) for row in rows if row.get(name) is not None and row["step"] <= trainer.step]
        if points:
            curves.append(Curve(name.replace("eval_", "held-out "), points))
    best = ", ".join(
        f"{name.replace('_', ' ')} {value:.3g}" for name, value in trainer.progress.best_evaluation.items()
    )
    told = [Row("best", (f"step {trainer.progress.best_step}: {best}",))] if best else []
    title = (
        f"{type(trainer).__name__} of {type(trainer.model).__name__}: step {trainer.step} of {trainer.settings.steps}"
    )
    return Sheet(title, rows=told, curves=curves)


class Live(Bar):
    """The progress of a run in a notebook: in place of a bar, the trainer's sheet, which changes as it goes on."""

    is_closed = False

    def __init__(self, trainer: Any, display: Callable[..., Any]) -> None:
        self._trainer, self._said, self._speed = trainer, "", ""
        self._first, self._start = trainer.step, time.perf_counter()
        self._shown = self._start
        self._handle = display(sheet_of(trainer), display_id=True)

    def update(self) -> None:
        """One more step is made. The sheet changes twice a second at most: not even a quick run waits for it."""
        trainer, now = self._trainer, time.perf_counter()
        if now - self._shown < _EVERY:
            return
        self._shown, done = now, trainer.step - self._first
        left = (now - self._start) / max(1, done) * (trainer.settings.steps - trainer.step)
        lines = [self._said, f"{self._speed}; about {left:.0f} s left" if self._speed else ""]
        self._handle.update(replace(sheet_of(trainer), says="\n".join(filter(None, lines))))

    def show(self, numbers: dict[str, float], tokens_per_second: float) -> None:
        """The loss, the accuracies and the speed of the last steps."""
        self._speed = step_line(numbers, tokens_per_second)

    def say(self, line: str) -> None:
        """A line that stays until the next."""
        self._said = line

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        has_gone_on = self._trainer.step > self._first
        self._handle.update(replace(sheet_of(self._trainer), says="" if has_gone_on else self._said))


def progress_of(trainer: Any) -> Bar:
    """The curves where a notebook shows them, and else a bar."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if hasattr(shell, "kernel") and not is_quiet():
        return Live(trainer, sys.modules["IPython.display"].display)
    return Bar(trainer.settings.steps, done=trainer.step)
