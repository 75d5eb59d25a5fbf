"""The parser of a command: a short usage, help that fits a terminal, and errors that say what was probably meant."""

from __future__ import annotations

import argparse
import inspect
import itertools
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from npbert.cli.log import QUIET, VERBOSE, speaks
from npbert.io.errors import Fields, InputError, Place, Setting, Wanted, at_least
from npbert.io.messages import did_you_mean, in_words, printable

Run = Callable[[argparse.Namespace], int]
"""What a command does with its arguments; the exit status."""


@dataclass(frozen=True)
class Value:
    """What an option takes: the text of a number, of a name. wanted: which of these; None for all."""

    kind: Callable[[str], Any]
    wanted: Wanted | None = None

    def __call__(self, text: str) -> Any:
        """The value. Raises: InputError."""
        try:
            value = self.kind(text)
        except ValueError:
            raise InputError(got=text, wanted=_KINDS[self.kind]) from None
        if self.wanted:
            self.wanted.check("", value)
        return value


_KINDS: dict[Any, str] = {int: "a whole number", float: "a number"}
COUNT = Value(int, at_least(1))


class Parser(argparse.ArgumentParser):
    """A command. Its options are written out in full: an abbreviation could mean another one in the next version."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Formatter, **options}, allow_abbrev=False, add_help=False)
        self._positionals.title = "arguments"
        self.register("type", int, Value(int))
        self.register("type", float, Value(float))

    def take(self, add: Callable[[Parser], Run]) -> None:
        """Take from `add` the options, what is to be done, and the help: its docstring, whose last paragraphs, from
        `examples:` or another such title on, stand below the options."""
        self.description, *below = re.split(r"\n\n(?=[a-z]+:\n)", inspect.getdoc(add) or "", maxsplit=1)
        self.epilog = "".join(below)
        self.set_defaults(run=add(self))

    def finish(self) -> None:
        """Add what every command has, below its own options, and the usage that its errors begin with."""
        if self.usage is None:
            places = [_place(action) for action in self._actions if not action.option_strings]
            wanted = [action for action in self._actions if action.option_strings and action.required]
            options = [f"{action.option_strings[0]} {_name(action)}" for action in wanted]
            self.usage = " ".join([self.prog, *places, *options, "[options]"])
        self.set_defaults(parser=self)
        group = self.add_argument_group("help and messages")
        group.add_argument("-h", "--help", action="help", help="show this help and end")
        unless_given: dict[str, Any] = {"default": argparse.SUPPRESS}  # or a command would undo `npbert -q command`
        for flags, level, text in (
            (("-q", "--quiet"), QUIET, "show no progress and no notes: only results and errors"),
            (("-v", "--verbose"), VERBOSE, "say more: which files are read, and how long it took"),
        ):
            group.add_argument(*flags, dest="level", action="store_const", const=level, help=text, **unless_given)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments, all of which must be known: what is not is said by the command that it was given to.

        Raises: SystemExit, with status 2.
        """
        args = self._options_first(sys.argv[1:] if args is None else list(args))
        namespace, rest = super().parse_known_args(args, namespace)
        for action in self._actions:
            if action.metavar in ("FOLDER", "FILE") and "" in _values(namespace, action):
                self.error(f"the name of {'a folder' if action.metavar == 'FOLDER' else 'a file'} is empty")
        if rest:
            self.error(f"there is no place for {' '.join(repr(arg) for arg in rest if arg != '--')}")
        return namespace, rest

    def _options_first(self, args: Sequence[str]) -> list[str]:
        """The options, each with its values, and then the other arguments, between which they may stand. What follows
        the name of a command is for that command's own parser. Raises: SystemExit for an option that is not known."""
        options: list[list[str]] = []
        others: list[str] = []
        values = 0  # how many more the last option takes
        for number, arg in enumerate(args):
            if re.match(r"--?[a-zA-Z][^ ]*$|--?[a-zA-Z][^ =]*=", arg):
                options.append([arg])
                values = self._count_values(arg)
            elif arg == "--":
                others += args[number + 1 :]
                break
            elif values > 0:
                options[-1].append(arg)
                values -= 1
            elif self._subparsers is not None:
                return [*itertools.chain(*options), *args[number:]]
            else:
                others.append(arg)
        wanted = sum(not action.option_strings and action.nargs not in ("?", "*") for action in self._actions)
        for option in reversed(options):  # what takes many values leaves the last ones, where they are missing
            end = max(2, len(option) - max(0, wanted - len(others)))
            others = option[end:] + others
            del option[end:]
        return [*itertools.chain(*options), *(["--", *others] if others else [])]

    def _count_values(self, option: str) -> int:
        """The most arguments behind an option that can be its values."""
        known = self._option_string_actions
        name, equals, _ = option.partition("=")
        if name not in known and not name.startswith("--"):
            name = name[:2] if name[:2] in known else name  # -qv is -q -v
        if name not in known:
            names = [name for name in known if name.startswith("--")]
            self.error(f"there is no option {name}{did_you_mean(name, names)}")
        most: dict[int | str | None, int] = {None: 1, "+": sys.maxsize}
        return 0 if equals else most.get(known[name].nargs, 0)

    def say(self, problem: Warning | BaseException) -> str:
        """An error or a warning in words for a user of this command."""
        if isinstance(problem, Fields):
            problem.words = self._words
        return in_words(problem)

    def _words(self, named: Setting | Place) -> str:
        """A place, or the option of this command for a setting; "" where there is none."""
        if isinstance(named, Place):
            return str(named)
        options = [action.option_strings or [_name(action)] for action in self._actions if action.dest == named.name]
        return shlex.join([options[0][0], *named.values]) if options else ""

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        """The value of an option. Raises: ArgumentError that names the option for a text that is none."""
        try:
            return self._registry_get("type", action.type, action.type)(text)
        except InputError as error:
            error.what = action.dest
            raise argparse.ArgumentError(None, self.say(error)) from None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse does it for a command, in words, with what was probably meant. (An option has a Value.)"""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        meant = did_you_mean(str(value), choices) or f", wanted one of {', '.join(choices)}"
        raise argparse.ArgumentError(None, f"there is no command {value!r}{meant}")

    def error(self, message: str) -> NoReturn:
        """Say how the command is used, and what was wrong, and end with status 2. Of several processes one speaks."""
        more = f"{'':<7}{self.prog} --help says more\n{self.prog}: error: {printable(message)}\n"
        self.exit(2, f"{self.format_usage()}{more}" if speaks() else None)


class _Formatter(argparse.HelpFormatter):
    """Help for a terminal: as wide as it is, up to 100 columns. What has indented lines stays as it was written."""

    def __init__(self, prog: str, **options: Any) -> None:
        options.setdefault("width", min(shutil.get_terminal_size().columns, 100) - 2)
        super().__init__(prog, **{"max_help_position": 26, **options})

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = [part if "\n  " in part else _wrapped(part, width) for part in text.split("\n\n")]
        return "\n\n".join(paragraphs)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(text, width).split("\n")

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if isinstance(action, argparse.BooleanOptionalAction):
            return f"--[no-]{action.option_strings[0].removeprefix('--')}"
        return super()._format_action_invocation(action)


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(" ".join(text.split()), width, break_on_hyphens=False)  # bert-tiny stays one word


def _values(namespace: Any, action: argparse.Action) -> list[Any]:
    """The values that were given for an option."""
    given = getattr(namespace, action.dest, None)
    return given if isinstance(given, list) else [given]


def _place(action: argparse.Action) -> str:
    """An argument without a name of its own, in the usage."""
    name = _name(action)
    return {"?": f"[{name}]", "*": f"[{name}...]", "+": f"{name}..."}.get(str(action.nargs), name)


def _name(action: argparse.Action) -> str:
    return str(action.metavar or (action.option_strings or [action.dest])[0])
