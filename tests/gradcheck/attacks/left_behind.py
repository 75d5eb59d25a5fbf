"""Right layers that keep something from call to call, and how to see what a check leaves behind in them.

Each forward and backward calls `meanwhile`, in which another thread may compute: it meets the check at every call.
"""

import collections
import copy
import functools
import io
import math
import pickle
import threading
import types

import numpy as np

from npbert import NO_TAPE, Tape
from tests.gradcheck.attacks.formulas import X, softmax
from tests.gradcheck.small import Scale

COUNT, TABLE, LOCAL = 0, {}, threading.local()
hooks = []


def meanwhile():
    """Another thread's turn."""
    for hook in hooks:
        hook()


class _State(pickle.Pickler):
    """A pickle with functions, variables of closures and classes as what they hold, not as their names."""

    def reducer_override(self, thing):
        if isinstance(thing, types.FunctionType):
            scope = {name: id(thing.__globals__.get(name)) for name in thing.__code__.co_names}
            return object, (), (thing.__closure__, thing.__defaults__, thing.__dict__, scope)
        if isinstance(thing, types.CellType):
            return object, (), (thing.cell_contents,)
        if isinstance(thing, type) and thing.__module__.startswith("tests."):
            return object, (), {name: value for name, value in vars(thing).items() if name[:2] != "__"}
        return (object, ()) if isinstance(thing, staticmethod | Tape) else NotImplemented


def state_of(case):
    """All that a case holds, with the settings and functions that all code shares, as bytes."""
    file = io.BytesIO()
    shared = np.geterr(), np.random.get_state(), np.get_printoptions(), id(np.zeros), id(math.exp)
    _State(file).dump([case, COUNT, TABLE, vars(LOCAL), shared])
    return file.getvalue()


@functools.cache
def mask(size):
    made = np.zeros((size, size))
    made[np.triu_indices(size, 1)] = -np.inf
    return made


@functools.lru_cache(maxsize=3)
def table(dtype):
    made = np.full(3, float(dtype.itemsize))
    made[0] = math.sqrt(2)
    return made


class Kept(Scale):
    """`keep` changes something that is held, in each forward."""

    calls_of_all = 0

    def __init__(self, keep, **held):
        super().__init__()
        vars(self).update(keep=keep, **copy.deepcopy(held))

    def forward(self, x, tape=NO_TAPE):
        meanwhile()
        self.keep(self, x)
        return super().forward(x, tape)

    def backward(self, dy, tape):
        meanwhile()
        return super().backward(dy, tape)


def cached():
    """What the caches give."""
    return repr([mask(2), *(table(np.dtype(name)) for name in ("object", "half", "single"))])


def computed():
    """What another thread computes."""
    return repr([np.zeros(3), np.full(2, 0.5), math.sqrt(2.0), softmax(X), Kept(lambda self, x: None).forward(X)])


class Slotted:
    __slots__ = ("last",)


def mean_in_place(self, x):
    self.mean *= 0.9
    self.mean += 0.1 * np.ones(3)


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
    return lambda: (Kept(keep, **held), X)


def learned():
    """With a gradient of an earlier backward, and an optimizer that holds the same arrays."""
    made = Kept(lambda self, x: None)
    made.s.add_grad(np.array([0.1, 0.2, 0.3]))
    made.held_by_optimizer = [made.s.value, made.s.grad]
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


def in_module(x):
    global COUNT
    COUNT += 1
    TABLE.setdefault(x.shape, np.zeros(x.shape))


def in_thread(x):
    LOCAL.last = x


LEFT = {
    "functools.cache": layer(lambda self, x: mask(len(x))),
    "functools.lru_cache by the dtype": layer(lambda self, x: table(x.dtype)),
    "a dict on self": layer(lambda self, x: self.masks.setdefault(len(x), np.zeros((2, 2))), masks={}),
    "a mean in place": layer(mean_in_place, mean=np.zeros(3)),
    "the last x": layer(lambda self, x: setattr(self, "last", x)),
    "a slot of what is held": layer(lambda self, x: setattr(self.slotted, "last", x.sum()), slotted=Slotted()),
    "a plain holder": layer(lambda self, x: setattr(self.held, "last", x), held=types.SimpleNamespace(last=np.ones(2))),
    "a deque": layer(lambda self, x: self.last.append(x), last=collections.deque([0.5], maxlen=2)),
    "a generator": layer(lambda self, x: self.rng.random(), rng=np.random.default_rng(3)),
    "a counter of the class": layer(in_class),
    "what is busy when a cast fails": layer(used, is_busy=False),
    "a gradient and an optimizer": learned,
    "a closure": in_closure,
    "a default argument": in_default,
    "the module": lambda: pair(in_module),
    "a thread's own": lambda: pair(in_thread),
    "NumPy's generator": lambda: pair(lambda x: np.random.random()),
}
"""What a layer keeps is kept byte for byte, and caches hold floats."""
