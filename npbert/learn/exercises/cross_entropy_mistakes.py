"""Exercise 5, softmax with cross-entropy: the wrong answers that people give.

An answer is a gradient of each row, (N, C), times the share that each row has in the loss. What is wrong with one is
known by itself, and together with what is wrong with the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, Tape
from npbert.layers import SoftmaxCrossEntropy
from npbert.learn.exercise import Finding, Mistake, Mistakes, both
from npbert.learn.exercises.cross_entropy_answer import LABELS, Kept, Rows, Share, right_rows, right_share
from npbert.learn.exercises.cross_entropy_places import ALL_ROWS, PLACES
from npbert.learn.exercises.cross_entropy_rows import ROWS
from npbert.learn.exercises.cross_entropy_shares import SHARES
from npbert.learn.numbers import Numbers

WRONG = Mistakes(SoftmaxCrossEntropy, "backward")


def _answer(name: str, rows: Rows, share: Share) -> Callable[..., Array]:
    def backward(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
        kept = Kept(*tape.take(self))
        return rows(kept) * share(dloss, kept)

    backward.__name__ = name
    return backward


for _share in SHARES:
    WRONG(_share.says, _share.because)(_answer(_share.name, right_rows, _share.share))
for _rows in [*ROWS, *PLACES]:
    WRONG(_rows.says, _rows.because)(_answer(_rows.name, _rows.rows, right_share))


def pairs() -> Iterator[Mistake]:
    """Each wrong gradient of a row with each wrong share of it."""
    by_name = {mistake.name: mistake for mistake in WRONG}
    for rows, share in itertools.product([*ROWS, *PLACES], SHARES):
        backward = _answer(f"{rows.name}_{share.name}", rows.rows, share.share)
        thing = type("Both", (SoftmaxCrossEntropy,), {"backward": backward})
        yield both(by_name[rows.name], by_name[share.name], thing)


def too_few_rows(given: Numbers, right: Numbers) -> Finding | None:
    """Whether there is one row for each target, whatever else is wrong."""
    is_short = np.shape(given["dlogits"]) == ((LABELS != IGNORED).sum(), right["dlogits"].shape[1])
    return next(mistake.findings[0] for mistake in WRONG if mistake.because == ALL_ROWS) if is_short else None
