"""Wrong backwards that know how they are checked, or go two ways round at once. None may be called proved or right."""

import decimal
import io
import itertools

import numpy as np

from npbert import NO_TAPE, Parameter
from tests.gradcheck.attacks.formulas import INF, SOME, TWO, UP, X, of_x, softmax, softmax_vjp
from tests.gradcheck.attacks.ways import forked, works
from tests.gradcheck.attacks.wrong import of_dy, of_dys


def late(calls):
    """2z in the first calls, and z² from then on."""

    def make():
        count = itertools.count()
        return forked(lambda z: next(count) >= calls)

    return make


def late_backward(calls, wrong=3):
    """Right in the first calls."""

    def make():
        count = itertools.count()
        return lambda x: x * x, lambda dy, x: dy * 2 * x * (wrong if next(count) >= calls else 1), X

    return make


def remembering(is_first):
    """z² for an x that is new, or for one that has come before."""

    def make():
        seen = set()

        def is_so(z):
            is_new = (key := str(z)) not in seen
            seen.add(key)
            return is_new == is_first

        return forked(is_so)

    return make


class Way:
    """y = z² where something is so, of x and the tape, and else 2z: both are 4 at 2."""

    def __init__(self, is_so):
        self.is_so = is_so

    def forward(self, z, tape=NO_TAPE):
        tape.keep(self, z.shape)
        return z * z if self.is_so(z, tape) else 2 * z

    def backward(self, dy, tape):
        if dy.shape != tape.take(self):
            raise ValueError("a dy of another shape")
        return 2 * dy


class Late:
    """y = x w, with a gradient of w that is right in the first calls."""

    def __init__(self, calls):
        self.calls, self.weight = calls, Parameter(UP[:3] + 0.25)

    def forward(self, x, tape=NO_TAPE):
        tape.keep(self, x)
        return x * self.weight.value

    def backward(self, dy, tape):
        x = tape.take(self)
        self.calls -= 1
        self.weight.add_grad((dy * x).sum(axis=0) * (1 if self.calls >= 0 else 2))
        return dy * self.weight.value


CALLS = {
    **{f"forward after {n}": late(n) for n in (1, 2, 3, 4)},
    **{f"backward after {n}": late_backward(n) for n in (2, 3)},
    "backward after 2, a little": late_backward(2, 1.01),
    "a layer after 1": lambda: (Late(1), X),
    "a layer after 2": lambda: (Late(2), X),
    "what is new": remembering(True),
    "what came before": remembering(False),
}
"""What runs once on floats, or first, says nothing of the next call."""

MINE = np.full((1, 3), 2.0)
KNOWN = {
    "the user's own array": (*forked(lambda z: z is MINE)[:2], MINE),
    "the user's own memory": (*forked(lambda z: np.shares_memory(z, MINE))[:2], MINE),
    "a layer with what is writable": lambda: (Way(lambda z, tape: z.flags.writeable), MINE.copy()),
    "a layer with floats": lambda: (Way(lambda z, tape: z.dtype == float), MINE.copy()),
    "a tape": lambda: (Way(lambda z, tape: tape.keeps), MINE.copy()),
    "a tape and floats": lambda: (Way(lambda z, tape: tape.keeps and z.dtype == float), MINE.copy()),
    "a tape with nothing": lambda: (Way(lambda z, tape: len(tape) == 1), MINE.copy()),
    "a tape, and what is writable": lambda: (Way(lambda z, tape: len(tape) == 1 and z.flags.writeable), MINE.copy()),
    "the seed": forked(lambda z: np.random.get_state()[1][0] != 0),
    "the seeds": (
        lambda x: x * x,
        lambda dy, x: dy * 2 * x * (1 if np.random.get_state()[1][0] in (0, 1) else 3),
        X,
    ),
    "the settings of errors": forked(lambda z: np.geterr()["divide"] == "warn"),
    "the settings of decimals": forked(lambda z: decimal.getcontext().prec == 28),
    "no axes": (*forked(lambda z: isinstance(z, np.ndarray))[:2], np.array(2.0)),
    "a writable dy": (lambda x: x * x, lambda dy, x: dy * 2 * x * (1 + dy.flags.writeable * (dy.dtype == float)), X),
}
"""Code may know who calls it: by memory, by flags, by the tape, by generators and settings."""

RAISED = {
    name: forked(works(do))
    for name, do in {
        "a power of another": lambda z: 2.0**z,
        "an odd power": lambda z: z**0.1234567,
        "a function in float32": lambda z: np.exp(z, dtype="f4"),
        "a sum in float32": lambda z: np.add(z, 1, dtype="f4"),
        "an array of floats": lambda z: np.array([*z], dtype=float),
        "zeros like it": lambda z: np.zeros_like(z, dtype=float).__setitem__(0, z[0]),
        "fromiter": lambda z: np.fromiter(z, float),
        "a complex root": lambda z: np.emath.sqrt(-z).imag.astype(float),
        "an inverse": lambda z: np.linalg.inv(np.diag(z)),
        "printf": lambda z: np.savetxt(io.StringIO(), z),
    }.items()
}
"""What exact numbers have no rule for, code may do in another way."""


def of_two(x):
    return (x * x).sum(), x.sum()


