"""Exercise 5, softmax with cross-entropy: what backward has, and what an answer is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED

LABELS = np.array([IGNORED, 4, 0, 2, IGNORED, 4, 2, 3, IGNORED, 4, IGNORED])


class Kept(NamedTuple):
    """What forward kept."""

    is_target: Array
    targets: Array
    scores: Array
    largest: Array
    total: Array

    @property
    def p(self) -> Array:
        """(n, C)"""
        return np.asarray(np.exp(self.scores - self.largest) / self.total)

    @property
    def onehot(self) -> Array:
        """(n, C)"""
        return np.asarray(np.eye(self.scores.shape[1])[self.targets])

    def placed(self, rows: Array) -> Array:
        """The n rows where they came from, and 0 in the others (N, C)."""
        dlogits = np.zeros((len(self.is_target), rows.shape[1]))
        dlogits[self.is_target] = rows
        return dlogits


Rows = Callable[[Kept], Array]
"""The gradient of each row, (N, C), but for its share in the loss."""
Share = Callable[[float, Kept], float]
"""The share of each row in the loss, times dloss."""


class WrongRows(NamedTuple):
    """A mistake in the gradient of each row."""

    name: str
    says: str
    because: str
    rows: Rows


class WrongShare(NamedTuple):
    """A mistake in the share of each row."""

    name: str
    says: str
    because: str
    share: Share


def right_rows(kept: Kept) -> Array:
    """p − onehot, where the rows came from."""
    return kept.placed(kept.p - kept.onehot)


def right_share(dloss: float, kept: Kept) -> float:
    """dloss / n."""
    return dloss / len(kept.targets)
