"""From counts to scores: what classes, entities and words of an answer share."""

from __future__ import annotations


def ratio(part: float, whole: float) -> float:
    """part / whole, and 0 where whole is 0: nothing was there to be right about."""
    return float(part / whole) if whole else 0.0


def f1_from_counts(hits: int, predicted: int, gold: int) -> float:
    """F1 of `predicted` guesses at `gold` things, when `hits` of them are right; 0 when there is neither.

    F1 = 2 · precision · recall / (precision + recall)  with  precision = hits / predicted  and  recall = hits / gold,
    their harmonic mean. It is 2 · hits / (predicted + gold), which needs no case for a precision or recall of 0.
    (Van Rijsbergen 1979, chapter 7.)
    """
    return ratio(2 * hits, predicted + gold)
