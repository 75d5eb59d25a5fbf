"""Wrong backwards of functions that go another way on exact numbers than on floats."""

import math
import numbers
import warnings

import numpy as np

from npbert import NO_TAPE
from tests.gradcheck.attacks.formulas import INF, MINUS, TWO, UP, named

THIRTY, HALF = np.full(20, 0.3), np.full(3, 0.5)


def forked(is_so, *given):
    """z² where something is so, as it is for the user's floats, and else 2z. Both are 4 at z = 2, and all that backward
    knows is the slope of 2z: neither y nor dx shows that another way was taken."""
    return (
        lambda z, *given: z * z if is_so(*given or (z,)) else 2 * z,
        lambda dy, z, *given: (2 * dy, *(None for _ in given)),
        TWO,
        *given,
    )


class Forked:
    """The same as a layer, which sees the tape."""

    def __init__(self, is_so):
        self.is_so = is_so

    def forward(self, z, tape=NO_TAPE):
        tape.keep(self, shape=z.shape)
        return z * z if self.is_so(z, tape) else 2 * z

    def backward(self, dy, tape):
        if dy.shape != tape.take(self):
            raise ValueError("a dy of another shape")
        return 2 * dy


def works(do):
    """True if it does not raise."""

    def tried(x):
        try:
            do(x)
        except Exception:
            return False
        return True

    return tried


def fails(do):
    """True if it raises."""
    return lambda x: not works(do)(x)


def warned(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(all="warn"):
            return np.log(x)


TRUTHS = {
    "true is 1": (lambda t: (np.logical_or(t, 0) == 1).all(), HALF),
    "an index": (lambda t: np.eye(4)[t.astype(bool).astype(int)][0, 1] == 1, HALF),
}
"""A truth value is 0 or 1."""

KINDS = {
    name: (is_so, TWO)
    for name, is_so in {
        "dtype": lambda z: z.dtype == np.float64,
        "type of the array": lambda z: type(z) is np.ndarray,
        "Real": lambda z: isinstance(z[0], numbers.Real),
        "attribute": lambda z: not hasattr(z[0], "tangent"),
        "of a module": lambda z: type(np) is type(math),
    }.items()
}
"""Code may ask what kind its numbers and its modules are."""

CASTS = {
    name: (works(do), TWO)
    for name, do in {
        "float": lambda z: float(z[0]),
        "float32": lambda z: z.astype(np.float32),
        "format": lambda z: f"{z[0]:.3f}",
        "hash": lambda z: hash(z[0]),
        "no rule": lambda z: np.i0(z),
    }.items()
}
"""Where exact numbers raise, code may fall back to something else."""

SHOWN = {
    "bytes": (lambda z: np.frombuffer(z.tobytes())[0] > 1, TWO),
    "repr": (lambda z: "Number" not in repr(z), TWO),
    "argmax": (lambda t: np.log(t)[::-1].argmax() == 1, MINUS),
    "digitize": (works(lambda t: np.digitize(t, [0.0, 1.0, 2.0])), UP),
}
"""A float can be read in other ways than by arithmetic: by its bytes, its name, its place in an order."""

SEEN = {
    "pairwise sum": (lambda t: t.sum() == float(THIRTY.sum()), THIRTY),
    "expm1": (lambda t: (np.expm1(1e-17 * t) > 0).all(), UP),
    "log10": (lambda t: np.log10(t)[0] == 3.0, np.array([1000.0])),
    "tanh of ∞": (lambda t: (np.tanh(t * INF) == 1).all(), TWO),
    "NaN": (lambda t: np.isnan(np.sqrt(t)).any(), MINUS),
}
"""What decides a comparison is what NumPy gives in floats, to the last bit, with NaN and ∞."""

ERRORS = {
    "ValueError": (fails(lambda t: math.log(t[0])), MINUS),
    "a warning": (fails(warned), MINUS),
    "no error": (works(lambda t: 1 / t), np.zeros(2)),
}
"""Where floats raise, code may take another way; exact numbers go on."""

LAYERS = {
    "what is writable": (Forked(lambda z, tape: z.flags.writeable), np.full((1, 3), 2.0)),
    "the tape": (Forked(lambda z, tape: len(tape) == 1), np.full((1, 3), 2.0)),
}
"""A layer may look at its caller by the tape."""

FUNCTIONS = named(truth=TRUTHS, kind=KINDS, cast=CASTS, shown=SHOWN, seen=SEEN, error=ERRORS)
FORKED = {name: forked(*case) for name, case in FUNCTIONS.items()} | named(layer=LAYERS)
