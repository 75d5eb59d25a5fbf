"""The folder with the learner's files: writes missing and due ones, and never changes existing ones."""

import datetime
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from npbert.io.errors import Setting
from npbert.io.files import FileError, atomic_write, remove_leftovers
from npbert.io.messages import did_you_mean
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import ALL, EXERCISES, VARIANTS

FOLDER = "backprop"
DAYS = (0, 1, 3, 7, 21, 60)
"""The days until a variant is due for the first time, the second, and so on; then always the last number."""


def folder_of(name: str) -> Path:
    """Return the folder of this name, or the current folder, if it is the default one."""
    is_inside = name == FOLDER and not Path(FOLDER).exists()
    here = any(Path(exercise.file_name).is_file() for exercise in EXERCISES.values())
    return Path() if is_inside and here else Path(name)


def write_missing(folder: Path) -> list[Exercise]:
    """Write the missing exercises, and return them. Existing files stay unchanged.

    Raises: FileError if `folder` is a file; OSError.
    """
    if folder.exists() and not folder.is_dir():
        hint = ("choose another with ", Setting("folder"))
        raise FileError(f"{folder} is a file", wanted="a folder for the exercises", hint=hint)
    folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    missing = [exercise for exercise in EXERCISES.values() if not (folder / exercise.file_name).exists()]
    for exercise in missing:
        _write(exercise, folder / exercise.file_name)
    return missing


def _write(exercise: Exercise, path: Path) -> None:
    with atomic_write(path) as unfinished:
        unfinished.write_text(exercise.source, encoding="utf-8")


def exercise_of(name: str) -> Exercise:
    """Return an exercise by its number (7, 07), its name (layer_norm), the name of its class (LayerNorm) or its file.

    Raises: ValueError for an unknown exercise.
    """
    stem = re.sub(r"(_again)_\d+$", r"\1", Path(name).name.removesuffix(".py"))
    known = {each.file_name.removesuffix(".py"): each for each in ALL.values()}
    known |= {each.slug: each for each in ALL.values()}
    known |= {part.name: each for each in ALL.values() for part in each.parts if each.number != 15}
    known_in_any_case = {known_name.lower(): each for known_name, each in known.items()}
    exercise = ALL.get(int(stem)) if stem.isascii() and stem.isdigit() else known_in_any_case.get(stem.lower())
    if exercise is None:
        raise ValueError(f"EXERCISE is {name!r}, wanted 1 to {len(EXERCISES)}{did_you_mean(stem, known)}")
    return exercise


def find(name: str, folder: Path) -> tuple[Exercise, Path]:
    """Return the exercise, and the path of its file: of this name, or in the folder.

    Raises: as exercise_of; FileError if its file is missing.
    """
    exercise = exercise_of(name)
    is_path = name.endswith(".py") and Path(name).exists()
    path = Path(name) if is_path else [folder / exercise.file_name, *rounds_of(folder, exercise)][-1]
    write = f"`npbert learn{option_of(folder)}` writes"
    if not path.is_file() and folder.is_dir():
        raise FileError(f"{path} does not exist; {write} it")
    if not path.is_file():
        none = (
            f"the folder {folder} does not exist in {Path.cwd()}; if your exercises are elsewhere, go there, or give "
        )
        raise FileError((none, "their folder with ", Setting("folder"), f"; if you have none yet, {write} them"))
    return exercise, path


def option_of(folder: Path) -> str:
    """Return a command's option for the folder: "" for the default one."""
    return "" if folder == folder_of(FOLDER) else f" --folder {folder}"


class Asked(NamedTuple):
    """A variant, its file, and whether the file is new."""

    exercise: Exercise
    path: Path
    is_new: bool


def ask(
    folder: Path, is_right: Callable[[Exercise, Path], bool], now: datetime.datetime
) -> Asked | datetime.date | None:
    """Return the open variant, or the due one, and write its file; or the date of the next one; or None, if no exercise
    with a variant is right yet. Existing files stay unchanged.

    is_right: tests a file. Raises: OSError.
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
            path = _file(folder, variant, len(rounds) + 1)
            _write(variant, path)
            return Asked(variant, path, is_new=True)
        due.append(day.date())
    return min(due, default=None)


def _file(folder: Path, variant: Exercise, number: int) -> Path:
    """Return `107_layer_norm_again.py`, and with _2 the second time."""
    return folder / variant.file_name.replace(".py", f"_{number}.py" if number > 1 else ".py")


def rounds_of(folder: Path, variant: Exercise) -> list[Path]:
    """Return the files of a variant in order."""
    numbers = itertools.takewhile(lambda number: _file(folder, variant, number).is_file(), itertools.count(1))
    return [_file(folder, variant, number) for number in numbers]
