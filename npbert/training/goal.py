"""Goal: the number by which one model is better than another."""

from __future__ import annotations

import math
from typing import NamedTuple


class Goal(NamedTuple):
    """Which number of the evaluation says how good a model is, and whether more of it is better.

    more_is_better: by default less of a loss is better, and more of all else.
    """

    name: str
    more_is_better: bool | None = None

    def is_reached(self, value: float, best: float | None) -> bool:
        """Whether `value` is better than the best so far. NaN, as a correlation may be, is worse than any number."""
        if best is None:
            return True
        if math.isnan(best):
            return not math.isnan(value)
        more = not self.name.endswith("loss") if self.more_is_better is None else self.more_is_better
        return value > best if more else value < best
