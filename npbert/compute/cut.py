"""How a batch is cut into parts: between its sequences, where its size and that of the model say, however many threads
and processes there are. So their number changes no bit."""

import itertools
import math

import numpy as np

from npbert.compute.array import Array

PARTS = (2, 4)
"""The numbers of parts besides one: three would take two threads as long as four."""

KEPT = 16
"""Numbers that a layer keeps for backward, for each of the D numbers of a row."""

SPARE = 2**23
"""Numbers that the gradients may take beyond what the layers keep: 32 MiB in float32."""

FEW = 2**13
"""Numbers of a hidden state for which parts would take longer than they save; two take 8 times as many, four 64."""

ROWS = 128
"""Rows of a part in inference, at least: for fewer, BLAS takes longer to lay out the weights than a part saves."""

LARGEST = 400_000
"""Numbers of a hidden state in a part of bounded memory, at most: more would only take more memory."""


def training_parts(rows: int, layers: int, width: int, parameters: int) -> int:
    """The number of parts of a batch in training: 1, 2 or 4.

    Each part has a gradient of its own, and for fewer rows products take longer. So the gradients together may take
    what the layers keep, and a little more; and four parts need far more rows than two.

    rows: the real tokens of the batch   layers, width, parameters: the model's layers, their D, and all its numbers
    """
    room = KEPT * rows * layers * width + SPARE
    return max([1, *(n for n in PARTS if n * parameters <= room and n**3 * FEW <= rows * width)])


def bounded_parts(rows: int, width: int) -> int:
    """The number of parts of a batch of any size in bounded memory: as many as make none of them large."""
    return math.ceil(rows * width / LARGEST)


def inference_parts(rows: int, width: int) -> int:
    """The number of parts of a batch in inference: 1, 2 or 4, or more where these would be too large."""
    return max([1, *(n for n in PARTS if n * ROWS <= rows), bounded_parts(rows, width)])


def neighbours(lengths: Array, count: int) -> list[slice]:
    """The sequences of each part: at most `count` slices of neighbours, with about as many rows in each.

    lengths (S,): the rows of each sequence. A sequence is never cut, and belongs where its middle is.
    """
    ends = np.cumsum(lengths)
    middles = ends - np.asarray(lengths) / 2
    edges = np.unique(np.searchsorted(middles, [ends[-1] * part / count for part in range(count + 1)]))
    return [slice(*pair) for pair in itertools.pairwise(edges.tolist())]
