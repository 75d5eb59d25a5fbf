"""sequencewise: what is computed for each sequence by itself, shared out to the threads, forward and backward."""

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from npbert.compute.array import Array
from npbert.compute.lent import Lending
from npbert.compute.threads import num_threads, run
from npbert.compute.turns import Turns

SHARE = 8_000
"""Elements of a batch that are worth a thread: one with fewer would hardly have begun before another has done them."""

LARGEST = 400_000
"""Elements of a share in inference: in larger ones what lies between the layers would only take more memory."""

HALF = 30_000
"""Elements of a half batch in training that are worth a thread. (A batch with fewer rows than half its columns is never
cut: each half adds a gradient of its own to all weights, and that would take longer than what it saves.)"""

_lending = Lending()


class Share(NamedTuple):
    """Some neighbouring sequences of a batch: their rows among all, the places of their output among all that is
    read, and what is theirs alone: a Sequences, `read` and a Tape."""

    rows: slice
    places: slice
    sequences: Any
    read: Array | None
    tape: Any


def sequencewise(
    expression: Callable[[Array, Any, Array | None, Any], Array],
    x: Array,
    sequences: Any,
    read: Array | None,
    tape: Any,
) -> tuple[Array, list[Share]]:
    """expression(x, sequences, read, tape), for an expression that treats every sequence by itself; and the shares for
    its backward, none where it was not cut.

    x (N, D)   read (M,) rows in ascending order, or None for all   the result (M, D), or (N, D)
    sequences, tape: a Sequences and a Tape of npbert.core.

    Each thread takes some neighbouring sequences, about as many rows as the others, through the whole expression. In
    training there are two halves, on any number of threads, so that dropout draws the same on all; each has a tape of
    its own. Inference of what is too little to be shared is left to BLAS's threads (lent.py).

    Raises: TypeError, IndexError or ValueError for `read`, as Sequences.only.
    """
    trains = tape.keeps or tape.rng is not None
    queries = sequences if read is None else sequences.only(read)
    count = _training_shares(x) if trains else _inference_shares(x)
    starts = sequences.offsets
    middles = (starts[:-1] + starts[1:]) / 2
    edges = np.unique(np.searchsorted(middles, [starts[-1] * i / count for i in range(count + 1)]))
    if len(edges) == 2:
        if trains:
            return expression(x, sequences, read, tape), []
        whose = getattr(expression, "__self__", expression)
        return _lending(lambda: expression(x, sequences, read, tape), whose, len(x)), []
    y = np.empty((queries.num_queries, *x.shape[1:]), x.dtype)
    ends = np.concatenate([[0], np.cumsum(queries.query_lengths)])
    shares = []
    for (first, stop), own_tape in zip(itertools.pairwise(edges.tolist()), tape.branches(len(edges) - 1), strict=True):
        rows, places = slice(starts[first], starts[stop]), slice(ends[first], ends[stop])
        own = type(sequences)(sequences.lengths[first:stop])  # a Sequences: this room cannot name a class of core's
        own_read = None if read is None else read[places].astype(np.intp) - starts[first]
        shares.append(Share(rows, places, own, own_read, own_tape))

    def work(share: Share) -> None:
        y[share.places] = expression(x[share.rows], share.sequences, share.read, share.tape)

    run(work, shares)
    return y, shares


def _training_shares(x: Array) -> int:
    """Two halves, where each is worth a thread."""
    return 2 if x.size >= 2 * HALF and 2 * len(x) >= x.shape[-1] else 1


def _inference_shares(x: Array) -> int:
    """For each thread one that is worth it, or as many more as the largest share demands."""
    threads = num_threads()
    return max(1, min(threads, x.size // SHARE)) * math.ceil(x.size / threads / LARGEST)


def sequencewise_backward(backward: Callable[[Array, Any], Array], dy: Array, shares: list[Share], tape: Any) -> Array:
    """dx (N, D) of what `sequencewise` computed, by `backward(dy, tape)` of its expression, for each half by itself.

    dy (M, D), or (N, D)   shares: as `sequencewise` returned them
    """
    if not shares:
        return backward(dy, tape)
    dx = np.empty((shares[-1].rows.stop, *dy.shape[1:]), dy.dtype)
    turns = Turns()

    def work(half: int) -> None:
        share = shares[half]
        with turns.of(half):
            dx[share.rows] = backward(dy[share.places], share.tape)
        share.tape.check_empty()

    run(work, range(len(shares)))
    return dx
