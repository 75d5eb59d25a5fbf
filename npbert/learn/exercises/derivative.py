"""Exercise 1: the numerical derivative, by a central difference and by the complex step."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain import in_manner
from npbert.learn.exercise import CHAPTERS, Exercise, Numbers, Part, returned

TEXT = """
Before you write derivatives, you need a way to check them. A computer can measure them: move one number of x a little,
and see how much f(x) changes. This is slow, as it runs f for every number. But it needs no calculus, so it can check
the formulas that you will derive.

f takes an array and returns one number. Return the array of its derivatives, one for each number of x, of the shape of
x. np.ndindex(x.shape) yields the index of every number, for any shape.
"""
ASKED_CENTRAL = """
Return ∂f/∂x, of the shape of x: for each number of x the slope of f between x − h and x + h.

Move one number of x at a time, a step h up and a step h down, and leave x unchanged.
"""
ASKED_COMPLEX = """
Return ∂f/∂x, of the shape of x: Im f(x + ih) / h for each number of x.

f also takes complex numbers. For a small h, f(x + ih) = f(x) + ih f′(x) − …, so the slope is in the imaginary part.
There is no subtraction, so no digits are lost, and h can be as small as you like.
"""
HINTS = """
Take two points, one h above and one h below: they are 2h apart. All other numbers stay unchanged.

For each `index` of np.ndindex(x.shape) make a copy of x, move copy[index], call f with the copy, and put the result
into gradient[index]. For the complex step the copy is x.astype(complex).

central: gradient[index] = (f(up) - f(down)) / (2 * h). complex: moved[index] += 1j * h, then gradient[index] =
f(moved).imag / h.
"""
CENTRAL_PLAIN = """
def central_difference(f, x, h=1e-5):
    def moved(to):
        return np.where(places == n, to, x)
    places = np.arange(x.size).reshape(x.shape)
    gradient = np.zeros(x.shape)
    for n in range(x.size):
        up = moved(x + h)
        down = moved(x - h)
        width = (up - down).max()
        gradient.flat[n] = (f(up) - f(down)) / width
    return gradient
"""
COMPLEX_PLAIN = """
def complex_step(f, x, h=1e-30):
    places = np.arange(x.size).reshape(x.shape)
    gradient = np.zeros(x.shape)
    for n in range(x.size):
        moved = np.where(places == n, x + 1j * h, x)
        gradient.flat[n] = f(moved).imag / h
    return gradient
"""
GRADIENT, CHANGED = "the gradient", "the count of changed numbers of x"
RESTORED = (
    "x must be unchanged at the end, and x + h − h may differ from x, as each step is rounded. Keep the "
    "number, start = x[index], and restore it, x[index] = start; or move a copy, moved = x.copy()."
)
REASONS_CENTRAL = {
    GRADIENT: "It is the slope for each number of x, with all others fixed: the change of f between two points, over "
    "their distance. With a step to both sides, the errors cancel except for a part that shrinks like h².",
    CHANGED: RESTORED,
}
REASONS_COMPLEX = {
    GRADIENT: "A step along the imaginary axis changes the imaginary part of f by the step times the slope. "
    "It is one step, not two. x + h stays on the real axis, where f is real: the step is 1j * h, and x.astype(complex) "
    "is an array for it.",
    CHANGED: RESTORED,
}
ADVICE = {
    "moved at once": "The gradient is the slope of f for each number separately. So move one number, x[index] for "
    "an index of np.ndindex(x.shape), with all others fixed, and restore it before you move the next. " + RESTORED,
}
SHAPES = ((2, 3), (5,), (3, 2, 4))


def central_difference(f: Callable[[Array], Any], x: Array, h: float = 1e-5) -> Array:
    """∂f/∂x ≈ (f(x + h) − f(x − h)) / 2h, with one number of x moved at a time."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += h
        down[index] -= h
        gradient[index] = (f(up) - f(down)) / (2 * h)
    return gradient


def complex_step(f: Callable[[Array], Any], x: Array, h: float = 1e-30) -> Array:
    """∂f/∂x = Im f(x + ih) / h, with one number of x moved at a time, along the imaginary axis."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[index] += 1j * h
        gradient[index] = f(moved).imag / h
    return gradient


def run(h: float, derivative: Any, seed: int) -> Iterator[Numbers]:
    """Return the gradient of a function, at an x of a different shape for each seed. The function rejects an x with
    several changed numbers."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    x, weights = in_manner(rng.standard_normal(shape), seed // 2), rng.standard_normal(shape)
    start = x.copy()

    def f(z: Any) -> Any:
        moved = int(np.sum(np.abs(z - start) > h / 2))
        if moved > 1:
            raise ValueError(f"f is called with {moved} of the {x.size} numbers of x moved at once")
        return (weights * np.exp(np.sin(z))).sum() + np.cos(z.sum())

    yield {GRADIENT: returned(derivative(f, x, h)), CHANGED: np.array(np.sum(x != start), float)}


def part(right: Any, h: float, **data: Any) -> Part:
    """Return the part of one derivative, with steps h large enough that a missing division by h shows."""
    return Part(right=right, run=partial(run, h), advice=ADVICE, **data)


CENTRAL = part(
    central_difference, 1e-5, asked=ASKED_CENTRAL, plain=CENTRAL_PLAIN, reasons=REASONS_CENTRAL, tolerance=1e-7
)
COMPLEX = part(complex_step, 1e-12, asked=ASKED_COMPLEX, plain=COMPLEX_PLAIN, reasons=REASONS_COMPLEX, tolerance=1e-11)
EXERCISE = Exercise("the numerical derivative", CHAPTERS[9], TEXT, HINTS, (CENTRAL, COMPLEX))
