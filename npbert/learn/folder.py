"""The folder with the learner's files: writes missing and due ones, and never changes existing ones."""

import datetime
import re
from collections.abc import Callable
from pathlib import Path

from npbert.io import FileError, Setting, atomic_write, did_you_mean
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


def option_of(folder: Path) -> str:
    """Return a command's option for the folder: "" for the default one."""
    return "" if folder == folder_of(FOLDER) else f" --folder {folder}"


def write_missing(folder: Path) -> list[Exercise]:
    """Write the missing exercises, and return them. Existing files stay unchanged.

    Raises: FileError if `folder` is a file; OSError.
    """
    if folder.exists() and not folder.is_dir():
        hint = ("choose another with ", Setting("folder"))
        raise FileError(f"{folder} is a file", wanted="a folder for the exercises", hint=hint)
    folder.mkdir(parents=True, exist_ok=True)
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
    known: dict[str, Exercise] = {}
    for each in ALL.values():
        names = each.code, each.slug, each.file_name.removesuffix(".py"), *(part.name for part in each.parts)
        known |= dict.fromkeys(map(str.lower, names), each)
    exercise = known.get(stem.zfill(2).lower())
    if exercise is None:
        raise ValueError(f"EXERCISE is {name!r}, wanted 1 to {len(EXERCISES)}{did_you_mean(stem, known)}")
    return exercise


def find(name: str, folder: Path) -> tuple[Exercise, Path]:
    """Return the exercise, and the path of its file: of this name, or in the folder.

    Raises: as exercise_of; FileError if its file is missing.
    """
    exercise = exercise_of(name)
    rounds, path = rounds_of(folder, exercise)
    if name.endswith(".py") and Path(name).exists():
        path = Path(name)
    elif rounds:
        path = rounds[-1]
    if not path.is_file():
        writes = f"`npbert learn{option_of(folder)}` writes it"
        raise FileError(
            (f"{path} does not exist; {writes}, or give the folder of your exercises with ", Setting("folder"))
        )
    return exercise, path


def rounds_of(folder: Path, exercise: Exercise) -> tuple[list[Path], Path]:
    """Return the files of an exercise, `107_layer_norm_again.py` and with _2 the second time; and the next one."""
    path, found = folder / exercise.file_name, list[Path]()
    while path.is_file():
        found.append(path)
        path = folder / exercise.file_name.replace(".py", f"_{len(found) + 1}.py")
    return found, path


def ask(
    folder: Path, is_right: Callable[[Exercise, Path], bool], now: datetime.datetime
) -> tuple[Exercise, Path] | datetime.date | None:
    """Return the open variant, or the due one, and write its file; or the date of the next one; or None, if no exercise
    with a variant is right yet. Existing files stay unchanged.

    is_right: tests a file. Raises: OSError.
    """
    due: list[datetime.date] = []
    for variant in VARIANTS.values():
        rounds, new = rounds_of(folder, variant)
        exercise = EXERCISES[variant.number - 100]
        asked, last = (variant, rounds[-1]) if rounds else (exercise, folder / exercise.file_name)
        if last.is_file() and is_right(asked, last):
            wait = datetime.timedelta(days=DAYS[min(len(rounds), len(DAYS) - 1)])
            day = datetime.datetime.fromtimestamp(last.stat().st_mtime, now.tzinfo) + wait
            if day <= now:
                _write(variant, new)
                return variant, new
            due.append(day.date())
        elif rounds:
            return variant, last
    return min(due, default=None)
