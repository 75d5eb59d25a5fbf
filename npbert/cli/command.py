"""Command: a dataclass for a command. Its docstring is the help, its fields are the options and arguments, `run` runs
it. Below it, its help and the reading of its words."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import Field, dataclass, field, fields
from itertools import takewhile
from typing import Any, ClassVar

from npbert.io import InputError, Place, Setting, Wanted, did_you_mean
from npbert.io.settings import KINDS, MANY, Checked, Settings, kind_of, setting

_LEFT = 26
"""Columns for the names of options in the help."""
_OPTION = re.compile(r"--?[a-zA-Z][^ =]*($|=)")


class UsageError(InputError):
    """An unexpected or missing word of the command line."""


Entry = Field[Any]
"""A field of a settings class or of a command: an option, or a positional argument."""


def argument(value: str, help_text: str, *, default: Any = "", wanted: Wanted | None = None) -> Any:
    """Return a field for a positional argument, called `value` in the help. It is required unless it has a default."""
    given = Wanted(f"a {value.lower()}", bool)
    return setting(default, help_text, value=value, wanted=wanted or given, is_argument=True)


def switch(help_text: str, *short: str) -> Any:
    """Return a field that is off by default, with an option and perhaps a short form. (Other bools have --no-…,
    too.)"""
    return setting(False, help_text, switch=short)


def subcommands(table: str) -> dict[str, tuple[str, str]]:
    """Return the path of the class and the line in the help of each subcommand, by its name. table: a line for each."""
    rows = (line.split(maxsplit=2) for line in table.strip().splitlines())
    return {name: (path, text) for name, path, text in rows}


def flag(entry: Entry) -> str:
    """Return the name on the command line: --top-k, or for an argument FOLDER."""
    return entry.metadata["value"] if "is_argument" in entry.metadata else f"--{entry.name.replace('_', '-')}"


def is_required(entry: Entry) -> bool:
    """True if there is no usable default."""
    return entry.default is not None and not entry.metadata["wanted"].holds(entry.default)


@dataclass
class Command(Checked):
    """Base class of a command. given: the values of options that are settings of `kind`, by name."""

    help: bool = switch("show this help and exit", "-h")
    quiet: bool = switch("print only results and errors: no progress, no notes", "-q")
    verbose: bool = switch("print more: the files read, and the time", "-v")
    given: dict[str, Any] = field(default_factory=dict)

    kind: ClassVar[type[Settings]] = Settings
    shared: ClassVar[dict[str, str]] = {}
    """The settings class of `given`, and its settings with an option here: their names by title in the help."""
    commands: ClassVar[dict[str, tuple[str, str]]] = {}
    """Its subcommands by name: the path of the class, imported on use, and its line in the help."""
    shares_work = False
    """True for a command that several processes can share."""

    def __init_subclass__(cls) -> None:
        """Make each command a dataclass."""
        dataclass(cls)

    @classmethod
    def groups(cls) -> dict[str, list[Entry]]:
        """Return the arguments and options by title, as in the help."""
        groups: dict[str, list[Entry]] = {"arguments": [], "options": []}
        for entry in fields(cls):
            if entry.metadata:
                groups["arguments" if "is_argument" in entry.metadata else "options"].append(entry)
        known = cls.kind.__dataclass_fields__
        for title, names in cls.shared.items():
            groups[title] = [known[name] for name in names.split() if name in known]
        return groups

    @classmethod
    def entries(cls) -> list[Entry]:
        """Return all arguments and options."""
        return [entry for group in cls.groups().values() for entry in group]

    @classmethod
    def called(cls, named: Setting | Place) -> str:
        """Return this command's name for a setting, or "" if it has none, or for a place."""
        for entry in cls.entries():
            if isinstance(named, Setting) and entry.name == named.name:
                return f"{flag(entry)} {named.value}".rstrip()
        return ""

    def run(self) -> int | None:
        """Run the command. Returns: the exit status, or None for 0. Raises: UsageError if a subcommand is missing."""
        raise UsageError(f"COMMAND is missing, wanted one of {', '.join(self.commands)}")


def _names(entry: Entry) -> list[str]:
    """Return the words for an option: `-q --quiet`, `--normalize --no-normalize` or `--top-k`."""
    name = flag(entry)
    if "switch" in entry.metadata:
        return [*entry.metadata["switch"], name]
    return [name, f"--no-{name[2:]}"] if kind_of(entry) == "bool" else [name]


