"""Layers that keep something, and what a check may leave behind in them, in their module and in another thread.

After a check all that is held is byte for byte as before, caches hold floats, and forward gives what it gave. A forward
calls `meanwhile`, in which another thread computes, so that it meets the check at every call.
"""

import collections
import copy
import functools
import math
import threading
import types

import numpy as np

from npbert import NO_TAPE, Parameter
from tests.gradcheck.attacks.formulas import X, softmax

COUNT, TABLE, LOCAL = [0], {}, threading.local()
hooks = []


def meanwhile():
    """Another thread's turn."""
    for hook in hooks:
        hook()


@functools.cache
def mask(size):
    made = np.zeros((size, size))
    made[np.triu_indices(size, 1)] = -np.inf
    return made


@functools.lru_cache(maxsize=4)
def table(size):
    made = np.full(size, 0.5)
    made[0] = math.sqrt(2)
    return made


class Kept:
    """y = x w. `keep` changes something that is held, in each forward."""

    calls_of_all = 0

    def __init__(self, keep, **held):
        self.keep, self.weight = keep, Parameter(np.array([1.0, 2.0, 3.0]))
        vars(self).update(held)

    def forward(self, x, tape=NO_TAPE):
        meanwhile()
        self.keep(self, x)
        tape.keep(self, x)
        return x * self.weight.value

    def backward(self, dy, tape):
        meanwhile()
        x = tape.take(self)
        self.weight.add_grad((dy * x).sum(axis=0))
        return dy * self.weight.value


class Shifted(Kept):
    """y = x w + a table that is cached."""

    def forward(self, x, tape=NO_TAPE):
        return table(x.shape[1]) + super().forward(x, tape)


class Slotted:
    __slots__ = ("last", "rows")

    def __init__(self):
        self.rows = []


def mean_in_place(self, x):
    self.mean *= 0.9
    self.mean += 0.1 * np.ones(3)


def buffer_of_x(self, x):
    if self.buffer is None:
        self.buffer = np.empty(x.shape)
    np.copyto(self.buffer, x) if x.dtype == float else None


def used(self, x):
    """Raises where it is entered again before it has left."""
    if self.is_busy:
        raise RuntimeError("busy")
    self.is_busy = True
    float(x[0, 0].real)
    self.is_busy = False


def in_class(self, x):
    Kept.calls_of_all += 1


def layer(keep, **held):
    return lambda: (Kept(keep, **{name: copy.deepcopy(value) for name, value in held.items()}), X)


def learned():
    """With a gradient of an earlier backward, and an optimizer that holds the same arrays."""
    made = Kept(lambda self, x: None)
    made.weight.add_grad(np.array([0.1, 0.2, 0.3]))
    made.held_by_optimizer = [made.weight.value, made.weight.grad]
    return made, X


def pair(remember):
    def forward(x):
        meanwhile()
        remember(x)
        return x * x

    return forward, lambda dy, x: 2 * dy * x, X


def in_closure():
    calls, last = 0, None

    def remember(x):
        nonlocal calls, last
        calls, last = calls + 1, x

    return pair(remember)


def in_default():
    def remember(x, rows=[]):  # noqa: B006
        rows.append(x.sum())

    return pair(remember)


def in_attribute():
    def remember(x):
        remember.rows.append(x)

    remember.rows = []
    return pair(remember)


def in_module(x):
    COUNT[0] += 1
    TABLE.setdefault(x.shape, np.zeros(x.shape))


def in_thread(x):
    LOCAL.last = x


def attended(x):
    meanwhile()
    return softmax(x @ x.T + mask(len(x)))


def attended_vjp(dy, x):
    p = softmax(x @ x.T + mask(len(x)))
    ds = p * (dy - (dy * p).sum(axis=1, keepdims=True))
    return (ds + ds.T) @ x


def looked_up(x):
    meanwhile()
    return x * table(x.shape[-1])


class Exp:
    """It keeps y on the class."""

    y = None

    @staticmethod
    def forward(ctx, x):
        meanwhile()
        Exp.y = np.exp(x)
        return Exp.y

    @staticmethod
    def backward(ctx, dy):
        return dy * Exp.y


LEFT = {
    "functools.cache of a mask": lambda: (attended, attended_vjp, X),
    "functools.lru_cache of a table": lambda: (looked_up, lambda dy, x: dy * table(3), X),
    "functools.cache in a layer": layer(lambda self, x: mask(len(x)) + table(2)),
    "functools.cache in y": lambda: (Shifted(lambda self, x: None), X),
    "a dict on self": layer(lambda self, x: self.masks.setdefault(len(x), np.zeros((2, 2))), masks={}),
    "a counter on self": layer(lambda self, x: setattr(self, "calls", self.calls + 1), calls=0),
    "a mean in place": layer(mean_in_place, mean=np.zeros(3)),
    "a mean anew": layer(lambda self, x: setattr(self, "mean", 0.9 * self.mean + 0.1 * x.mean(0)), mean=np.zeros(3)),
    "the last x": layer(lambda self, x: setattr(self, "last", x)),
    "a buffer made at the first call": layer(buffer_of_x, buffer=None),
    "a slot of what is held": layer(lambda self, x: setattr(self.slotted, "last", x.sum()), slotted=Slotted()),
    "a list in a slot": layer(lambda self, x: self.slotted.rows.append(x), slotted=Slotted()),
    "a plain holder": layer(
        lambda self, x: setattr(self.holder, "last", x), holder=types.SimpleNamespace(last=np.ones(2))
    ),
    "a dict of lists": layer(lambda self, x: self.log["x"].append(x.sum()), log={"x": [1.0]}),
    "a deque": layer(lambda self, x: self.last.append(x), last=collections.deque([0.5], maxlen=2)),
    "a set": layer(lambda self, x: self.shapes.add(x.shape), shapes=set()),
    "a generator": layer(lambda self, x: self.rng.random(), rng=np.random.default_rng(3)),
    "a counter of the class": layer(in_class),
    "what is busy when a cast fails": layer(used, is_busy=False),
    "a gradient and an optimizer": learned,
    "a closure": in_closure,
    "a default argument": in_default,
    "an attribute of a function": in_attribute,
    "the module": lambda: pair(in_module),
    "a thread's own": lambda: pair(in_thread),
    "NumPy's generator": lambda: pair(lambda x: np.random.random()),
    "the class of a ctx": lambda: (Exp, X),
}
