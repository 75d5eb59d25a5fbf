"""Names from a file, as an error lists them: never more than a reader wants to see."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import islice

MOST = 10
_LONGEST = 30


def listed(names: Collection[str], *, shown: Callable[[str], str] = repr) -> str:
    """The first ten names in quotes, each cut to 30 characters, and how many there are if there are more."""
    first = [shown(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…") for name in islice(names, MOST)]
    more = f", … ({len(names):,} in all)" if len(names) > MOST else ""
    return ", ".join(first) + more
