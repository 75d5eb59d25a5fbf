"""Right backwards of functions that people differentiate, and of code that keeps something from call to call."""

import functools
import importlib.util

import numpy as np

from npbert import NO_TAPE
from tests.gradcheck.attacks.formulas import INF, SOME, UP, W, X, Z, of_x, sigmoid, softmax, softmax_vjp

SPD = W @ W.T + np.eye(3)


def cholesky_vjp(dy, a):
    chol = np.linalg.cholesky(a)
    inside, inverse = np.tril(chol.T @ dy), np.linalg.inv(chol)
    inside[np.diag_indices(3)] *= 0.5
    grad = inverse.T @ inside @ inverse
    return np.tril(grad + grad.T) - np.diag(np.diag(grad))


def solve_vjp(dy, a, b):
    db = np.linalg.solve(a.T, dy)
    return -db @ np.linalg.solve(a, b).T, db


SPECIAL = {}


if importlib.util.find_spec("scipy"):
    from scipy import special

    SPECIAL = {
        "erfc": (special.erfc, of_x(lambda x: -2 / np.sqrt(np.pi) * np.exp(-x * x)), X),
        "xlogy": (special.xlogy, lambda dy, x, z: (dy * np.log(z), dy * x / z), UP, UP[::-1].copy()),
        "expit": (special.expit, of_x(lambda x: special.expit(x) * (1 - special.expit(x))), X),
        "logsumexp": (
            lambda x: special.logsumexp(x, axis=1),
            lambda dy, x: dy[:, None] * special.softmax(x, axis=1),
            X,
        ),
    }


RULES = {
    "inv": (np.linalg.inv, lambda dy, a: -(i := np.linalg.inv(a)).T @ dy @ i.T, W),
    "solve": (np.linalg.solve, solve_vjp, W, Z.T),
    "det": (np.linalg.det, lambda dy, a: dy * np.linalg.det(a) * np.linalg.inv(a).T, W),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], lambda dy, a: dy * np.linalg.inv(a).T, W),
    "cholesky": (lambda a: np.linalg.cholesky(np.tril(a) + np.tril(a, -1).T), cholesky_vjp, SPD),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, 2), lambda dy, a: dy @ a.T + a.T @ dy, W),
    "norm": (np.linalg.norm, lambda dy, a: dy * a / np.linalg.norm(a), W),
    "hypot": (np.hypot, lambda dy, x, z: (dy * x / np.hypot(x, z), dy * z / np.hypot(x, z)), X, Z),
    "logaddexp": (np.logaddexp, lambda dy, x, z: (dy * sigmoid(x - z), dy * sigmoid(z - x)), X, Z),
    "softplus by logaddexp": (lambda x: np.logaddexp(0, x), of_x(sigmoid), X),
    "sum where": (lambda x: x.sum(axis=1, where=x > 0), lambda dy, x: dy[:, None] * (x > 0), X),
    "mean where": (lambda x: np.mean(x, where=SOME), lambda dy, x: dy * SOME / 3, UP),
    "max where": (lambda x: np.max(x, where=SOME, initial=-INF), lambda dy, x: dy * (np.arange(4) == 3), UP),
    "sum in float64": (lambda x: x.sum(axis=1, dtype=np.float64), lambda dy, x: dy[:, None] + 0 * x, X),
    "mean in float64": (lambda x: np.mean(x, dtype="f8"), lambda dy, x: dy / x.size + 0 * x, X),
    "log where": (
        lambda x: np.log(x, where=x > 1, out=np.zeros_like(x)),
        of_x(lambda x: np.where(x > 1, 1 / x, 0)),
        UP[[0, 2, 3]],
    ),
    "astype float": (lambda x: x.astype(float) ** 2, of_x(lambda x: 2 * x), X),
    "cumprod": (
        lambda x: np.cumprod(x),
        lambda dy, x: np.cumsum((dy * np.cumprod(x))[::-1])[::-1] / x,
        UP,
    ),
    "trapezoid": (lambda x: (x[1:] + x[:-1]).sum() / 2, lambda dy, x: dy * np.array([0.5, 1, 1, 0.5]), UP),
    "diff": (np.diff, lambda dy, x: -np.diff(np.pad(dy, 1)), UP),
    "convolve": (
        lambda x, w: np.convolve(x, w, "valid"),
        lambda dy, x, w: (np.convolve(dy, w[::-1]), np.convolve(x, dy[::-1], "valid")[::-1]),
        UP,
        X[0, :2],
    ),
    "cross": (np.cross, lambda dy, x, z: (np.cross(z, dy), np.cross(dy, x)), X, Z),
    "outer": (np.outer, lambda dy, x, z: (dy @ z, x @ dy), UP, X[0]),
    "kron": (np.kron, lambda dy, x, z: (dy.reshape(4, 3) @ z, x @ dy.reshape(4, 3)), UP, X[0]),
    "trace": (lambda a: np.trace(a @ a), lambda dy, a: 2 * dy * a.T, W),
    "einsum": (
        lambda x, w: np.einsum("ni,ij,mj->nm", x, w, x, optimize=True),
        lambda dy, x, w: (dy @ x @ w.T + dy.T @ x @ w, x.T @ dy @ x),
        X,
        W,
    ),
    "std": (
        lambda x: x.std(axis=1, ddof=1),
        lambda dy, x: dy[:, None] * (x - x.mean(1, keepdims=True)) / (2 * x.std(axis=1, ddof=1, keepdims=True)),
        X,
    ),
    "sort": (lambda x: np.sort(x), lambda dy, x: dy[np.argsort(np.argsort(x))], UP[[2, 0, 3, 1]]),
    "pad and roll": (lambda x: np.roll(np.pad(x, 1), 2), lambda dy, x: np.roll(dy, -2)[1:-1], UP),
    **SPECIAL,
}
"""Functions that people differentiate."""


