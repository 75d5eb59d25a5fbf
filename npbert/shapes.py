"""Shapes: sizes, ids, masks and labels for the blocks of the catalogue, awkward or random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, Sequences


@dataclass(frozen=True)
class Shapes:
    """D features in H heads, feed-forward size F, V ids. mask (B, T): True for tokens. For a batch:

    ids, types, word_labels (B, T)   next_sentence, class_labels, starts, ends (B,)   read (M,): rows, ascending

    Without padding, for N rows: `sequences`.
    """

    D: int
    H: int
    F: int
    V: int
    mask: Array
    ids: Array
    types: Array
    read: Array
    word_labels: Array
    next_sentence: Array
    class_labels: Array
    starts: Array
    ends: Array

    @property
    def N(self) -> int:
        """The number of rows, the real tokens."""
        return int(self.mask.sum())

    @property
    def sequences(self) -> Sequences:
        """The Sequences of the rows."""
        return Sequences(self.mask.sum(axis=1))

    def __str__(self) -> str:
        lengths = ", ".join(map(str, self.sequences.lengths))
        return f"D {self.D}, H {self.H}, F {self.F}, V {self.V}, lengths {lengths}"

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Shapes:
        """Return small random shapes: one sequence or several, some of length 1."""
        B, H = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        D, F, V = H * int(rng.integers(1 if H > 1 else 2, 4)), int(rng.integers(1, 8)), int(rng.integers(2, 10))
        lengths = rng.integers(1, 5, B)
        return cls.of_sizes(D, H, F, V, lengths, int(lengths.max() + rng.integers(0, 2)), rng)

    @classmethod
    def of_sizes(cls, D: int, H: int, F: int, V: int, lengths: Array, T: int, rng: np.random.Generator) -> Shapes:
        """Return shapes of these sizes, with random ids, rows and labels, some of them repeated, some labels ignored.

        lengths (B,): of the sequences, padded to T tokens.
        """
        B, N = len(lengths), int(lengths.sum())
        mask = (np.arange(T) < lengths[:, None]).astype(int)
        shortest = int(lengths.min())  # answers fit every sequence, as a check moves them to others
        starts = rng.integers(0, shortest, B)
        ends = rng.integers(starts, shortest)
        starts[rng.random(B) < 0.3] = IGNORED
        ends[starts == IGNORED] = IGNORED
        starts[0], ends[0] = 0, shortest - 1
        return cls(
            D,
            H,
            F,
            V,
            mask,
            rng.integers(0, V, (B, T)) * mask,
            rng.integers(0, 2, (B, T)) * mask,
            np.sort(rng.integers(0, N, int(rng.integers(1, N + 1)))),
            np.where(mask == 1, _labels(rng, V, (B, T)), IGNORED),
            rng.integers(0, 2, B),
            _labels(rng, 5, (B,)),
            starts,
            ends,
        )


def _labels(rng: np.random.Generator, limit: int, shape: tuple[int, ...]) -> Array:
    """Return labels below the limit, some ignored, but not the first."""
    labels = np.where(rng.random(shape) < 0.4, IGNORED, rng.integers(0, limit, shape))
    labels.flat[0] = limit - 1
    return labels


AWKWARD = Shapes.of_sizes(6, 2, 7, 9, np.array([4, 2, 2]), 5, np.random.default_rng(29575))
"""8 rows in 3 sequences; 4 are read, one of them twice. A head has 3 features. Sizes differ wherever one axis could be
confused with another."""
