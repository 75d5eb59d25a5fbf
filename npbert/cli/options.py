"""Settings classes as options of the command line."""

from __future__ import annotations

import argparse
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, TypeVar

from npbert.training.settings import Settings, load_settings, make_settings

Kind = TypeVar("Kind", bound=Settings)


def add_options(parser: argparse.ArgumentParser, kind: type[Settings]) -> None:
    """An option for every setting of `kind`, and --settings for a file of them. An option that is not given is not in
    the result of parsing."""
    parser.add_argument("--settings", metavar="FILE", help="a TOML file of settings; options come before it")
    for entry in fields(kind):
        parser.add_argument(f"--{entry.name.replace('_', '-')}", default=argparse.SUPPRESS, **_arguments(entry))


def _arguments(entry: Field[Any]) -> dict[str, Any]:
    default = "" if entry.default in (MISSING, "", ()) else f" ({entry.default})"
    help_text = {"help": f"{entry.metadata['help']}{default}".replace("%", "%%")}
    if entry.type == "bool":
        return {"action": argparse.BooleanOptionalAction, **help_text}
    if entry.type == "tuple[str, ...]":
        return {"nargs": "+", "metavar": "X", **help_text}
    return {"type": {"int": int, "float": float, "str": str}[str(entry.type)], "metavar": "X", **help_text}


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
    return make_settings(kind, given)
