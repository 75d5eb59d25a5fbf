"""The parser of a command line: options by argparse, and the arguments between them."""

import inspect
import re
import shutil
import textwrap
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction, RawTextHelpFormatter
from collections.abc import Sequence
from typing import Any, NoReturn

from npbert.cli.command import Command, Entry, UsageError, flag, is_required
from npbert.io.errors import InputError
from npbert.io.messages import did_you_mean

_LEFT = 26
"""Columns for the names of options in the help."""
_OPTION = re.compile(r"--?[a-zA-Z][^ ]*$|--?[a-zA-Z][^ =]*=")
_KINDS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "bool": ({"action": BooleanOptionalAction}, bool, ""),
    "int": ({"metavar": "N"}, int, "a whole number"),
    "float": ({"metavar": "NUMBER"}, float, "a number"),
    "str": ({"metavar": "NAME"}, str, ""),
    "tuple[str, ...]": ({"metavar": "NAME", "nargs": "+"}, tuple, ""),
}
"""The value of a text for each type, and the expectation in its error."""


def usage(prog: str, kind: type[Command]) -> str:
    """Return the usage of a command, such as `npbert embed FOLDER [FILE] [options]`."""
    words = [prog, *(["COMMAND"] if kind.commands else [])]
    for entry in kind.entries():
        name = f"{flag(entry)}{'...' * _takes_many(entry)}"
        if "is_argument" in entry.metadata:
            words.append(name if is_required(entry) else f"[{name}]")
        elif is_required(entry):
            words.append(f"{flag(entry)} {entry.metadata['value']}")
    return " ".join([*words, "[options]"])


def help_of(prog: str, kind: type[Command]) -> str:
    """Return the help: usage, docstring, and options, as wide as the terminal, up to 100 columns.

    The paragraphs of the docstring from `examples:`, or another such title, come after the options."""
    about, *below = re.split(r"\n\n(?=[a-z]+:\n)", inspect.getdoc(kind) or "", maxsplit=1)
    parser = _parser(kind)
    parser.usage, parser.epilog = usage(prog, kind), "".join(below)
    parser.description = "\n\n".join(
        textwrap.fill(part, _width(), break_on_hyphens=False) for part in about.split("\n\n")
    )
    return parser.format_help()


def _width() -> int:
    return min(shutil.get_terminal_size().columns, 100) - 2


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _parser(kind: type[Command], *, has_arguments: bool = True) -> ArgumentParser:
    """Return the parser of the options. It has the arguments only for its help, as argparse needs them side by side."""
    parser = _Parser(
        formatter_class=lambda prog: RawTextHelpFormatter(prog, max_help_position=_LEFT, width=_width()),
        allow_abbrev=False,  # the meaning of an abbreviation could change with the next option
        add_help=False,
    )
    if kind.commands:
        rows = [f"{name:<{_LEFT // 2}}{text}" for name, (*_, text) in kind.commands.items()]
        parser.add_argument_group("commands", "\n".join(rows))
    for title, entries in kind.groups().items():
        group = parser.add_argument_group(title)
        for entry in entries:
            if has_arguments or "is_argument" not in entry.metadata:
                _add(group, entry)
    return parser


def _add(group: Any, entry: Entry) -> None:
    how, _, _ = _kind(entry)
    text, value, short = entry.metadata["help"], entry.metadata["value"], entry.metadata.get("switch")
    if short is not None:
        how = {"action": "store_true"}
    elif value:
        how = {**how, "metavar": value}
    if entry.default not in ("", (), None) and short is None and "is_argument" not in entry.metadata:
        shown = {"True": "on", "False": "off"}.get(str(entry.default), entry.default)
        text += f" (default: {shown})"
    text = textwrap.fill(text, _width() - _LEFT, break_on_hyphens=False)  # bert-tiny stays one word
    group.add_argument(*(short or ()), flag(entry), default=SUPPRESS, help=text.replace("%", "%%"), **how)


def _kind(entry: Entry) -> tuple[dict[str, Any], Any, str]:
    return _KINDS[str(entry.type).removesuffix(" | None")]


def _takes_many(entry: Entry) -> bool:
    return "nargs" in _kind(entry)[0]


def first_argument(words: Sequence[str], kind: type[Command]) -> str | None:
    """Return the first word that is neither an option nor a value of one."""
    _, rest = _parser(kind, has_arguments=False).parse_known_args(words)
    return next((word for word in rest if not word.startswith("-")), None)


def values_of(words: Sequence[str], kind: type[Command]) -> dict[str, Any]:
    """Return the values of the given options and arguments, by name.

    Raises: InputError for an unexpected word or a wrong value.
    """
    arguments = kind.groups()["arguments"]
    end = list(words).index("--") if "--" in words else len(words)
    found, rest = _parser(kind, has_arguments=False).parse_known_args(words[:end])
    for word in rest:
        name = word.partition("=")[0]
        if _OPTION.match(word):
            raise UsageError(f"unknown option {name}{did_you_mean(name, map(flag, kind.entries()))}")
    rest += words[end + 1 :]
    given = vars(found)
    lacking = sum(map(is_required, arguments)) - len(rest)
    for texts in reversed(list(given.values())):  # an option with many values leaves the last ones
        while lacking > 0 and isinstance(texts, list) and len(texts) > 1:
            rest.insert(0, texts.pop())
            lacking -= 1
    for entry in arguments:
        if rest:
            count = len(rest) if _takes_many(entry) else 1
            given[entry.name] = rest if _takes_many(entry) else rest[0]
            rest = rest[count:]
    if rest:
        raise UsageError(f"unexpected argument{'s' * (len(rest) > 1)} {' '.join(map(repr, rest))}")
    return {entry.name: _value(entry, given[entry.name]) for entry in kind.entries() if entry.name in given}


def _value(entry: Entry, given: Any) -> Any:
    """Return the value of the texts for an entry. Raises: InputError."""
    _, convert, wanted = _kind(entry)
    if entry.metadata["value"] in ("FOLDER", "FILE") and "" in (given, *given):  # "" is the current folder
        raise InputError(what=entry.name, got="", wanted=f"the name of a {entry.metadata['value'].lower()}")
    try:
        value = convert(given)
    except ValueError:
        raise InputError(what=entry.name, got=given, wanted=wanted) from None
    if entry.metadata["wanted"]:
        entry.metadata["wanted"].check(entry.name, value)
    return value
