"""Place: where in an epoch a batch is."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """The number of a group of the data that is in memory at once, and of a batch in that group; both from 0."""

    group: int = 0
    batch: int = 0


START = Place()
