"""What is true of a backward, by differences of floats alone: nothing of the check is asked.

Each entry of the Jacobian lies between the slopes to the left, to the right and through the middle, but for rounding.
At a tie these differ, and every derivative between them is right. Backward is linear in dy, so it is tried on unit
vectors, on both signs, on large, small and zero dy.
"""

import contextlib
import inspect
import itertools
from types import SimpleNamespace

import numpy as np

from npbert import Parameter, Tape


def made(case):
    """The arguments of a case: it is a tuple of them, or a function that makes them anew, where they have a memory."""
    return case() if callable(case) else case


def parameters_in(thing, seen):
    """All Parameters, wherever they are held."""
    if id(thing) in seen or isinstance(thing, str | np.random.Generator):
        return []
    seen.add(id(thing))
    if isinstance(thing, Parameter):
        return [thing]
    parts = list(getattr(thing, "__dict__", {}).values())
    parts += [getattr(thing, slot, None) for slot in getattr(type(thing), "__slots__", ())]
    parts += list(thing.values()) if hasattr(thing, "values") and hasattr(thing, "keys") else []
    is_many = hasattr(thing, "__iter__") and not isinstance(thing, type)
    parts += list(thing) if is_many and getattr(thing, "dtype", None) in (None, np.dtype(object)) else []
    parts += [cell.cell_contents for cell in getattr(thing, "__closure__", None) or ()]
    parts += getattr(thing, "args", ()) or ()
    parts += vars(type(thing)).values() if type(thing).__module__.startswith("tests.") else ()
    return list(itertools.chain.from_iterable(parameters_in(part, seen) for part in parts))