def usage(prog: str, kind: type[Command]) -> str:
    """Return the usage of a command, such as `npbert embed FOLDER [FILE] [options]`."""
    words = [prog, *(["COMMAND"] if kind.commands else [])]
    for entry in kind.entries():
        name = f"{flag(entry)}{'...' if kind_of(entry) == MANY else ''}"
        if "is_argument" in entry.metadata:
            words.append(name if is_required(entry) else f"[{name}]")
        elif is_required(entry):
            words.append(f"{flag(entry)} {entry.metadata['value']}")
    return " ".join([*words, "[options]"])


def help_of(prog: str, kind: type[Command]) -> str:
    """Return the help: usage, docstring, and options, as wide as the terminal, up to 100 columns.

    The paragraphs of the docstring from `examples:`, or another such title, come after the options."""
    width = min(shutil.get_terminal_size().columns, 100) - 2
    about, *below = re.split(r"\n\n(?=[a-z]+:\n)", inspect.getdoc(kind) or "", maxsplit=1)
    parts = [f"usage: {usage(prog, kind)}"]
    parts += [textwrap.fill(part, width, break_on_hyphens=False) for part in about.split("\n\n")]
    groups = {"commands": [f"  {name:<{_LEFT // 2}}{text}" for name, (_, text) in kind.commands.items()]}
    for title, entries in kind.groups().items():
        groups[title] = [_row(entry, width) for entry in entries]
    parts += ["\n".join([f"{title}:", *rows]) for title, rows in groups.items() if rows]
    return "\n\n".join([*parts, *below])


def _row(entry: Entry, width: int) -> str:
    """Return the names of an option and its text, from column _LEFT on."""
    left, text, kind = f"  {', '.join(_names(entry))}", entry.metadata["help"], kind_of(entry)
    if "is_argument" not in entry.metadata:
        value = entry.metadata["value"] or KINDS[kind][1]
        left += f" {value} [{value} ...]" if kind == MANY else f" {value}".rstrip()
        if kind != "bool" and entry.default not in ("", (), None):
            text += f" (default: {entry.default})"
    right = textwrap.indent(textwrap.fill(text, width - _LEFT, break_on_hyphens=False), " " * _LEFT)
    return left.ljust(_LEFT) + right[_LEFT:] if len(left) < _LEFT - 1 else f"{left}\n{right}"


def values_of(words: Sequence[str], kind: type[Command]) -> dict[str, Any]:
    """Return the values of the given options and arguments, by name. Options may come anywhere; after `--`, all words
    are arguments.

    Raises: InputError for an unexpected word or a wrong value.
    """
    left = iter(words)
    groups: list[list[str]] = [[]]  # of the words before the first option, and then each option with the words after it
    for word in takewhile(lambda word: word != "--", left):
        if _OPTION.match(word):
            groups.append(list(filter(None, word.partition("=")[::2])))
        else:
            groups[-1].append(word)
    options = {name: entry for entry in kind.entries() for name in _names(entry)}
    given: dict[str, Any] = {}
    rest, *of_options = groups
    for name, *texts in of_options:
        if name not in options:
            raise UsageError(f"unknown option {name}{did_you_mean(name, options)}")
        entry = options[name]
        given[entry.name] = _take(entry, texts) if kind_of(entry) != "bool" else not name.startswith("--no-")
        rest += texts
    rest += left
    for entry in kind.groups()["arguments"]:
        if rest:
            given[entry.name] = _take(entry, rest)
    if rest:
        raise UsageError(f"unexpected argument{'s' * (len(rest) > 1)} {' '.join(map(repr, rest))}")
    return given


def _take(entry: Entry, texts: list[str]) -> Any:
    """Take an entry's value from the front of the texts: one, or if it has many, all. Raises: InputError."""
    kind = kind_of(entry)
    convert, _, wanted = KINDS[kind]
    if not texts:
        raise InputError(entry.name, "", wanted)
    taken = texts[:] if kind == MANY else texts[:1]
    del texts[: len(taken)]
    try:
        value = convert(taken if kind == MANY else taken[0])
    except ValueError:
        raise InputError(entry.name, taken[0], wanted) from None
    entry.metadata["wanted"].check(entry.name, value)
    return value