@functools.cache
def causal(size):
    return np.where(np.tri(size) > 0, 0.0, -INF)


def running():
    seen = {"mean": np.zeros(3), "calls": 0}

    def forward(x):
        seen["mean"] = 0.9 * seen["mean"] + 0.1 * np.ones(3)
        seen["calls"] += 1
        return x * 2

    return forward, lambda dy, x: dy * 2, X


def buffered():
    buffer = np.zeros(X.shape)

    def backward(dy, x):
        np.copyto(buffer, 2.0)
        return dy * buffer * x

    return lambda x: x * x, backward, X


KEPT = {
    "a mask of functools.cache": (
        lambda x: softmax(x @ x.T + causal(len(x))),
        lambda dy, x: ((ds := softmax_vjp(dy, x @ x.T + causal(len(x)))) + ds.T) @ x,
        W,
    ),
    "a running mean": running,
    "a buffer": buffered,
    "a table made once": lambda: (
        lambda x, kept={}: x * kept.setdefault(x.shape, np.arange(6.0).reshape(2, 3)),
        lambda dy, x: dy * np.arange(6.0).reshape(2, 3),
        X,
    ),
}
"""What is kept from call to call, and makes no difference."""


class Careful:
    """x², with an error for numbers of another kind, in forward or in backward."""

    def __init__(self, error, where="forward"):
        self.error, self.where = error, where

    def look_at(self, where, array):
        if where == self.where and not isinstance(array.flat[0], float | complex):
            raise self.error

    def forward(self, x, tape=NO_TAPE):
        self.look_at("forward", x)
        tape.keep(self, x)
        return x * x

    def backward(self, dy, tape):
        self.look_at("backward", dy)
        x = tape.take(self)
        if dy.shape != x.shape:
            raise ValueError("a dy of another shape")
        return 2 * dy * x


ERRORS = [AssertionError("a kind"), RuntimeError("a kind"), OSError("a kind"), StopIteration(), KeyError("kind")]
ERRORS += [
    NotImplementedError(),
    Exception("a kind"),
    RecursionError("a kind"),
    UnicodeError("a kind"),
    Warning("a kind"),
]
RAISED = {
    f"{type(error).__name__} in {where}": (Careful(error, where), X)
    for error in ERRORS
    for where in ("forward", "backward")
}
"""Whatever code raises on exact numbers, it is not proved, and no more than that."""
