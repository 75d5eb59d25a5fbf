"""Cuts a batch into parts, between its sequences. The cut depends on the sizes of batch and model alone, so the number
of threads or processes changes no bit."""

import itertools
import math

import numpy as np

from npbert.compute.array import Array

PARTS = (2, 4)
"""The possible numbers of parts, other than one: on two threads, three parts take as long as four."""

KEPT = 16
"""The numbers that a layer keeps for backward, for each of the D numbers of a row."""

SPARE = 2**23
"""The size of the gradients allowed above that of the kept values: 32 MiB in float32."""

FEW = 2**13
"""Two parts need a hidden state of 8 times this size, four parts of 64 times; below, they cost more than they save."""

ROWS = 128
"""The least rows of a part in inference: for fewer, BLAS spends more time to pack the weights than a part saves."""

LARGEST = 400_000
"""The largest hidden state of a part in bounded memory: a larger one is not faster."""


def training_parts(rows: int, layers: int, width: int, parameters: int) -> int:
    """Return the number of parts of a batch in training: 1, 2 or 4.

    Each part has a separate gradient, and products of fewer rows are slower. So all gradients together may take little
    more memory than the kept values, and four parts need far more rows than two.

    rows: the real tokens of the batch   layers, width, parameters: of the model, with D as width
    """
    room = KEPT * rows * layers * width + SPARE
    return max([1, *(n for n in PARTS if n * parameters <= room and n**3 * FEW <= rows * width)])


def bounded_parts(rows: int, width: int) -> int:
    """Return the number of parts of a batch in bounded memory: enough to make none of them large."""
    return math.ceil(rows * width / LARGEST)


def inference_parts(rows: int, width: int) -> int:
    """Return the number of parts of a batch in inference: 1, 2 or 4, or more if these are too large."""
    return max([1, *(n for n in PARTS if n * ROWS <= rows), bounded_parts(rows, width)])


def neighbours(lengths: Array, count: int) -> list[slice]:
    """Return at most `count` slices of neighboring sequences, with about the same number of rows.

    lengths (S,): the rows of each sequence. A sequence is never cut: its middle decides its part.
    """
    ends = np.cumsum(lengths)
    middles = ends - np.asarray(lengths) / 2
    edges = np.unique(np.searchsorted(middles, [ends[-1] * part / count for part in range(count + 1)]))
    return [slice(*pair) for pair in itertools.pairwise(edges.tolist())]
