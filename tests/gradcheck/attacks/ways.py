"""Wrong backwards of functions that take another way on exact numbers, in memory of their own, or at another call.

What is proved then is not what the user runs.
"""

import array
import ctypes
import itertools
import json
import math
import numbers
import struct
import warnings

import numpy as np

from tests.gradcheck.attacks.formulas import INF, MINUS, TWO, UP, X, of_x

THIRTY = np.full(20, 0.3)


def forked(is_so, *given):
    """z² where something is so, as it is for the user's floats, and 2z else. Both are 4 at z = 2, and all that backward
    knows is the slope of 2z: neither y nor dx shows that another way was taken."""
    return (
        lambda z, *given: z * z if is_so(*given or (z,)) else 2 * z,
        lambda dy, z, *given: (2 * dy, *(None for _ in given)),
        TWO,
        *given,
    )


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


def strict(do):
    """The same, where floats raise at what is NaN or infinite."""

    def tried(x):
        with np.errstate(all="raise"):
            return do(x)

    return tried


def warned(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(all="warn"):
            return np.log(x)


TRUTHS = {
    "or": (lambda x: np.logical_or(x, 0) * x, of_x(lambda x: 2 * x), X),
    "or, of ones": (lambda x: np.logical_or(x, 0) * x, of_x(lambda x: 2 * x), np.ones(3)),
    "and": (lambda x: np.logical_and(1, x) * x, of_x(lambda x: 2 * x), np.ones(3)),
    "xor": (lambda x: np.logical_xor(x, 0) * x, of_x(lambda x: 2 * x), np.ones(3)),
    "not": (lambda x: (1 - np.logical_not(x)) * x, of_x(lambda x: 2 * x), np.ones(3)),
    "any": (lambda x: x.any(axis=0) * x, lambda dy, x: dy * x[0] + (dy * x).sum() * np.eye(3)[0], np.ones(3)),
    "all": (lambda x: np.all(x) * x, lambda dy, x: dy * x[-1] + (dy * x).sum() * np.eye(3)[2], np.ones(3)),
    "or.reduce": (
        lambda x: np.logical_or.reduce(x, axis=1, keepdims=True) * x,
        lambda dy, x: dy * x[:, :1] + (dy * x).sum(1, keepdims=True) * np.eye(3)[0],
        np.ones((2, 3)),
    ),
    "the index": (lambda x: np.eye(4)[x.astype(bool).astype(int)].sum(1) * x, of_x(lambda x: 2 * x), np.ones(3)),
    "select": forked(lambda t: np.select([np.logical_and(t, 1)], [t.size], 0)[0] == 3, np.ones(3)),
    "where": forked(
        lambda t: np.where(np.logical_or(t, 0), 1, 0).dtype.kind == "i" and np.any(t) is np.True_, np.ones(3)
    ),
    "choose": forked(lambda t: np.choose(np.logical_or(t, 0), [0, 5])[0] == 5, np.full(3, 0.5)),
    "true is 1": forked(lambda t: (np.logical_or(t, 0) == 1).all(), np.full(3, 0.5)),
    "a count": forked(lambda t: np.logical_or(t, 0).sum() == 3, np.full(3, 0.5)),
}
"""A truth value is 0 or 1, and has no slope."""


KINDS = {
    "cubes of floats": (lambda x: x**3 if x.dtype == np.float64 else x**2, of_x(lambda x: 2 * x), X),
    "a backward of floats": (
        lambda x: x**2,
        lambda dy, x: dy * (3 * x if x.dtype == np.float64 else 2 * x),
        X,
    ),
    "a backward of their dy": (lambda x: x**2, lambda dy, x: dy * (3 if isinstance(dy[0, 0], float) else 2) * x, X),
    "dtype": forked(lambda z: z.dtype == np.float64),
    "kind": forked(lambda z: z.dtype.kind == "f"),
    "issubdtype": forked(lambda z: np.issubdtype(z.dtype, np.floating)),
    "result_type": forked(lambda z: np.result_type(z, 1.0) == np.float64),
    "dtype of the sum": forked(lambda z: np.asarray(z.sum()).dtype == float),
    "type of the array": forked(lambda z: type(z) is np.ndarray),
    "type of a number": forked(lambda z: isinstance(z[0], float)),
    "Real": forked(lambda z: isinstance(z[0], numbers.Real)),
    "isscalar": forked(lambda z: np.isscalar(z[0])),
    "by type": forked(lambda z: {np.float64: True}.get(type(z[0]), False)),
    "tolist": forked(lambda z: type(z.tolist()[0]) is float),
    "attribute": forked(lambda z: not hasattr(z[0], "tangent")),
    "method": forked(lambda z: hasattr(z[0], "is_integer")),
    "module": forked(lambda z: type(z).__module__ == "numpy"),
    "of zeros": forked(lambda z: np.zeros(2).dtype == float),
    "of numpy": forked(lambda z: type(np) is type(math)),
    "of math": forked(lambda z: type(math.exp) is type(len)),
}
"""Code may ask of which kind its numbers are."""


CASTS = {
    "squares where there is no cast": (
        lambda x: (x**3).astype(float) if works(lambda x: x.astype(np.float32))(x) else x**2,
        of_x(lambda x: 2 * x),
        X,
    ),
    **{
        name: forked(works(do))
        for name, do in {
            "float": lambda z: float(z[0]),
            "int": lambda z: int(z[0]),
            "float32": lambda z: z.astype(np.float32),
            "asarray": lambda z: np.asarray(z, float),
            "np.float64": lambda z: np.float64(z[0]) + 0,
            "view": lambda z: z.view(np.int64),
            "floor": lambda z: math.floor(z[0]),
            "round": lambda z: round(z[0], 2),
            "format": lambda z: f"{z[0]:.3f}",
            "hash": lambda z: hash(z[0]),
            "a set": lambda z: {*z.tolist()},
            "json": lambda z: json.dumps(z.tolist()),
            "array.array": lambda z: array.array("d", z),
            "struct": lambda z: struct.pack("d", z[0]),
            "fft": lambda z: np.fft.fft(z),
            "histogram": lambda z: np.histogram(z, bins=[0.0, 1.0, 3.0]),
            "bincount": lambda z: np.bincount([0, 1, 1], weights=z),
            "no rule": lambda z: np.i0(z),
        }.items()
    },
}
"""Where exact numbers raise, code may fall back to something else."""


SHOWN = {
    "bytes": forked(lambda z: np.frombuffer(z.tobytes())[0] > 1),
    "a pointer": forked(lambda z: z.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0] > 1),
    "a buffer": forked(lambda z: memoryview(z).format == "d"),
    "repr": forked(lambda z: "Number" not in repr(z)),
    "str": forked(works(lambda z: float(str(z[0])))),
    "array2string": forked(lambda z: np.array2string(z).strip("[]").split()[0] == "2."),
    "unique": forked(lambda t: np.unique(t).dtype == float, THIRTY),
    "sort": forked(lambda t: np.isnan(np.sort(np.log(t))[-1]), MINUS),
    "argmax": forked(lambda t: np.log(t)[::-1].argmax() == 1, MINUS),
    "searchsorted": forked(lambda t: np.searchsorted(np.arange(4.0), t).dtype.kind == "i" and t.dtype == float, UP),
    "digitize": forked(works(lambda t: np.digitize(t, [0.0, 1.0, 2.0])), UP),
    "isclose": forked(works(lambda t: np.isclose(t, 0.3)), THIRTY),
}
"""A float can be read in other ways than by arithmetic: by its bytes, its name, its place in an order."""


