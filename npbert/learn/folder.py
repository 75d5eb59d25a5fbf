"""The folder with the learner's files: writes missing and due ones, and never changes existing ones."""

from collections.abc import Mapping
from pathlib import Path

from npbert.io import FileError, Setting, did_you_mean, write_text
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import ALL, EXERCISES, VARIANTS

FOLDER = "backprop"


def folder_of(name: str) -> Path:
    """Return the folder of this name, or the current folder, if it is the default one."""
    is_inside = name == FOLDER and not Path(FOLDER).exists()
    here = any(Path(exercise.file_name).is_file() for exercise in EXERCISES.values())
    return Path() if is_inside and here else Path(name)


def option_of(folder: Path) -> str:
    """Return a command's option for the folder: "" for the default one."""
    return "" if folder == folder_of(FOLDER) else f" --folder {folder}"


def write_missing(folder: Path, exercises: Mapping[int, Exercise]) -> list[Exercise]:
    """Write the missing exercises, and return them. Existing files stay unchanged.

    Raises: FileError if `folder` is a file; OSError.
    """
    if folder.exists() and not folder.is_dir():
        fix = f"choose another with {Setting('folder')}"
        raise FileError(f"{folder} is a file, wanted a folder for the exercises; {fix}")
    missing = [exercise for exercise in exercises.values() if not (folder / exercise.file_name).exists()]
    for exercise in missing:
        write_text(folder / exercise.file_name, exercise.source)
    return missing


def exercise_of(name: str) -> Exercise:
    """Return an exercise by its number (7, 07), its name (layer_norm), the name of its class (LayerNorm) or its file.

    Raises: ValueError for an unknown exercise.
    """
    stem = Path(name).name.removesuffix(".py")
    known = {
        other.lower(): each
        for each in ALL.values()
        for other in (each.code, each.slug, Path(each.file_name).stem, *(blank.name for blank in each.blanks))
    }
    exercise = known.get(stem.zfill(2).lower())
    if exercise is None:
        raise ValueError(f"EXERCISE is {name!r}, wanted 1 to {len(EXERCISES)}{did_you_mean(stem, known)}")
    return exercise


def find(name: str, folder: Path) -> tuple[Exercise, Path]:
    """Return the exercise, and the path of its file: of this name, or in the folder.

    Raises: as exercise_of; FileError if its file is missing.
    """
    exercise = exercise_of(name)
    given = Path(name)
    is_path = given.suffix == ".py" and (given.exists() or given.name != name)
    path = given if is_path else folder / exercise.file_name
    if not path.is_file():
        command = "learn again" if exercise.number in VARIANTS else "learn"
        writes = f"`npbert {command}{option_of(folder)}` writes it"
        fix = f"{writes}, or give the folder of your exercises with {Setting('folder')}"
        raise FileError(f"{path} does not exist; {fix}")
    return exercise, path