DYS = {
    "clip at 1000": of_dys(lambda dy: np.clip(dy, -1e3, 1e3)),
    "a small one is none": of_dys(lambda dy: np.where(np.abs(dy) < 1e-3, 0 * dy, dy)),
    "1": of_dy(lambda dy: dy if dy != 1 else 2 * dy),
    "but for 1": of_dy(lambda dy: dy if dy == 1 else 2 * dy),
    "ones": (lambda x: x * x, lambda dy, x: dy * 2 * x * (3 if (dy == 1).all() else 1), X),
    "a zero": (lambda x: x * x, lambda dy, x: dy * 2 * x + np.where(dy == 0, 1, 0 * dy), X),
    "all zeros but one": (lambda x: x * x, lambda dy, x: dy * 2 * x * (3 if (dy == 0).sum() >= 5 else 1), X),
    "the sign of another": (of_two, lambda da, db, x: 2 * abs(da) * x + db, X),
    "the larger": (of_two, lambda da, db, x: 2 * da * x + (db if abs(db) < 50 * abs(da) else 0 * db), X),
    "small whole numbers": of_dy(lambda dy: dy if abs(dy) > 50 or dy % 1 else 2 * dy),
    "noise": (lambda x: x * x, lambda dy, x: dy * 2 * x + 1e-5 * np.random.standard_normal(x.shape), X),
}
"""Backward is linear in dy at every dy, at 0, at 1, and at all sizes."""

HUGE = np.array([[800.0, -800.0, 1.0]])
OVERFLOW = {
    "softmax": (lambda x: (e := np.exp(x)) / e.sum(1, keepdims=True), softmax_vjp, HUGE),
    "log Σ exp": (lambda x: np.log(np.exp(x).sum(axis=1)), lambda dy, x: dy[:, None] * softmax(x), HUGE),
    "softplus": (lambda x: np.log(1 + np.exp(x)), of_x(lambda x: 1 / (1 + np.exp(-x))), HUGE),
    "a sigmoid": (lambda x: np.exp(x) / (1 + np.exp(x)), of_x(lambda x: 0 * x), HUGE),
    "a length": (lambda x: np.sqrt((x * x).sum()), lambda dy, x: dy * x / np.sqrt((x * x).sum()), 1e200 * X),
    "a variance": (lambda x: x.var(axis=1), lambda dy, x: 2 / 3 * dy[:, None] * (x - x.mean(1)[:, None]), 1e200 * X),
    "∞ made finite": (lambda x: np.nan_to_num(np.exp(x)), of_x(np.exp), HUGE),
    "∞ clipped": (lambda x: np.minimum(np.exp(x), 9.0), of_x(np.exp), HUGE),
    "∞ seen": (lambda x: np.where(np.isinf(np.exp(x)), 2 * x, x), of_x(lambda x: 1 + 0 * x), HUGE),
}
"""Floats overflow where exact numbers do not."""


def stepping():
    """A parameter that is stepped before its gradient is used."""
    w = np.array([1.0, 2.0, 3.0])

    def backward(dy, x):
        w[...] = w - 0.01 * (dy * x).sum(axis=0)
        return dy * w

    return lambda x: x * w, backward, X


MASK = np.array([0.0, -INF, 0.0])
TWICE = {
    "a masked log, else none": (
        lambda x: np.log(x, where=SOME, out=np.zeros_like(x)) if works(np.sum)(x) else x,
        of_x(lambda x: 1 / x),
        UP,
    ),
    "a truth value of ∞": (
        lambda x: np.logical_and(np.isfinite(x + MASK), x) * x,
        of_x(lambda x: 2 * x * np.isfinite(MASK)),
        np.ones(3),
    ),
    "a small one that is forked": (
        lambda z: np.stack([z * 1e9, 1e-9 * (z * z if z.dtype == float else 2 * z)]),
        lambda dy, z: 1e9 * dy[0] + 2e-9 * dy[1],
        TWO,
    ),
    "a mask of a logical": (
        lambda x: np.where(np.logical_or(x > 1, 0) == 1, x * x, x),
        of_x(lambda x: 2 * x),
        UP + 0.25,
    ),
    "∞ − ∞ under a mask": (lambda x: np.where(SOME[:3], x, (x - INF) + INF), of_x(lambda x: 1 + 0 * x), X),
    "the sum of what is NaN": (
        lambda x: np.nanmean(np.where(SOME[:3], x, np.nan), axis=1),
        lambda dy, x: dy[:, None] / 3 + 0 * x,
        X,
    ),
    "a step before its gradient": stepping,
    "a cache by what it is": lambda: (
        lambda x, kept={}: x * kept.setdefault(x.dtype, 1 + len(kept)),
        lambda dy, x: 2 * dy,
        X,
    ),
    "an average that moves": lambda: (
        lambda x, mean=[1.0]: (mean.append(0.9 * mean[-1] + 0.2), x * mean[-1])[1],
        lambda dy, x: dy,
        X,
    ),
}
"""Two holes at once."""

HARDER = {
    f"{name}: {each}": case
    for name, group in {
        "call": CALLS,
        "known": KNOWN,
        "raised": RAISED,
        "dy": DYS,
        "overflow": OVERFLOW,
        "twice": TWICE,
    }.items()
    for each, case in group.items()
}
