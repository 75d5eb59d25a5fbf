"""Command: a dataclass for a command. Its docstring is the help, its fields are the options and arguments, `run` runs
it."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar

from npbert.io import InputError, Place, Setting, Settings, Wanted, check_values, setting


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


def flag(entry: Entry) -> str:
    """Return the name on the command line: --top-k, or for an argument FOLDER."""
    value: str = entry.metadata["value"]
    return value if "is_argument" in entry.metadata else f"--{entry.name.replace('_', '-')}"


def is_required(entry: Entry) -> bool:
    """True if there is no usable default."""
    wanted = entry.metadata["wanted"]
    return bool(wanted) and entry.default is not None and not wanted.holds(entry.default)


@dataclass
class Command:
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
    shares_work: ClassVar[bool] = False
    """True for a command that several processes can share."""

    def __init_subclass__(cls) -> None:
        """Make each command a dataclass."""
        dataclass(cls)

    def __post_init__(self) -> None:
        """Raise InputError for a missing argument or option."""
        check_values(self)

    @classmethod
    def groups(cls) -> dict[str, list[Entry]]:
        """Return the arguments and options by title, as in the help."""
        groups: dict[str, list[Entry]] = {"arguments": [], "options": []}
        for entry in fields(cls):
            if entry.metadata:
                groups["arguments" if "is_argument" in entry.metadata else "options"].append(entry)
        known = {entry.name: entry for entry in fields(cls.kind)}
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
