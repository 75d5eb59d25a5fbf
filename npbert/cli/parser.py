"""The parser of a command line and its help, both made from the fields of a command."""

import inspect
import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import Any

from npbert.cli.command import Command, Entry, UsageError, flag, is_required
from npbert.io.errors import InputError
from npbert.io.messages import did_you_mean

_LEFT = 26
"""Columns for the names of options in the help."""
_OPTION = re.compile(r"--?[a-zA-Z][^ =]*($|=)")
_MANY = "tuple[str, ...]"
_KINDS: dict[str, tuple[str, Any, str]] = {
    "bool": ("", None, ""),
    "int": (" N", int, "a whole number"),
    "float": (" NUMBER", float, "a number"),
    "str": (" NAME", str, "a name"),
    _MANY: (" NAME", str, "at least one"),
}
"""For each type: its value in the help, the value of a text, and the expectation in an error."""


def _kind(entry: Entry) -> str:
    return str(entry.type).removesuffix(" | None")


def _names(entry: Entry) -> list[str]:
    """Return the words for an option: `-q --quiet`, `--normalize --no-normalize` or `--top-k`."""
    short = entry.metadata.get("switch", ())
    has_opposite = _kind(entry) == "bool" and "switch" not in entry.metadata
    return [*short, flag(entry), *([f"--no-{flag(entry)[2:]}"] if has_opposite else [])]


def usage(prog: str, kind: type[Command]) -> str:
    """Return the usage of a command, such as `npbert embed FOLDER [FILE] [options]`."""
    words = [prog, *(["COMMAND"] if kind.commands else [])]
    for entry in kind.entries():
        name = f"{flag(entry)}{'...' if _kind(entry) == _MANY else ''}"
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
    rows = [f"  {name:<{_LEFT // 2}}{text}" for name, (*_, text) in kind.commands.items()]
    groups = {"commands": rows}
    for title, entries in kind.groups().items():
        groups[title] = [_row(entry, width) for entry in entries]
    parts += ["\n".join([f"{title}:", *rows]) for title, rows in groups.items() if rows]
    return "\n\n".join([*parts, *below, ""]).removesuffix("\n")


def _row(entry: Entry, width: int) -> str:
    """Return the names of an option and its text, from column _LEFT on."""
    text, is_argument = entry.metadata["help"], "is_argument" in entry.metadata
    if entry.default not in ("", (), None) and not is_argument and "switch" not in entry.metadata:
        shown = {"True": "on", "False": "off"}.get(str(entry.default), entry.default)
        text += f" (default: {shown})"
    value = entry.metadata["value"]
    left = f"  {', '.join(_names(entry))}"
    if not is_argument:
        name = f" {value}" if value else _KINDS[_kind(entry)][0]
        left += f"{name} [{name.strip()} ...]" if _kind(entry) == _MANY else name
    right = textwrap.indent(textwrap.fill(text, width - _LEFT, break_on_hyphens=False), " " * _LEFT)
    return left.ljust(_LEFT) + right[_LEFT:] if len(left) < _LEFT - 1 else f"{left}\n{right}"


def values_of(words: Sequence[str], kind: type[Command]) -> dict[str, Any]:
    """Return the values of the given options and arguments, by name. Options may come anywhere; after `--`, all words
    are arguments.

    Raises: InputError for an unexpected word or a wrong value.
    """
    end = list(words).index("--") if "--" in words else len(words)
    rest, found = list(words[:end]), []
    arguments = [entry for entry in kind.entries() if "is_argument" in entry.metadata]
    options = {name: entry for entry in kind.entries() if entry not in arguments for name in _names(entry)}
    given: dict[str, Any] = {}
    while rest:
        word = rest.pop(0)
        if not _OPTION.match(word):
            found.append(word)
            continue
        name, equals, text = word.partition("=")
        if name not in options:
            raise UsageError(f"unknown option {name}{did_you_mean(name, options)}")
        entry = options[name]
        if _kind(entry) == "bool":
            if equals:
                raise UsageError(f"{name} takes no value, and has {text!r}; wanted {name} alone")
            given[entry.name] = not name.startswith("--no-")
        elif equals:
            given[entry.name] = _value(entry, [text])
        else:
            count = next((n for n, word in enumerate(rest) if _OPTION.match(word)), len(rest))
            given[entry.name] = _value(entry, _taken(entry, rest, count))
    found += words[end + 1 :]
    for entry in arguments:
        if found:
            given[entry.name] = _value(entry, _taken(entry, found, len(found)))
    if found:
        raise UsageError(f"unexpected argument{'s' * (len(found) > 1)} {' '.join(map(repr, found))}")
    return given


def _taken(entry: Entry, words: list[str], most: int) -> list[str]:
    """Take the texts of an entry from the front of the words: one, or if it has many, the first `most`."""
    count = most if _kind(entry) == _MANY else min(1, most)
    taken = words[:count]
    del words[:count]
    return taken


def _value(entry: Entry, texts: list[str]) -> Any:
    """Return the value of the texts for an entry. Raises: InputError."""
    _, convert, wanted = _KINDS[_kind(entry)]
    if not texts:
        raise InputError(what=entry.name, got="", wanted=wanted)
    try:
        value = tuple(texts) if _kind(entry) == _MANY else convert(texts[0])
    except ValueError:
        raise InputError(what=entry.name, got=texts[0], wanted=wanted) from None
    if entry.metadata["wanted"]:
        entry.metadata["wanted"].check(entry.name, value)
    return value
