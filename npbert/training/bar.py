"""Bar: what a person sees of a run while it runs."""

from __future__ import annotations

import time
from textwrap import fill
from types import TracebackType

from npbert.extras import import_extra
from npbert.messages import is_quiet

_LINES = 20
_NO_BREAK = "\u00a0"


class Bar:
    """How far a run of `total` steps is: a bar on a terminal; elsewhere, in a file say, about 20 lines in all. Where
    npbert is to be quiet, nothing.

    done: how many steps were made before. (Extra: train.)
    """

    def __init__(self, total: int, *, done: int) -> None:
        tqdm = import_extra("tqdm", extra="train").tqdm
        form = "{n_fmt}/{total_fmt} |{bar}| {remaining} left{postfix}"
        self._bar = tqdm(total=total, initial=done, disable=is_quiet() or None, dynamic_ncols=True, bar_format=form)
        self._total, self._done, self._before, self._lines = total, done, done, -1
        self._start = time.perf_counter()

    def update(self) -> None:
        """One more step is made."""
        self._done += 1
        self._bar.update(1)

    def show(self, numbers: dict[str, float], tokens_per_second: float) -> None:
        """The loss, the accuracies and the speed of the last steps."""
        shares = [
            f"{name.removesuffix('_accuracy')} {value:.0%}" for name, value in numbers.items() if "accuracy" in name
        ]
        line = ", ".join([f"loss {numbers['loss']:.3f}", *shares, f"{tokens_per_second:,.0f} tok/s"])
        self._bar.set_postfix_str(line)
        lines = _LINES * self._done // self._total
        if self._bar.disable and lines > self._lines:
            self._lines = lines
            left = (time.perf_counter() - self._start) / (self._done - self._before) * (self._total - self._done)
            self.say(f"step {self._done} of {self._total}: {line}, {self._bar.format_interval(left)} left")

    def say(self, line: str) -> None:
        """A line that stays, above the bar."""
        if not is_quiet():
            self._bar.write(line)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.close()


def held_out_line(step: int, numbers: dict[str, float]) -> str:
    """What an evaluation gave, in a line, or in several where it would be longer than 79 characters."""
    parts = [f"{name.replace('_', ' ')} {value:.3g}".replace(" ", _NO_BREAK) for name, value in numbers.items()]
    line = fill(f"step {step}: held out: {', '.join(parts)}", 79, subsequent_indent=" " * 4)
    return line.replace(_NO_BREAK, " ")
