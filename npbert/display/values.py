"""in_short: an array by its shape and a few numbers. shown_in_short: so are shown the fields of what models return."""

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from npbert.display.sheet import Row, Sheet, Shown

Kind = TypeVar("Kind", bound=type)


def in_short(value: Any) -> str:
    """An array by its shape, its dtype and a few numbers; anything else as Python has it."""
    if isinstance(value, np.ndarray):
        few = np.array2string(value, threshold=8, edgeitems=2, precision=4, max_line_width=10**6)
        return f"{value.shape} of {value.dtype}: {' '.join(few.split())}"
    return str(value)


def shown_in_short(kind: Kind) -> Kind:
    """A decorator of a named tuple or a dataclass: its sheet has a row for each field."""

    def sheet(self: Any) -> Sheet:
        names = [field.name for field in fields(self)] if is_dataclass(self) else self._fields
        return Sheet(type(self).__name__, rows=[Row(name, (in_short(getattr(self, name)),)) for name in names])

    for name, function in (("_sheet", sheet), ("__repr__", Shown.__repr__), ("_repr_html_", Shown._repr_html_)):
        setattr(kind, name, function)
    return kind