class Called:
    """What check_gradients is given, as a function of its float arrays: those of the inputs, then the Parameters."""

    def __init__(self, first, *rest):
        self.first = first
        self.is_layer = hasattr(first, "forward") and not isinstance(first, type)
        self.second = rest[0] if rest and callable(rest[0]) else None
        self.inputs = list(rest[1:] if self.second else rest)
        self.floats = [p for p, x in enumerate(self.inputs) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
        self.parameters = parameters_in(first, set()) if self.is_layer else []
        self.values = [self.inputs[p] for p in self.floats] + [each.value for each in self.parameters]

    def forward(self, values):
        """y as a list, and backward: from a list of dy to the gradients in the order of `values`."""
        inputs = list(self.inputs)
        for position, value in zip(self.floats, values, strict=False):
            inputs[position] = value
        if self.is_layer:
            for parameter, value in zip(self.parameters, values[len(self.floats) :], strict=True):
                parameter.value = value
                parameter.zero_grad()
            tape = Tape(np.random.default_rng(np.random.randint(2**31)))
            y = self.first.forward(*inputs, tape=tape)
            back = lambda dy: self.first.backward(dy, tape)  # noqa: E731
        elif isinstance(self.first, type):
            ctx = SimpleNamespace(saved_tensors=())
            ctx.save_for_backward = lambda *kept: setattr(ctx, "saved_tensors", kept)
            y = self.first.forward(ctx, *inputs)
            back = lambda dy: self.first.backward(ctx, *(dy if isinstance(dy, tuple) else (dy,)))  # noqa: E731
        elif self.second is None:
            y, *found = self.first(*inputs)
            found = found[0] if len(found) == 1 else found
            back = lambda dy: _each(lambda gradient: dy * gradient, found)  # noqa: E731
        elif "cache" in (asked := list(inspect.signature(self.second).parameters)):
            *y, cache = self.first(*inputs)
            y = tuple(y) if asked.index("cache") > 1 else y[0]
            back = lambda dy: self.second(*(dy if isinstance(dy, tuple) else (dy,)), cache)  # noqa: E731
        else:
            y = self.first(*inputs)
            is_each = len(asked) == len(inputs) + len(y) if isinstance(y, tuple) else False
            back = lambda dy: self.second(*(dy if is_each else (dy,)), *inputs)  # noqa: E731

        def backward(dys):
            many = isinstance(y, tuple | list)
            return self._in_order(back(tuple(dys) if many else dys[0] if np.ndim(y) else float(dys[0])))

        return [np.array(part) for part in (y if isinstance(y, tuple | list) else [y])], backward

    def _in_order(self, found):
        if isinstance(found, dict):
            names = list(inspect.signature(self.first).parameters)
            found = [found.get(name, found.get(f"d{name}")) for name in names[: len(self.inputs)]]
        found = list(found) if isinstance(found, tuple | list) else [found]
        if len(found) == len(self.inputs):
            found = [found[position] for position in self.floats]
        found += [None] * (len(self.floats) - len(found))
        return found[: len(self.floats)] + [each.grad for each in self.parameters]


def _each(change, found):
    if isinstance(found, dict):
        return {name: change(part) for name, part in found.items()}
    return list(map(change, found)) if isinstance(found, tuple | list) else change(found)


def jacobian(run, values, moved, step, eps, floor):
    """For each array that is moved, two arrays: the middle between the slopes at each of its numbers, of all y in a
    row, and how far a slope may lie from it. step: relative to the number; a complex one is for functions that complex
    numbers flow through. eps, floor: y is rounded by eps of itself, or of the floor where that is more."""
    middles, widths = [], []
    for k in moved:
        columns = []
        for j in np.ndindex(values[k].shape):
            h = step * (abs(values[k][j]) or 1.0)

            def at(t, k=k, j=j, h=h):
                value = values[k].astype(complex) if isinstance(h, complex) else values[k]  # in the user's own memory
                start = value[j]
                value[j] += t * h
                try:
                    return run([value if i == k else other for i, other in enumerate(values)])
                finally:
                    value[j] = start

            if isinstance(h, complex):
                columns.append((at(1).imag / h.imag, 0 * at(1).real))
                continue
            f0, f1, f2, b1, b2 = map(at, (0, 1, 2, -1, -2))
            slopes = [(4 * f1 - 3 * f0 - f2) / (2 * h), (3 * f0 - 4 * b1 + b2) / (2 * h)]
            slopes.append((8 * (f1 - b1) - (f2 - b2)) / (12 * h))
            low, high = np.min(slopes, axis=0), np.max(slopes, axis=0)
            noise = 40 * eps * np.maximum(np.max(np.abs([f0, f2, b2]), axis=0), floor) / h
            columns.append(((low + high) / 2, (high - low) / 2 + noise))
        shape = (*values[k].shape, -1)
        middles.append(np.reshape([middle for middle, _ in columns], shape))
        widths.append(np.reshape([width for _, width in columns], shape))
    return middles, widths


def _dys(size):
    unit = np.eye(size)
    drawn = np.random.default_rng(5).standard_normal(size) + 0.1
    return [*unit, *-unit, np.ones(size), drawn, 1e4 * drawn, 1e-4 * drawn, np.where(np.arange(size) % 2, drawn, 0)]


def error_of(case, *, tolerance, step=1e-4, is_fresh=True, is_again=False, seed=0, floor=0.0):
    """How many times farther than `tolerance`, relative to the terms that are summed, a gradient lies from what it may
    be; infinite where y or a gradient is not finite.

    is_fresh: made anew for each call; else called before with others. is_again: called before with the same.
    """
    called = Called(*made(case))
    if not is_fresh:
        ys, backward = called.forward([1.5 * value + 1 for value in called.values])
        backward([np.ones(np.shape(y)) for y in ys])

    def opened(values):
        np.random.seed(seed)
        current = Called(*made(case)) if is_fresh else called
        if is_again:
            current.forward(values)
        return current.forward(values)

    ys, backward = opened(called.values)
    shapes = [np.shape(y) for y in ys]
    first = backward([np.ones(shape) for shape in shapes])
    moved = [k for k, gradient in enumerate(first) if gradient is not None]

    def run(values):
        return np.concatenate([np.ravel(y) for y in opened(values)[0]])

    if not np.isfinite(run(called.values)).all():
        return np.inf
    eps = max(np.finfo(y.dtype).eps for y in ys if y.dtype.kind in "fc")
    middles, widths = jacobian(run, called.values, moved, step, eps, floor)
    worst = 0.0
    for dy in _dys(sum(map(np.size, ys))):
        parts = np.split(dy, np.cumsum([np.size(y) for y in ys])[:-1])
        gradients = opened(called.values)[1]([part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])
        for k, middle, width in zip(moved, middles, widths, strict=True):
            off = np.abs(gradients[k] - middle @ dy) - width @ np.abs(dy)
            scale = tolerance * (np.abs(middle) @ np.abs(dy))
            if not np.isfinite(off).all():
                return np.inf
            with np.errstate(divide="ignore", invalid="ignore"):
                worst = max(worst, np.where(off <= 0, 0.0, off / scale).max(initial=0))
    return worst


def wrong_by(case):
    """How wrong a case is, at its first call or at a later one, with whatever is drawn, or by a complex step.

    Returns: a number that is above 1 for what is wrong.
    """
    calls = [{"seed": 0}, {"is_fresh": False}, {"is_again": True}, {"step": 1e-30j}]
    for how in itertools.chain(calls, ({"seed": seed} for seed in range(1, 40))):
        with contextlib.suppress(TypeError, np.exceptions.ComplexWarning):
            if (error := error_of(case, **({"tolerance": 1e-13 if "step" in how else 1e-3} | how))) > 1:
                return error
    return 0.0


def is_right(case):
    """True if a case is right, by a complex step where it takes one, or by differences."""
    floor = max(np.abs(value).max(initial=1) for value in Called(*made(case)).values)
    for step in (1e-30j, 1e-2, 1e-4, 1e-7, 1e-10):
        try:
            if error_of(case, tolerance=1e-6, step=step, floor=floor) <= 1:
                return True
        except (TypeError, np.exceptions.ComplexWarning):
            continue
    return False
