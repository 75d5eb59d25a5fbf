"""The best spans of a passage, given a score for every token to be the first and to be the last of the answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from npbert.compute import Array


class Span(NamedTuple):
    """The first and the last token of a span, and its score: that of its start plus that of its end."""

    start: int
    end: int
    score: float


def best_spans(start_logits: Array, end_logits: Array, *, max_length: int, n_best: int) -> tuple[list[Span], float]:
    """The `n_best` legal spans with the highest scores, best first, and log Σ e^score over all legal spans.

    start_logits, end_logits (P,): the scores of the P tokens of the passage. Legal is start ≤ end < start + max_length.
    The sum makes a probability of a score: e^(score − log Σ). (Devlin et al. 2018, section 4.2.)

    Raises: ValueError for no tokens, or unless max_length and n_best are at least 1.
    """
    if min(len(start_logits), max_length, n_best) < 1:
        raise ValueError(
            f"{len(start_logits)} tokens, max_length {max_length}, n_best {n_best}: wanted at least 1 of each"
        )
    scores = start_logits[:, None] + end_logits[None, :]  # (P, P): a row a start, a column an end
    starts, ends = np.nonzero(np.triu(np.tri(len(scores), k=max_length - 1)))
    legal = scores[starts, ends]
    best = np.argsort(-legal, kind="stable")[:n_best]
    highest = legal.max()
    log_total = float(highest + np.log(np.exp(legal - highest).sum()))
    return [Span(int(starts[i]), int(ends[i]), float(legal[i])) for i in best], log_total
