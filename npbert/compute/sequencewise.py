"""sequencewise: what is computed for each sequence by itself, shared out to the threads."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute.array import Array
from npbert.compute.lent import Lending
from npbert.compute.threads import num_threads, run

SHARE = 8_000
"""Elements of a batch that are worth a thread: one with fewer would hardly have begun before another has done them."""

_lending = Lending()


def sequencewise(
    expression: Callable[[Array, Any, Array | None, Any], Array],
    x: Array,
    sequences: Any,
    read: Array | None,
    tape: Any,
) -> Array:
    """expression(x, sequences, read, tape), for an expression that treats every sequence by itself.

    x (N, D)   read (M,) rows in ascending order, or None for all   the result (M, D), or (N, D)
    sequences, tape: a Sequences and a Tape of npbert.core.

    In inference each thread takes some neighbouring sequences, about as many rows as the others, through the whole
    expression; what is too little to be shared is left to BLAS's threads (lent.py). Where a tape keeps something, or
    dropout is drawn, all is computed in one order on the calling thread.

    Raises: TypeError, IndexError or ValueError for `read`, as Sequences.only.
    """
    if tape.keeps or tape.rng is not None:
        return expression(x, sequences, read, tape)
    queries = sequences if read is None else sequences.only(read)
    count = max(1, min(num_threads(), len(sequences.lengths), x.size // SHARE))
    starts = sequences.offsets
    middles = (starts[:-1] + starts[1:]) / 2
    edges = np.searchsorted(middles, [starts[-1] * i / count for i in range(count + 1)])
    shares = list(itertools.pairwise(np.unique(edges).tolist()))
    if len(shares) == 1:
        whose = getattr(expression, "__self__", expression)
        return _lending(lambda: expression(x, sequences, read, tape), whose, len(x))
    y = np.empty((queries.num_queries, *x.shape[1:]), x.dtype)
    ends = np.concatenate([[0], np.cumsum(queries.query_lengths)])

    def work(share: tuple[int, int]) -> None:
        first, stop = share
        rows, places = slice(starts[first], starts[stop]), slice(ends[first], ends[stop])
        own = type(sequences)(sequences.lengths[first:stop])  # a Sequences: this room cannot name a class of core's
        own_read = None if read is None else read[places].astype(np.intp) - starts[first]
        y[places] = expression(x[rows], own, own_read, tape)

    run(work, shares)
    return y
