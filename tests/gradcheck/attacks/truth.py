"""What is true of a backward, by differences of its own floats: the check is asked for the form of a case alone.

Each entry of the Jacobian lies between the slopes to the left, to the right and through the middle, but for rounding.
At a tie these differ, and every derivative between them is right. Backward is linear in dy, so it is called with unit
vectors, with both signs, with large, small and zero dy; and always after a call with other inputs.
"""

import contextlib

import numpy as np

from npbert import Tape
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.inputs import as_tuple, is_float_array
from npbert.gradcheck.layer_of import as_layer


def made(case):
    """The arguments of a case: a tuple, or a function that makes them anew where they have a memory."""
    return case() if callable(case) else case


def jacobian(part, step, floor):
    """By name, two matrices: the middle between the slopes of all y at each number of an array, and how far a slope may
    lie from it. step, floor: see `error_of`."""

    def outputs(array, j, change):
        start, array[j] = array[j], array[j] + change
        y = as_tuple(there.forward(Tape()))
        array[j] = start
        return np.concatenate(list(map(np.ravel, y)))

    def slopes(array, j):
        h = step * (abs(array[j]) or 1.0)
        if isinstance(step, complex):
            return (slope := outputs(array, j, h).imag / h.imag), 0 * slope
        f0, f1, f2, b1, b2 = (outputs(array, j, t * h) for t in (0, 1, 2, -1, -2))
        right, left = (4 * f1 - 3 * f0 - f2) / (2 * h), (3 * f0 - 4 * b1 + b2) / (2 * h)
        three = left, right, (8 * (f1 - b1) - (f2 - b2)) / (12 * h)
        low, high = np.min(three, axis=0), np.max(three, axis=0)
        rounding = 1e-14 * np.maximum(np.max(np.abs([f0, f2, b2]), axis=0), floor) / h
        return (low + high) / 2, (high - low) / 2 + rounding

    arrays = part.made(lambda array: array.astype(type(step)))
    with part.holding(arrays) as there:
        found = {name: [slopes(array, j) for j in np.ndindex(array.shape)] for name, array in arrays.items()}
    return {name: tuple(map(np.array, zip(*each, strict=True))) for name, each in found.items()}


def error_of(case, *, step=1e-4, tolerance=1e-3, floor=0.0):
    """How many times farther than `tolerance`, relative to the terms that are summed, a gradient lies from what it may
    be; infinite where y or a gradient is not finite.

    step: relative to the number; a complex one is for functions that complex numbers flow through. floor: y is rounded
    by ε of itself, or of the floor where that is more.
    """
    given, *rest = made(case)
    layer, others = as_layer(given, [1.5 * each + 1 if is_float_array(each) else each for each in rest])
    part = Case(layer, rest[len(rest) - len(others) :], None)
    floats = part.run_on_floats(np.random.default_rng(5))
    sizes = list(map(np.size, floats.y))
    total, worst = sum(sizes), 0.0
    slopes = jacobian(part, step, floor)
    drawn = np.random.default_rng(5).standard_normal(total) + 0.1
    unit, gaps = np.eye(total), drawn * (np.arange(total) % 2)
    for dy in (*unit, np.ones(total), drawn, -1e4 * drawn, 1e-4 * drawn, gaps):
        parts = np.split(dy, np.cumsum(sizes)[:-1])
        dys = tuple(each.reshape(np.shape(y))[()] for each, y in zip(parts, floats.y, strict=True))
        for name, gradient in part.run_on_floats(dys).gradients.items():
            middle, width = slopes[name]
            off = np.abs(gradient.ravel() - middle @ dy) - width @ np.abs(dy)
            if not np.isfinite(off).all():
                return np.inf
            scale = tolerance * (np.abs(middle) @ np.abs(dy))
            worst = max(worst, (off[off > 0] / scale[off > 0]).max(initial=0))
    return worst


def is_right(case):
    """True if a case is right, by a complex step where it takes one, or by differences."""
    floor = max(np.abs(each).max(initial=1) for each in made(case) if is_float_array(each))
    for step in (1e-30j, 1e-2, 1e-4, 1e-7, 1e-10):
        with contextlib.suppress(TypeError):
            if error_of(case, step=step, tolerance=1e-6, floor=floor) <= 1:
                return True
    return False
