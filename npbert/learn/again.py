"""again: which variant is asked next, days after its exercise; the files alone tell, by when they were saved."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from npbert.files import atomic_write
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import EXERCISES
from npbert.learn.variants import VARIANTS

DAYS = (0, 1, 3, 7, 21, 60)
"""After so many days a variant is asked the first time, the second, and so on; then always after the last."""


class Asked(NamedTuple):
    """A variant: its file, and whether it was written just now."""

    exercise: Exercise
    path: Path
    is_new: bool


def ask(
    folder: Path, is_right: Callable[[Exercise, Path], bool], now: datetime.datetime
) -> Asked | datetime.date | None:
    """The variant that is open, or else due, of which the file is written; or the day when the next one is; or None,
    where no exercise that has a variant is right yet. Nothing that is there is changed.

    is_right: says it of a file. Raises: OSError.
    """
    due: list[datetime.date] = []
    for variant in VARIANTS.values():
        exercise = EXERCISES[variant.number - 100]
        rounds = rounds_of(folder, variant)
        last = rounds[-1] if rounds else folder / exercise.file_name
        if not last.is_file():
            continue
        if not is_right(variant if rounds else exercise, last):
            if rounds:
                return Asked(variant, last, is_new=False)
            continue
        wait = datetime.timedelta(days=DAYS[min(len(rounds), len(DAYS) - 1)])
        day = datetime.datetime.fromtimestamp(last.stat().st_mtime, now.tzinfo) + wait
        if day <= now:
            path = folder / file_name(variant, len(rounds) + 1)
            with atomic_write(path) as unfinished:
                unfinished.write_text(variant.source(), encoding="utf-8")
            return Asked(variant, path, is_new=True)
        due.append(day.date())
    return min(due, default=None)


def file_name(variant: Exercise, number: int) -> str:
    """`107_layer_norm_again.py`, and with _2 the second time."""
    return variant.file_name if number == 1 else variant.file_name.replace(".py", f"_{number}.py")


def rounds_of(folder: Path, variant: Exercise) -> list[Path]:
    """The files of a variant, the first first."""
    found: list[Path] = []
    while (path := folder / file_name(variant, len(found) + 1)).is_file():
        found.append(path)
    return found
