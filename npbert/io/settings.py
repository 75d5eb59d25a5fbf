"""Settings: values with a help and a default, defined once for Python, the command line and files."""

from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from npbert.io.errors import Wanted

MANY = "tuple[str, ...]"
KINDS = {
    "bool": (bool, "", ""),
    "int": (int, "N", "a whole number"),
    "float": (float, "NUMBER", "a number"),
    "str": (str, "NAME", "a name"),
    MANY: (tuple, "NAME", "at least one"),
}
"""For each type of a setting, as it is written: the type, its value in the help, and the expectation in an error."""


ANY = Wanted("any value", lambda value: True)


def setting(default: Any, help_text: str, *, value: str = "", wanted: Wanted = ANY, **more: Any) -> Any:
    """Return a field of a settings class.

    value: the word for its value in the help, by default from its type   wanted: the allowed values   more: of its
    metadata
    """
    return field(default=default, metadata={"help": help_text, "value": value, "wanted": wanted, **more})


def kind_of(entry: Field[Any]) -> str:
    """Return the type of a setting, without `| None`: a key of KINDS."""
    return str(entry.type).removesuffix(" | None")


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


class Checked:
    """Base class of dataclasses whose fields are checked by their metadata."""

    def __post_init__(self) -> None:
        """Store each Path as a str and each list as a tuple, then check all values.

        Raises: TypeError for a value of another type than the setting's, InputError for a wrong one.
        """
        for entry in fields(self):  # type: ignore[arg-type]  # a dataclass
            given, kind = getattr(self, entry.name), kind_of(entry)
            if not entry.metadata or (given is None and kind != entry.type):
                continue
            value = tuple(map(_as_text, given)) if isinstance(given, tuple | list) else _as_text(given)
            object.__setattr__(self, entry.name, value)
            is_wrong_bool = isinstance(value, bool) and kind != "bool"
            is_wrong_tuple = isinstance(value, tuple) and not all(isinstance(part, str) for part in value)
            allowed = (int, float) if kind == "float" else KINDS[kind][0]
            if is_wrong_bool or is_wrong_tuple or not isinstance(value, allowed):
                raise TypeError(f"{entry.name} is {given!r}, wanted {kind}")
            entry.metadata["wanted"].check(entry.name, value)


@dataclass(frozen=True, kw_only=True)
class Settings(Checked):
    """Base class of settings. A Path is stored as a str, and a list as a tuple (`Checked`). A type may end in
    `| None`, for a missing setting. (In a module with `from __future__ import annotations`.)
    """
