"""The progress of a run in words: its step, the best so far, and the metrics."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from npbert.display import Text, titled
from npbert.io.files import FileError
from npbert.io.json_lines import METRICS_FILE, MOST_ROWS, read_json_lines
from npbert.io.messages import is_quiet
from npbert.training.log import Bar
from npbert.training.state import Run

_EVERY = 0.5  # seconds


def progress_in_words(trainer: Run, news: str = "") -> Text:
    """Return the progress of a Trainer up to its step. news: lines before it."""
    rows, told, best = [], [], []
    with suppress(FileError, OSError):
        rows = read_json_lines(trainer.folder / METRICS_FILE, at_most=MOST_ROWS)
    goal = trainer.evaluation.goal
    for name in dict.fromkeys(["loss", "eval_loss", f"eval_{goal.name}" if goal else "loss"]):
        points = [(row["step"], row[name]) for row in rows if row.get(name) is not None and row["step"] <= trainer.step]
        ends = dict.fromkeys([*points[:1], *points[-1:]])
        said = ", ".join(f"{number:.3g} at step {step}" for step, number in ends)
        told += [f"{name.replace('eval_', 'held-out ')}: {said}"] if said else []
    for name, value in trainer.progress.best_evaluation.items():
        best.append(f"{name.replace('_', ' ')} {value:.3g}")
    judged = f"best: step {trainer.progress.best_step}: {', '.join(best)}" if best else ""
    where = f"step {trainer.step} of {trainer.settings.steps}"
    title = f"{type(trainer).__name__} of {type(trainer.model).__name__}: {where}"
    return titled(title, news, judged, *told)


class Live(Bar):
    """The progress of a run in a notebook: a text that updates, instead of a bar."""

    def __init__(self, trainer: Run, display: Callable[..., Any], news: str = "") -> None:
        self._trainer, self._news, self._said, self.is_closed = trainer, f"{news}\n" if news else "", "", False
        self._first, self._start = trainer.step, time.perf_counter()
        self._shown = self._start
        self._handle = display(progress_in_words(trainer, news), display_id=True)

    def update(self) -> None:
        trainer, now = self._trainer, time.perf_counter()
        if now - self._shown >= _EVERY:  # a fast run does not wait for the display
            left = (now - self._start) / max(1, trainer.step - self._first) * (trainer.settings.steps - trainer.step)
            self._handle.update(progress_in_words(trainer, f"{self._news}{self._said}\nabout {left:.0f} s left"))
            self._shown = now

    def show(self, numbers: dict[str, float], tokens_per_second: float) -> None:
        self._said = f"loss {numbers['loss']:.3f}, {tokens_per_second:,.0f} tok/s"

    def say(self, line: str) -> None:
        self._said = line

    def __exit__(self, *error: object) -> None:
        end = next((str(each) for each in error if isinstance(each, KeyboardInterrupt)), "")
        self._handle.update(progress_in_words(self._trainer, f"{self._news}{end}".strip()))


def progress_of(trainer: Run, news: str) -> Bar:
    """Return a text that updates in a notebook, otherwise a bar. news: the start of a resumed run."""
    ipython = sys.modules.get("IPython")
    if ipython and hasattr(ipython.get_ipython(), "kernel") and not is_quiet():
        return Live(trainer, sys.modules["IPython.display"].display, news)
    bar = Bar(trainer.settings.steps, done=trainer.step)
    if news:
        bar.say(news)
    return bar
