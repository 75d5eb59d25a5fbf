"""Exercise 8, dropout: what is told of an answer by what it does with what was kept, and with what was dropped."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.learn.exercise import Finding
from npbert.learn.layers import RESTING
from npbert.learn.numbers import Numbers

P = 0.3
FRESH = Finding(
    "backward drops other numbers than forward did.",
    "Some numbers that forward dropped get a gradient, and some that it kept get none. Use the mask as it was kept on "
    "the tape: nothing is drawn anew, and each number has a place of its own in it.",
)
_FACTORS = {
    "0": 0.0,
    "dy": 1.0,
    "dy / (1 − p)": 1 / (1 - P),
    "(1 − p) · dy": 1 - P,
    "p · dy": P,
    "dy / p": 1 / P,
    "dy / (1 − p)²": (1 - P) ** -2,
    "(1 − p)² · dy": (1 - P) ** 2,
    "p · dy / (1 − p)": P / (1 - P),
    "(1 − p) · dy / p": (1 - P) / P,
    "p · (1 − p) · dy": P * (1 - P),
    "dy / (1 + p)": 1 / (1 + P),
    "(1 + p) · dy": 1 + P,
    "dy / √(1 − p)": (1 - P) ** -0.5,
    "√(1 − p) · dy": (1 - P) ** 0.5,
    "2 · dy": 2.0,
    "½ dy": 0.5,
}


def told(given: Numbers, right: Numbers) -> Finding | None:
    """What is true of the numbers that were kept, of those that were dropped, and where nothing is dropped."""
    return _fresh_mask(given, right) or _by_fate(given, right)


def _fresh_mask(given: Numbers, right: Numbers) -> Finding | None:
    """Whether each dx is 0 or what a kept number has, but at places that forward does not know."""
    dx, wanted = given["dx"], right["dx"]
    if dx.shape != wanted.shape:
        return None
    both = (dx != 0) & (wanted != 0)
    has_too_many, has_too_few = ((dx != 0) & (wanted == 0)).any(), ((dx == 0) & (wanted != 0)).any()
    is_fresh = both.any() and np.allclose(dx[both], wanted[both]) and has_too_many and has_too_few
    return FRESH if is_fresh else None


def _by_fate(given: Numbers, right: Numbers) -> Finding | None:
    resting = f"dx {RESTING}"
    if not all(np.isfinite(array).all() for array in given.values()):
        return None
    dy, wanted, dx, at_rest = right[resting], right["dx"], given["dx"], given.get(resting)
    said = []
    if at_rest is not None and at_rest.shape == dy.shape and not np.allclose(at_rest, dy, rtol=1e-9, atol=0):
        factor = _factor(at_rest, dy)
        is_told = f" Yours is {factor}." if factor else ""
        says = f"Where nothing is dropped, the mask is None, y is x, and dx should be dy.{is_told}"
        said.append(Finding(says, "The mask, and the factor 1/(1 − p), are for what is dropped."))
    if dx.shape == wanted.shape and not np.allclose(dx, wanted, rtol=1e-9, atol=0):
        kept, dropped = (_factor(dx[at], dy[at]) for at in (wanted != 0, wanted == 0))
        if kept and dropped:
            says = f"dx is {kept} where x was kept, and {dropped} where it was dropped"
            says += ": it should be dy / (1 − p) where x was kept, and 0 where it was dropped."
            because = "What was kept was multiplied by 1/(1 − p), and so is its gradient; what was set to 0 had no say."
            said.append(Finding(says, because))
    if not said:
        return None
    first, *others = said
    more = [text for other in others for text in (f"And {other.says}", other.because)]
    return Finding(first.says, "\n\n".join([first.because, *more]))


def _factor(dx: Array, dy: Array) -> str:
    """Which multiple of dy it is, in words; "" if it is none."""
    factor = float((dx * dy).sum() / (dy * dy).sum())
    if not np.allclose(dx, factor * dy, rtol=1e-9, atol=1e-12):
        return ""
    sign = "−" if factor < 0 else ""
    known = (text for text, value in _FACTORS.items() if np.isclose(abs(factor), value, rtol=1e-9, atol=1e-12))
    return sign + next(known, f"{abs(factor):.4g} · dy in this draw")
