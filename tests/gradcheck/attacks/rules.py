"""Right backwards of functions that people differentiate, in many forms, and of careful code."""

import numpy as np

from tests.gradcheck.attacks.formulas import UP, W, X, Z, of_x, sigmoid


def solve_vjp(dy, a, b):
    db = np.linalg.solve(a.T, dy)
    return -np.outer(db, np.linalg.solve(a, b)) if b.ndim == 1 else -db @ np.linalg.solve(a, b).T, db


STACK = np.stack([W, W[::-1] + 1])
RULES = {
    "solve": (np.linalg.solve, solve_vjp, W, Z.T),
    "solve a vector": (np.linalg.solve, solve_vjp, W, Z[0]),
    "det": (np.linalg.det, lambda dy, a: dy * np.linalg.det(a) * np.linalg.inv(a).T, W),
    "slogdet": (
        lambda a: np.linalg.slogdet(a)[1],
        lambda dy, a: dy[:, None, None] * np.linalg.inv(a).swapaxes(1, 2),
        STACK,
    ),
    "logaddexp": (np.logaddexp, lambda dy, x, z: (dy * sigmoid(x - z), dy * sigmoid(z - x)), X, Z),
    "sum where": (lambda x: x.sum(axis=1, where=x > 0), lambda dy, x: dy[:, None] * (x > 0), X),
    "log where": (
        lambda x: np.log(x, where=x > 1, out=np.zeros_like(x)),
        of_x(lambda x: np.where(x > 1, 1 / x, 0)),
        UP[[0, 2, 3]],
    ),
    "cumprod": (np.cumprod, lambda dy, x: np.cumsum((dy * np.cumprod(x))[::-1])[::-1] / x, UP),
    "a quantile": (lambda x: np.quantile(x, 0.25), lambda dy, x: dy * np.array([0.25, 0.75, 0, 0]), UP),
    "arctan2": (np.arctan2, lambda dy, x, z: (dy * z / (x * x + z * z), -dy * x / (x * x + z * z)), X, Z),
    "sort": (np.sort, lambda dy, x: dy[np.argsort(np.argsort(x))], UP[[2, 0, 3, 1]]),
}
"""Functions that people differentiate."""


def times(x, w):
    return x * w


FORMS = {
    "None for the last": (times, lambda dy, x, w: (dy * w, None), X, Z),
    "a dict of dx and dw": (times, lambda dy, x, w: {"dw": dy * x, "dx": dy * w}, X, Z),
    "a cache": (lambda x, w: (x * w, (x, w)), lambda dy, cache: [dy * cache[1], dy * cache[0]], X, Z),
    "a loss and a list": (lambda x, w: ((x * w).sum(), [w, x]), X, Z),
    "several dy": (lambda x: (x * x, 3 * x), lambda da, db, x: 2 * da * x + 3 * db, X),
    "a list of y": (lambda x: [x * x, x.sum()], lambda dy, x: 2 * dy[0] * x + dy[1], X),
    "an array without axes": (lambda x, k: x * k, lambda dy, x, k: (dy * k, (dy * x).sum()), X, np.array(1.5)),
    "itself": (lambda x: x, lambda dy, x: dy, X),
    "truth values": (lambda x, m: x[m], lambda dy, x, m: (np.place(dx := 0 * x, m, dy), (dx, None))[1], X, X > 0),
}
"""A gradient comes back in many forms, and None says that there is none."""


def square(x):
    return x * x


def careful(error, function):
    """The function, with an error for numbers of another kind."""

    def called(first, *more):
        if not isinstance(first.flat[0], float | complex):
            raise error
        return function(first, *more)

    return called


RAISED = {
    "StopIteration in forward": (careful(StopIteration("a kind"), square), of_x(lambda x: 2 * x), X),
    "Warning in backward": (square, careful(Warning("a kind"), of_x(lambda x: 2 * x)), X),
}
"""Whatever code raises on exact numbers, it is not proved, and no more than that."""
