"""The parser of a command line and its help, both made from the fields of a command."""

import inspect
import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import Any

from npbert.cli.command import Command, Entry, UsageError, flag, is_required
from npbert.io import KINDS, MANY, InputError, did_you_mean, kind_of

_LEFT = 26
"""Columns for the names of options in the help."""
_OPTION = re.compile(r"--?[a-zA-Z][^ =]*($|=)")


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
    end = list(words).index("--") if "--" in words else len(words)
    groups: list[list[str]] = [[]]  # of the words before the first option, and then each option with the words after it
    for word in words[:end]:
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
    rest += words[end + 1 :]
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
    if entry.metadata["wanted"]:
        entry.metadata["wanted"].check(entry.name, value)
    return value
