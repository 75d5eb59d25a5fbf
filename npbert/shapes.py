"""Shapes: sizes, ids, masks and labels for the blocks of the catalogue, awkward or random."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, Sequences


class Shapes:
    """D features in H heads, feed-forward size F, V ids; ids, rows and labels are random, some of them repeated, some
    labels ignored.

    lengths (B,): of the sequences, padded to T tokens.

    mask (B, T): True for tokens   ids, types, word_labels (B, T)   next_sentence, class_labels, starts, ends (B,)
    read (M,): rows, ascending

    Without padding, for N rows, the real tokens: `sequences`.
    """

    def __init__(self, D: int, H: int, F: int, V: int, lengths: Array, T: int, rng: np.random.Generator) -> None:
        self.D, self.H, self.F, self.V = D, H, F, V
        self.sequences, self.N, B = Sequences(lengths), int(lengths.sum()), len(lengths)
        self.mask = (np.arange(T) < lengths[:, None]).astype(int)
        shortest = int(lengths.min())  # answers fit every sequence, as a check moves them to others
        self.starts = rng.integers(0, shortest, B)
        self.ends = rng.integers(self.starts, shortest)
        self.starts[rng.random(B) < 0.3] = IGNORED
        self.ends[self.starts == IGNORED] = IGNORED
        self.starts[0], self.ends[0] = 0, shortest - 1
        self.ids = rng.integers(0, V, (B, T)) * self.mask
        self.types = rng.integers(0, 2, (B, T)) * self.mask
        self.read = np.sort(rng.integers(0, self.N, int(rng.integers(1, self.N + 1))))
        self.word_labels = np.where(self.mask == 1, _labels(rng, V, (B, T)), IGNORED)
        self.next_sentence = rng.integers(0, 2, B)
        self.class_labels = _labels(rng, 5, (B,))

    def __str__(self) -> str:
        lengths = ", ".join(map(str, self.sequences.lengths))
        return f"D {self.D}, H {self.H}, F {self.F}, V {self.V}, lengths {lengths}"

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Shapes:
        """Return small random shapes: one sequence or several, some of length 1."""
        B, H = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        D, F, V = H * int(rng.integers(1 if H > 1 else 2, 4)), int(rng.integers(1, 8)), int(rng.integers(2, 10))
        lengths = rng.integers(1, 5, B)
        return cls(D, H, F, V, lengths, int(lengths.max() + rng.integers(0, 2)), rng)


def _labels(rng: np.random.Generator, limit: int, shape: tuple[int, ...]) -> Array:
    """Return labels below the limit, some ignored, but not the first."""
    labels = np.where(rng.random(shape) < 0.4, IGNORED, rng.integers(0, limit, shape))
    labels.flat[0] = limit - 1
    return labels


AWKWARD = Shapes(6, 2, 7, 9, np.array([4, 2, 2]), 5, np.random.default_rng(29575))
"""8 rows in 3 sequences; 4 are read, one of them twice. A head has 3 features. Sizes differ wherever one axis could be
confused with another."""
