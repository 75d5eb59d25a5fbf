"""Oracles for mend and broken_from: a plain backward(dy, *inputs), judged by the right one."""

import inspect
import math
import textwrap

import numpy as np

from npbert.gradcheck.explain import FAILED, Code, Outlook


class Judge:
    """samples: a dy and inputs for each of two sets of shapes; right: the source of the right backward."""

    def __init__(self, right, *shapes):
        self.right = code(right)
        self._function = self.right.compiled(lambda: True)
        self.names = ["d" + name for name in list(inspect.signature(self._function).parameters)[1:]]
        self.samples = [self._drawn(n, each) for n, each in enumerate(shapes)]
        self.runs = 0

    def _drawn(self, seed, shapes):
        rng = np.random.default_rng(seed)
        arrays = [
            rng.integers(0, 3, s[1:]) if s[:1] == ("ids",) else np.array(rng.uniform(0.2, 0.8, s)) for s in shapes
        ]
        for array in arrays:
            array.setflags(write=False)
        return arrays, dict(zip(self.names, self._function(*arrays), strict=True))

    def look(self, function, k):
        self.runs += 1
        arrays, wanted = self.samples[k]
        given = function(*arrays)
        if not isinstance(given, tuple) or len(given) != len(wanted):
            return FAILED
        pairs = {name: (g, wanted[name]) for name, g in zip(wanted, given, strict=True) if wanted[name] is not None}
        wrong = {
            name
            for name, (g, w) in pairs.items()
            if not (isinstance(g, np.ndarray) and g.shape == w.shape and np.allclose(g, w, 1e-9, 1e-12))
        }
        return Outlook(wrong, set(pairs) - wrong, {n: p for n, p in pairs.items() if np.shape(p[0]) == p[1].shape})


def code(source, first=1):
    return Code.parsed(textwrap.dedent(source).lstrip("\n"), {"np": np, "math": math}, first)


LINEAR = """
def backward(dy, x, w, b):
    dw = x.T @ dy
    db = dy.sum(axis=0)
    dx = dy @ w.T
    return dx, dw, db
"""
NORM = """
def backward(dy, x_hat, sigma, gamma):
    dgamma = (dy * x_hat).sum(axis=0)
    dx_hat = dy * gamma
    shift = dx_hat.mean(axis=-1, keepdims=True)
    stretch = (dx_hat * x_hat).mean(axis=-1, keepdims=True)
    dx = (dx_hat - shift - x_hat * stretch) / sigma
    return dx, None, dgamma
"""
TABLE = """
def backward(dy, ids, table):
    dtable = np.zeros_like(table)
    for n, v in enumerate(ids):
        dtable[v] += dy[n]
    return None, dtable
"""
TANH = """
def backward(dy, h, p):
    kept = dy / (1 - p)
    dh = kept * (1 - h**2)
    return dh, None
"""
PICKED = """
def backward(dy, ids, x):
    dx = np.zeros_like(x)
    dx[ids, np.arange(len(ids))] = dy
    return None, dx
"""
WINDOWS = """
def backward(dy, x, kernel):
    n = len(dy)
    dkernel = np.zeros_like(kernel)
    for k in range(len(kernel)):
        dkernel[k] = x[k:k + n].T @ dy
    heads = dy.reshape(n, 2, -1).swapaxes(0, 1) * np.array([1.0, 2.0])[:, None, None]
    return heads, dkernel
"""
JUDGES = {
    LINEAR: lambda: Judge(LINEAR, [(4, 2), (4, 3), (3, 2), (2,)], [(7, 6), (7, 5), (5, 6), (6,)]),
    NORM: lambda: Judge(NORM, [(4, 3), (4, 3), (4, 1), (3,)], [(7, 5), (7, 5), (7, 1), (5,)]),
    TABLE: lambda: Judge(TABLE, [(5, 2), ("ids", 5), (3, 2)], [(8, 6), ("ids", 8), (4, 6)]),
    PICKED: lambda: Judge(PICKED, [(2,), ("ids", 2), (3, 2)], [(4,), ("ids", 4), (5, 4)]),
    WINDOWS: lambda: Judge(WINDOWS, [(4, 4), (5, 3), (2, 3, 4)], [(5, 6), (7, 2), (3, 2, 6)]),
    TANH: lambda: Judge(TANH, [(3, 2), (3, 2), ()], [(5, 4), (5, 4), ()]),
}