SEEN = {
    "pairwise sum": forked(lambda t: t.sum() == float(THIRTY.sum()), THIRTY),
    "sum in order": forked(lambda t: t.sum() != sum(t), THIRTY),
    "mean": forked(lambda t: t.mean() == float(THIRTY.mean()), THIRTY),
    "exp": forked(lambda t: (np.exp(t) == np.exp(np.linspace(-9.0, 9.0, 97))).all(), np.linspace(-9.0, 9.0, 97)),
    "expm1": forked(lambda t: (np.expm1(1e-17 * t) > 0).all(), UP),
    "log1p": forked(lambda t: (np.log1p(1e-17 * t) > 0).all(), UP),
    "sinh": forked(lambda t: (np.sinh(1e-17 * t) > 0).all(), UP),
    "cbrt of a negative number": forked(lambda t: np.cbrt(t)[0] < 0, MINUS),
    "cbrt": forked(lambda t: np.cbrt(t)[0] == 4.0, np.array([64.0])),
    "exp2": forked(lambda t: np.exp2(t)[0] == 8.0, np.array([3.0])),
    "log10": forked(lambda t: np.log10(t)[0] == 3.0, np.array([1000.0])),
    "overflow": forked(lambda t: np.isinf(np.exp(400 * t)).all(), TWO),
    "overflow of cosh": forked(lambda t: np.isinf(np.cosh(400 * t)).all(), TWO),
    "log of 0": forked(lambda t: np.log(0 * t)[0] == -INF, TWO),
    "tan": forked(lambda t: (np.tan(t) == np.tan(np.arange(1.0, 40.0))).all(), np.arange(1.0, 40.0)),
    "values of expm1": (lambda x: np.sign(np.expm1(x)) * 2 * x, of_x(lambda x: 0 * x), np.array([1e-17, 2e-17])),
}
"""What decides a comparison is what NumPy gives in floats, to the last bit."""


