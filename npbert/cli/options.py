"""Options that several commands share: those of a settings class, and those of a command that reads a checkpoint."""

import argparse
from collections.abc import Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, TypeVar

from npbert.cli.parser import Run, Value
from npbert.cli.text import JSON_LINES, STANDARD_INPUT, check_output
from npbert.io.errors import InputError
from npbert.models import load_config
from npbert.training.finetune import FinetuneSettings
from npbert.training.settings import SETTINGS_FILE, Settings, load_settings, read_settings
from npbert.training.tasks import TaskSettings

Kind = TypeVar("Kind", bound=Settings)

GROUPS = {
    "what to learn from": ("corpus", "document_per_file", "train", "model", "new_head", "vocabulary", "held_out"),
    "what the labelled files look like": ("task", "text", "text_pair", "choices", "label", "delimiter", "first_row"),
    "how the text is used": ("objective", "mask_probability", "whole_words", "max_length", "batch_size"),
    "how long and how fast": ("epochs", "steps", "learning_rate", "warmup", "weight_decay", "max_grad_norm", "seed"),
    "how it is judged": ("held_out_batches", "metric", "positive", "evaluate_every", "patience"),
    "what is kept": ("save_every", "log_every", "keep_state"),
    "how to save memory": ("parts", "gradient_checkpointing"),
}
"""The settings that belong together in --help."""


def add_options(parser: argparse.ArgumentParser, kind: type[Settings]) -> None:
    """An option for every setting of `kind`, and --settings for a file of them. An option that is not given is not in
    the result of parsing."""
    left = {entry.name: entry for entry in fields(kind)}
    for title, names in {**GROUPS, "more": tuple(left)}.items():
        here = [left.pop(name) for name in names if name in left]
        group = parser.add_argument_group(title) if here else parser
        for entry in here:
            _add_option(group, entry, f"{entry.metadata['help']}{_default(entry)}")
    group = parser.add_argument_group("all of these from a file")
    group.add_argument("--settings", metavar="FILE", help="a TOML file of settings, as a run keeps them; "
                       "options on the command line override the file")  # fmt: skip


def add_columns(command: argparse.ArgumentParser, *names: str) -> None:
    """Options for those settings of a task, which say where in a labelled file the text is."""
    group = command.add_argument_group("for a file with columns")
    for entry in fields(TaskSettings):
        if entry.name in names:
            _add_option(group, entry, entry.metadata["help"])


_KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "bool": (None, {"action": argparse.BooleanOptionalAction}),
    "int": (int, {"metavar": "N"}),
    "float": (float, {"metavar": "NUMBER"}),
    "str": (str, {"metavar": "NAME"}),
    "tuple[str, ...]": (None, {"metavar": "NAME", "nargs": "+"}),
}


def _add_option(group: Any, entry: Field[Any], help_text: str) -> None:
    of_text, how = _KINDS[str(entry.type)]
    how = how | ({"type": Value(of_text, entry.metadata["wanted"])} if of_text else {})
    how |= {"metavar": entry.metadata["value"]} if entry.metadata["value"] else {}
    help_text = help_text.replace("%", "%%")
    group.add_argument(f"--{entry.name.replace('_', '-')}", default=argparse.SUPPRESS, help=help_text, **how)


def _default(entry: Field[Any]) -> str:
    if entry.default in ("", ()):
        return ""
    shown = ("on" if entry.default else "off") if str(entry.type) == "bool" else entry.default
    return f" (default: {shown})"


def given_options(args: argparse.Namespace, kind: type[Settings]) -> dict[str, Any]:
    """The settings that options were given for, by name."""
    return {entry.name: getattr(args, entry.name) for entry in fields(kind) if hasattr(args, entry.name)}


def read_options(args: argparse.Namespace, kind: type[Kind]) -> Kind:
    """The settings that the options say, over those of --settings, over the defaults.

    Raises: FileError for a file that is wrong; SystemExit, with status 2, for an option that is.
    """
    given = given_options(args, kind)
    if args.settings:
        return load_settings(kind, Path(args.settings), **given)
    try:
        settings = kind(**given)
    except InputError as error:
        args.parser.error(args.parser.say(error))
    return settings


def reads_files(command: argparse.ArgumentParser, run: Run, endings: Sequence[str] = JSON_LINES) -> Run:
    """Give a command that reads a checkpoint and text its files; it calls `run` when it is clear that its output can be
    written, in a format that its name's ending says."""
    command.add_argument("folder", metavar="FOLDER", help="the folder of a run, or of a checkpoint, "
                         "with its config.json, model.safetensors, and tokenizer.json or vocab.txt")  # fmt: skip
    command.add_argument("input", metavar="FILE", nargs="?", default=STANDARD_INPUT,
                         help="a file of text; without it, standard input is read")  # fmt: skip
    command.add_argument("--output", metavar="FILE", help="where to write; without it, to standard output")

    def check_and_run(args: argparse.Namespace) -> int:
        check_output(args.output, args.input, endings=endings)
        load_config(args.folder)  # what is wrong with it is said before anybody types a text
        return run(args)

    return check_and_run


def command_of(folder: Path) -> str:
    """By which command the run in the folder was begun: pretrain or finetune."""
    return "pretrain" if "corpus" in read_settings(folder / SETTINGS_FILE) else "finetune"


def run_settings(folder: str) -> FinetuneSettings | None:
    """The settings of the run of fine-tuning in `folder`, if there is one."""
    path = Path(folder) / SETTINGS_FILE
    is_run = path.is_file() and command_of(Path(folder)) == "finetune"
    return load_settings(FinetuneSettings, path) if is_run else None


def columns_of(args: argparse.Namespace, run: FinetuneSettings | None, endings: tuple[str, ...]) -> TaskSettings | None:
    """The columns in the file of a command: those of its options over those of the run. None for a text on each line:
    where no option names a column, and no run knows those of a file whose name ends in one of `endings`."""
    given = given_options(args, TaskSettings)
    if not given and not (run and args.input != STANDARD_INPUT and args.input.endswith(endings)):
        return None
    known = {entry.name: getattr(run, entry.name) for entry in fields(TaskSettings)} if run else {}
    return TaskSettings(**{**known, **given})


def length_of(run: FinetuneSettings | None) -> dict[str, int]:
    """The option for a task that makes it read as much of a text as the run did."""
    return {"max_length": run.max_length} if run else {}
