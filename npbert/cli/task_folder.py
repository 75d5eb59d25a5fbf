"""Where a command finds its model: in the folder of a checkpoint, or of a run, whose settings then say the rest."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path

from npbert.cli.options import given_options
from npbert.cli.text import STANDARD_INPUT
from npbert.training.finetune import FinetuneSettings
from npbert.training.run_folder import MODEL_FOLDER
from npbert.training.settings import SETTINGS_FILE, load_settings, make_settings, read_settings
from npbert.training.tasks import TaskSettings


def model_folder(folder: str) -> str:
    """The folder of the model: that of the best one where `folder` is that of a run, or else `folder` itself."""
    return str(Path(folder) / MODEL_FOLDER) if (Path(folder) / SETTINGS_FILE).is_file() else folder


def command_of(folder: Path) -> str:
    """By which command the run in the folder was begun: pretrain or finetune."""
    return "pretrain" if "corpus" in read_settings(folder / SETTINGS_FILE) else "finetune"


def run_settings(folder: str) -> FinetuneSettings | None:
    """The settings of the run of fine-tuning in `folder`, if there is one."""
    path = Path(folder) / SETTINGS_FILE
    is_run = path.is_file() and command_of(Path(folder)) == "finetune"
    return load_settings(FinetuneSettings, path) if is_run else None


def add_columns(command: argparse.ArgumentParser, **metavars: str) -> None:
    """Options for those settings of a task, which say where in a labelled file the text is."""
    group = command.add_argument_group("for a file with columns")
    for entry in fields(TaskSettings):
        if entry.name in metavars:
            group.add_argument(
                f"--{entry.name.replace('_', '-')}",
                default=argparse.SUPPRESS,
                metavar=metavars[entry.name],
                help=entry.metadata["help"],
            )


def columns_of(args: argparse.Namespace, run: FinetuneSettings | None, endings: tuple[str, ...]) -> TaskSettings | None:
    """Where the text is in the file of a command, or None where the file has no columns, but a text on each line.

    It has columns when an option names one, or when its name ends in one of `endings`, and there is a run that knows
    them. An option counts more than the run.
    """
    given = given_options(args, TaskSettings)
    if not given and not (run and args.input != STANDARD_INPUT and args.input.endswith(endings)):
        return None
    known = {entry.name: getattr(run, entry.name) for entry in fields(TaskSettings)} if run else {}
    return make_settings(TaskSettings, {**known, **given})


def length_of(run: FinetuneSettings | None) -> dict[str, int]:
    """The option for a task that makes it read as much of a text as the run did."""
    return {"max_length": run.max_length} if run else {}
