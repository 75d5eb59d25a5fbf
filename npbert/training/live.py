"""What a person sees of a run: a bar on a terminal, a few lines in a file, or a text in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from textwrap import fill
from typing import Any

from npbert.display import Text, titled
from npbert.io.extras import import_extra
from npbert.io.messages import LOGGER, is_quiet
from npbert.training.progress import Step, Watcher
from npbert.training.state import Run

_LINES = 20


class Bar(Watcher):
    """The progress of a run of `total` steps: a bar on a terminal; otherwise, as in a file, about 20 lines in all; and
    nothing if npbert is quiet.

    done: the number of earlier steps. (Extra: train.)
    """

    def __init__(self, total: int, *, done: int) -> None:
        tqdm = import_extra("tqdm", extra="train").tqdm
        form = "{n_fmt}/{total_fmt} |{bar}| {remaining} left{postfix}"
        self._bar = tqdm(total=total, initial=done, disable=is_quiet() or None, dynamic_ncols=True, bar_format=form)
        self._total, self._done, self._lines, self._start = total, done, -1, time.perf_counter()

    def after(self, step: Step) -> None:
        self._bar.update(1)
        if step.row:
            line = training_line(step)
            self._bar.set_postfix_str(line)
            lines = _LINES * step.number // self._total
            if self._bar.disable and lines > self._lines:
                self._lines = lines
                for_one = (time.perf_counter() - self._start) / (step.number - self._done)  # by this process alone
                left = self._bar.format_interval(for_one * (self._total - step.number))
                self.say(f"step {step.number} of {self._total}: {line}, {left} left")
        if step.evaluation:
            self.say(held_out_line(step))

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        if is_quiet() or self.is_closed:
            return
        try:
            self._bar.write(line)
            sys.stdout.flush()
        except OSError as error:
            self.is_closed = True
            LOGGER.warning("standard output is closed (%s): the run stops", error.strerror)

    def close(self) -> None:
        self._bar.close()


class Live(Watcher):
    """The progress of a run in a notebook: a text that updates, instead of a bar. news: lines before it."""

    def __init__(self, trainer: Run, display: Callable[..., Any], news: str = "") -> None:
        self._trainer, self._news = trainer, news
        self._handle = display(progress_in_words(trainer, news), display_id=True)

    def after(self, step: Step) -> None:
        if step.row or step.evaluation:
            said = held_out_line(step) if step.evaluation else training_line(step)
            self._handle.update(progress_in_words(self._trainer, self._news, said))

    def close(self) -> None:
        self._handle.update(progress_in_words(self._trainer, self._news))


def progress_of(trainer: Run, news: str) -> Watcher:
    """Return a text that updates in a notebook, otherwise a bar. news: the start of a resumed run."""
    ipython = sys.modules.get("IPython")
    if ipython and hasattr(ipython.get_ipython(), "kernel") and not is_quiet():
        return Live(trainer, sys.modules["IPython.display"].display, news)
    bar = Bar(trainer.settings.steps, done=trainer.step)
    if news:
        bar.say(news)
    return bar


def progress_in_words(trainer: Run, *lines: str) -> Text:
    """Return the step of a Trainer and the evaluation of its best model, with lines between them."""
    kinds = f"{type(trainer).__name__} of {type(trainer.model).__name__}"
    best = trainer.progress.best_evaluation
    judged = f"best: step {trainer.progress.best_step}: {in_words(best)}" if best else ""
    return titled(f"{kinds}: step {trainer.step} of {trainer.settings.steps}", *lines, judged)


def training_line(step: Step) -> str:
    """Return the loss, the accuracies and the speed of the last steps."""
    parts = [f"loss {step.row['loss']:.3f}"]
    for name, value in step.row.items():
        if "accuracy" in name:
            parts.append(f"{name.removesuffix('_accuracy')} {value:.0%}")
    return ", ".join([*parts, f"{step.tokens_per_second:,.0f} tok/s"])


def held_out_line(step: Step) -> str:
    """Return the numbers of an evaluation in a line, or in several of at most 79 characters."""
    return fill(f"step {step.number}: held out: {in_words(step.evaluation)}", 79, subsequent_indent=" " * 4)


def in_words(numbers: dict[str, float]) -> str:
    """Return numbers with their names."""
    return ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in numbers.items())