def dropped(draw):
    """Dropout that draws a fresh mask in backward."""
    return lambda x: x * draw(x.shape), lambda dy, x: dy * draw(x.shape), X


DRAWN = {
    "dropout": dropped(lambda shape: (np.random.rand(*shape) < 0.8) / 0.8),
    "of rows": dropped(lambda shape: (np.random.rand(shape[0], 1) < 0.75) / 0.75),
    "depth": dropped(lambda shape: np.random.rand() < 0.9),
    "a sign": dropped(lambda shape: np.random.choice([1, 1, 1, -1])),
    "a branch": (lambda z: z * z if np.random.rand() < 0.9 else 2 * z, lambda dy, z: 2 * dy * z, TWO),
}
"""Backward meets the numbers that forward drew, and no fresh ones that happen to agree."""


def recalled(key):
    """x², with a backward that takes x from the first forward with this key."""

    def make():
        kept = {}

        def forward(x):
            kept.setdefault(key(x), x)
            return x * x

        return forward, lambda dy, x: dy * 2 * kept[key(x)], X

    return make


def counted(*factors):
    """x², with a backward that is right but for a factor, another one in each call; the last for good."""

    def make():
        calls = itertools.chain(factors, itertools.repeat(factors[-1]))
        return lambda x: x * x, lambda dy, x: dy * 2 * x * next(calls), X

    return make


def added():
    total = np.zeros(X.shape)

    def backward(dy, x):
        total[...] += dy * 2 * x
        return total

    return lambda x: x * x, backward, X


MEMORY = {
    "by shape": recalled(np.shape),
    "by nothing": recalled(lambda x: 0),
    "by size": recalled(np.size),
    "right once": counted(1, 3),
    "wrong once": counted(3, 1),
    "each second time": counted(*[1, 3] * 99),
    "each other time": counted(*[3, 1] * 99),
    "a sum that is never 0 again": added,
}
"""What backward returns does not hang on earlier calls."""


ACROSS = np.asfortranarray(X)


LAYOUT = {
    "in the order of memory": (
        lambda x: x.ravel("K") * np.arange(6),
        lambda dy, x: (dy * np.arange(6)).reshape(2, 3),
        ACROSS,
    ),
    "contiguous": (
        lambda z: z * z if not z.flags.c_contiguous else 2 * z,
        lambda dy, z: 2 * dy,
        np.full((2, 3), 2.0, order="F"),
    ),
    "strides": (
        lambda z: z * z if z.strides[-1] != 8 else 2 * z,
        lambda dy, z: 2 * dy,
        np.full((3, 4), 2.0)[:, ::2],
    ),
    "writable": forked(lambda z: z.flags.writeable),
    "a matrix": (
        lambda x: x * x,
        of_x(lambda x: 2 * np.asarray(x)),
        np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix),
    ),
}
"""What is checked is called as the user calls it: with his memory, and his kind of array."""


ERRORS = {
    "ValueError": forked(fails(lambda t: math.log(t[0])), MINUS),
    "of a root": forked(fails(lambda t: math.sqrt(t[0])), MINUS),
    "OverflowError": forked(fails(lambda t: math.exp(400 * t[0])), TWO),
    "FloatingPointError": forked(fails(strict(np.log)), MINUS),
    "of an overflow": forked(fails(strict(lambda t: np.exp(400 * t))), TWO),
    "a warning": forked(fails(warned), MINUS),
    "no error": forked(works(lambda t: 1 / t), np.zeros(2)),
    "NaN": forked(lambda t: np.isnan(np.sqrt(t)).any(), MINUS),
    "the sign of NaN": forked(lambda t: np.isnan(np.sign(np.sqrt(t))).any(), MINUS),
    "∞": forked(lambda t: (np.tanh(t * INF) == 1).all(), TWO),
}
"""Where floats raise, or give NaN or ∞, code may take another way; exact numbers go on."""
