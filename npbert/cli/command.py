"""Command: a command is a dataclass. Its docstring is its help, its fields are what it takes, and `run` does it."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar

from npbert.io.errors import InputError, Place, Setting, Wanted
from npbert.io.settings import Settings, check_values


class UsageError(InputError):
    """A word of the command line that has no place there."""


Entry = Field[Any]
"""A field of a settings class, or of a command: an option, or an argument, which has no name on the command line."""


def entries_of(kind: type[Settings] | type[Command]) -> list[Entry]:
    """The fields that can be given."""
    return [entry for entry in fields(kind) if entry.metadata]


def argument(value: str, help_text: str, *, default: Any = "", wanted: Wanted | None = None) -> Any:
    """A field that is an argument, called `value` in the help. It must be given, unless there is a default."""
    must_be = Wanted(f"a {value.lower()}", bool) if default in ("", ()) else None
    metadata = {"help": help_text, "value": value, "wanted": wanted or must_be, "is_argument": True}
    return field(default=default, metadata=metadata)


def switch(help_text: str, *short: str) -> Any:
    """A field that is off unless its option is there, which may have a short form, too. (Other bools have an option
    --no-… as well.)"""
    return field(default=False, metadata={"help": help_text, "value": "", "wanted": None, "switch": short})


def flag(entry: Entry) -> str:
    """The entry as it is written: --top-k, or for an argument the word in the help, FOLDER."""
    value: str = entry.metadata["value"]
    return value if "is_argument" in entry.metadata else f"--{entry.name.replace('_', '-')}"


def is_required(entry: Entry) -> bool:
    """True if there is no default that would do."""
    wanted = entry.metadata["wanted"]
    return bool(wanted) and entry.default is not None and not wanted.holds(entry.default)


@dataclass
class Command:
    """What every command takes. given: the values of those options that are settings of something else, by name."""

    help: bool = switch("show this help and end", "-h")
    quiet: bool = switch("show no progress and no notes: only results and errors", "-q")
    verbose: bool = switch("say more: which files are read, and how long it took", "-v")
    given: dict[str, Any] = field(default_factory=dict)

    commands: ClassVar[dict[str, tuple[str, str, str]]] = {}
    """The commands below it by name: the class of each, in its module, which is imported when it is asked for; the
    extra without which it cannot be used, if any; and its line in the help."""
    below: ClassVar[str] = "command"
    shares_work: ClassVar[bool] = False
    """True for a command whose work several processes share."""
    also_called: ClassVar[dict[str, str]] = {}
    """Names that errors have for what the command takes, where they are not its own."""

    def __post_init__(self) -> None:
        """Raise InputError for what must be given, and is not."""
        check_values(self)

    @classmethod
    def groups(cls) -> dict[str, list[Entry]]:
        """Its arguments and options by title, as its help lists them."""
        groups: dict[str, list[Entry]] = {"arguments": [], "options": []}
        for entry in entries_of(cls):
            groups["arguments" if "is_argument" in entry.metadata else "options"].append(entry)
        return groups

    @classmethod
    def entries(cls) -> list[Entry]:
        """All arguments and options."""
        return [entry for group in cls.groups().values() for entry in group]

    @classmethod
    def called(cls, named: Setting | Place) -> str:
        """What this command calls a setting; "" for one that it does not have."""
        if isinstance(named, Place):
            return str(named)
        name = cls.also_called.get(named.name, named.name)
        flags = [flag(entry) for entry in cls.entries() if entry.name == name]
        return " ".join([*flags, *named.values]) if flags else ""

    def run(self) -> int:
        """Do it. Returns: the exit status. Raises: UsageError where one of the commands below it has to be named."""
        raise UsageError(f"name a {self.below}, one of {', '.join(self.commands)}")
