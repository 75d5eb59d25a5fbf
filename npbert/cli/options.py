"""Settings classes as options of the command line."""

from __future__ import annotations

import argparse
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, TypeVar

from npbert.training.settings import Settings, load_settings, make_settings

Kind = TypeVar("Kind", bound=Settings)

GROUPS: dict[str, dict[str, str]] = {
    "what to learn from": {
        "corpus": "FILE",
        "document_per_file": "",
        "train": "FILE",
        "model": "MODEL",
        "new_head": "",
        "vocabulary": "FOLDER",
        "held_out": "FILE",
    },
    "what the labelled files look like": {
        "task": "TASK",
        "text": "COLUMN",
        "text_pair": "COLUMN",
        "choices": "COLUMN",
        "label": "COLUMN",
        "delimiter": "NAME",
        "first_row": "WHAT",
    },
    "how the text is used": {
        "objective": "NAME",
        "mask_probability": "SHARE",
        "whole_words": "",
        "max_length": "TOKENS",
        "batch_size": "N",
    },
    "how long and how fast": {
        "epochs": "N",
        "steps": "N",
        "learning_rate": "RATE",
        "warmup": "SHARE",
        "weight_decay": "RATE",
        "max_grad_norm": "NORM",
        "seed": "N",
    },
    "how it is judged": {
        "held_out_batches": "N",
        "metric": "NAME",
        "positive": "LABEL",
        "evaluate_every": "STEPS",
        "patience": "N",
    },
    "what is kept": {"save_every": "STEPS", "log_every": "STEPS", "keep_state": ""},
    "how to save memory": {"parts": "N", "gradient_checkpointing": "", "share_state": ""},
}
"""Which settings belong together in --help, and what the value of each is called there; a switch has no value."""

_PLACEHOLDERS = {"int": "N", "float": "NUMBER", "str": "NAME", "tuple[str, ...]": "NAME"}


def add_options(parser: argparse.ArgumentParser, kind: type[Settings]) -> None:
    """An option for every setting of `kind`, and --settings for a file of them. An option that is not given is not in
    the result of parsing."""
    left = {entry.name: entry for entry in fields(kind)}
    for title, names in {**GROUPS, "more": dict.fromkeys(left, "")}.items():
        here = [(left.pop(name), placeholder) for name, placeholder in names.items() if name in left]
        group = parser.add_argument_group(title) if here else parser
        for entry, placeholder in here:
            group.add_argument(
                f"--{entry.name.replace('_', '-')}", default=argparse.SUPPRESS, **_arguments(entry, placeholder)
            )
    group = parser.add_argument_group("all of these from a file")
    group.add_argument("--settings", metavar="FILE", help="a TOML file of settings, as a run keeps them; "
                       "options on the command line override the file")  # fmt: skip


def _arguments(entry: Field[Any], placeholder: str) -> dict[str, Any]:
    kind = str(entry.type)
    help_text = {"help": f"{entry.metadata['help']}{_default(entry)}".replace("%", "%%")}
    if kind == "bool":
        return {"action": argparse.BooleanOptionalAction, **help_text}
    metavar = placeholder or _PLACEHOLDERS[kind]
    if kind == "tuple[str, ...]":
        return {"nargs": "+", "metavar": metavar, **help_text}
    return {"type": {"int": int, "float": float, "str": str}[kind], "metavar": metavar, **help_text}


def _default(entry: Field[Any]) -> str:
    if entry.default in (MISSING, "", ()):
        return ""
    shown = {True: "on", False: "off"}[entry.default] if str(entry.type) == "bool" else f"{entry.default}"
    return f" (default: {shown})"


def given_options(args: argparse.Namespace, kind: type[Settings]) -> dict[str, Any]:
    """The settings that options were given for, by name."""
    return {entry.name: getattr(args, entry.name) for entry in fields(kind) if hasattr(args, entry.name)}


def read_options(args: argparse.Namespace, kind: type[Kind]) -> Kind:
    """The settings that the options say, over those of --settings, over the defaults.

    Raises: FileError for a file that is wrong, ValueError for an option that is.
    """
    given = given_options(args, kind)
    if args.settings:
        return load_settings(kind, Path(args.settings), **given)
    try:
        return make_settings(kind, given)
    except (TypeError, ValueError) as error:
        name, _, rest = str(error).partition(" ")
        if name not in {entry.name for entry in fields(kind)}:
            raise
        raise ValueError(f"--{name.replace('_', '-')} {rest}") from error  # as it is called here
