"""What a check leaves behind in a layer, in its module and in another thread: looked for with texts and bytes."""

import collections
import copy
import math
import pickle
import sys
import threading
import types
import warnings

import numpy as np

from npbert.gradcheck import check_gradients, prove
from tests.gradcheck.attacks import left_behind, truth
from tests.gradcheck.attacks.formulas import X, softmax

CALLS = {"prove": prove, "check_gradients": check_gradients}


def state_of(thing, seen=None):
    """All that can be reached from a thing, as nested tuples of texts and bytes; caches of functools are left out."""
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return f"again {seen[id(thing)]}"
    if isinstance(thing, int | float | complex | str | bytes | type(None) | types.ModuleType | np.generic | np.dtype):
        return f"{type(thing).__name__} {thing!r}"
    seen[id(thing)] = len(seen)
    parts = []
    if isinstance(thing, np.ndarray):
        values = [state_of(each, seen) for each in thing.ravel()] if thing.dtype == object else thing.tobytes()
        return type(thing).__name__, thing.dtype.str, thing.shape, thing.flags.writeable, values
    if isinstance(thing, np.random.Generator):
        return str(thing.bit_generator.state)
    if isinstance(thing, types.FunctionType):
        parts += [cell.cell_contents for cell in thing.__closure__ or ()]
        parts += [thing.__defaults__, thing.__kwdefaults__]
        parts += [thing.__globals__[name] for name in thing.__code__.co_names if name in {"COUNT", "TABLE", "LOCAL"}]
    if isinstance(thing, types.MethodType):
        parts += [thing.__self__, thing.__func__]
    if isinstance(thing, dict):
        parts += [each for pair in thing.items() for each in pair]
    elif isinstance(thing, list | tuple | set | frozenset | collections.deque):
        parts += sorted(thing, key=str) if isinstance(thing, set | frozenset) else list(thing)
    parts += [getattr(thing, slot, "empty") for slot in getattr(type(thing), "__slots__", ()) if slot != "__weakref__"]
    is_own = isinstance(thing, type) and thing.__module__.startswith("tests.")
    if is_own or not isinstance(thing, type):
        parts += [each for pair in getattr(thing, "__dict__", {}).items() if pair[0][:2] != "__" for each in pair]
    if type(thing).__module__.startswith("tests."):
        parts.append(type(thing))
    return type(thing).__name__, *(state_of(part, seen) for part in parts)


def first_change(before, after):
    """The first place where two states part."""
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        return next(first_change(b, a) for b, a in zip(before, after, strict=True) if b != a)
    return f"{str(before)[:60]} → {str(after)[:60]}"


def surroundings():
    """What is everybody's: modules and their functions, settings, generators."""
    settings = np.geterr(), np.random.get_state()[1].tobytes(), len(warnings.filters), np.get_printoptions()
    functions = [
        id(vars(module)[name])
        for module in (np, math)
        for name in ("exp", "sqrt", "zeros", "ones", "full")
        if name in vars(module)
    ]
    return str(settings), functions, left_behind.np is np, softmax.__globals__["np"] is np, threading.active_count()


def left_after(name, what):
    """What is another thing than before, after the check `what` of a case."""
    left_behind.mask.cache_clear()
    left_behind.table.cache_clear()
    case, twin = left_behind.LEFT[name](), left_behind.LEFT[name]()
    before, around = state_of(case), surroundings()
    try:
        CALLS[what](*case)
    except Exception as error:
        yield f"raises {type(error).__name__}: {error}"
    if (after := state_of(case)) != before:
        yield f"held: {first_change(before, after)}"
    if surroundings() != around:
        yield "the surroundings"
    for cached, size in ((left_behind.mask, 2), (left_behind.table, 2), (left_behind.table, 3)):
        if state_of(cached(size)) != state_of(cached.__wrapped__(size)):
            yield f"{cached.__name__} holds {cached(size).dtype}"
    try:
        if state_of(_forward(case)) != state_of(_forward(twin)):
            yield "forward gives another y"
    except Exception as error:
        yield f"forward raises {type(error).__name__}"


def _forward(case):
    first, x = case[0], case[-1]
    if isinstance(first, type):
        return first.forward(types.SimpleNamespace(), x)
    return first.forward(x) if hasattr(first, "forward") else first(x)


def battery(case):
    """What a thread computes of its own: here, where the layer is, and elsewhere."""
    elsewhere = sys.modules["math"], truth.np
    tries = {
        "NumPy": lambda: [np.zeros(3), np.ones((1, 2)), np.full(2, 0.5), np.empty(2).dtype.str, softmax(X)],
        "math": lambda: [math.exp(0.5), math.sqrt(2.0), math.log(8.0, 2.0), np.zeros((2, 2)) @ X],
        "elsewhere": lambda: [pickle.dumps(elsewhere[0].exp), elsewhere[1] is sys.modules["numpy"]],
        "the layer": lambda: _forward(case),
    }
    found = {}
    for name, compute in tries.items():
        try:
            found[name] = str(state_of(compute()))
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def noticed_by_a_thread(name):
    """What another thread computes otherwise while a case is checked."""
    case, main = left_behind.LEFT[name](), threading.get_ident()
    mine = copy.deepcopy(case)
    alone, found = battery(mine), []
    left_behind.mask.cache_clear()
    left_behind.table.cache_clear()
    go, done, is_over = threading.Event(), threading.Event(), threading.Event()

    def work():
        while go.wait() and not is_over.is_set():
            go.clear()
            now = battery(mine)
            found.extend(
                f"{each}: {alone[each][-70:]} → {now[each][-70:]}" for each in alone if alone[each] != now[each]
            )
            done.set()

    def turn():
        if threading.get_ident() == main:
            go.set()
            if not done.wait(5):
                found.append("it waits for the check")
            done.clear()

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    left_behind.hooks.append(turn)
    try:
        for check in CALLS.values():
            try:
                check(*case)
            except Exception as error:
                found.append(f"the check raises {type(error).__name__}: {error}")
    finally:
        left_behind.hooks.remove(turn)
        is_over.set()
        go.set()
        worker.join(5)
    return list(dict.fromkeys(found))
