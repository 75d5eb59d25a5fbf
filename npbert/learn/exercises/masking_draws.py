"""Exercise 12: what comes out of many draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED

CALLS, PROBABILITY, MOST = 1500, 0.4, 9
OTHERS = ((0.4, 20, 11), (0.2, 20, 6), (1.0, 99, 21))
"""probability, max_predictions and `count` of other calls."""

_SIGMAS = 6  # so far a share may be off by chance


@dataclass(frozen=True)
class Draws:
    """What came out of many calls.

    ids: of the words, (T,). is_word: which of them may be chosen. masked, labels: for each call what stands at each
    place, and the labels, (calls, T). wanted: so many are to be chosen. counts: how many were, in the calls of OTHERS.
    words: the ids of all ordinary words.
    """

    ids: Array
    is_word: Array
    masked: Array
    labels: Array
    wanted: int
    counts: list[int]
    words: Array
    mask_id: int
    pad_id: int

    @cached_property
    def chosen(self) -> Array:
        """Which places have a label, in each call."""
        return self.labels != IGNORED

    @cached_property
    def is_mask(self) -> Array:
        """Which of the chosen became [MASK]."""
        return (self.masked == self.mask_id) & self.chosen

    @property
    def true(self) -> Array:
        """The ids, as often as there are calls."""
        return np.broadcast_to(self.ids, self.labels.shape)


def is_off(found: Array, wanted: Any, count: Any) -> Array:
    """Whether a share is farther from what is wanted than chance allows. count: of how many it is the share."""
    return np.abs(found - wanted) > _SIGMAS * np.sqrt(wanted * (1 - np.asarray(wanted)) / count) + 1e-9
