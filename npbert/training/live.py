"""What a person sees of a run: a bar on a terminal, or a few lines elsewhere."""

import sys
import time
from textwrap import fill

from npbert.io import LOGGER, import_extra, is_quiet
from npbert.training.progress import Step, Watcher

_LINES = 20


class Bar(Watcher):
    """The progress of a run of `total` steps: a bar on a terminal; in a file or a notebook, about 20 lines in
    all; and nothing if npbert is quiet.

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
            numbers = [f"loss {step.row['loss']:.3f}"]
            for name, value in step.row.items():
                if "accuracy" in name:
                    numbers.append(f"{name.removesuffix('_accuracy')} {value:.0%}")
            line = ", ".join([*numbers, f"{step.tokens_per_second:,.0f} tok/s"])
            self._bar.set_postfix_str(line)
            lines = _LINES * step.number // self._total
            if self._bar.disable and lines > self._lines:
                self._lines = lines
                for_one = (time.perf_counter() - self._start) / (step.number - self._done)  # by this process alone
                left = self._bar.format_interval(for_one * (self._total - step.number))
                self.say(f"step {step.number} of {self._total}: {line}, {left} left")
        if step.evaluation:
            line = f"step {step.number}: held out: {in_words(step.evaluation)}"
            self.say(fill(line, 79, subsequent_indent=" " * 4))

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


def in_words(numbers: dict[str, float]) -> str:
    """Return numbers with their names."""
    return ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in numbers.items())
