"""Exercise 1: the numerical derivative, by a central difference and by the complex step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Mistakes
from npbert.learn.numbers import Numbers, NumbersPart
from npbert.learn.source import exercise_file, function_source

Function = Callable[[Array], Any]


def central_difference(f: Function, x: Array, h: float = 1e-5) -> Array:
    """∂f/∂x ≈ (f(x + h) − f(x − h)) / 2h, with one number of x moved at a time."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += h
        down[index] -= h
        gradient[index] = (f(up) - f(down)) / (2 * h)
    return gradient


def complex_step(f: Function, x: Array, h: float = 1e-30) -> Array:
    """∂f/∂x = Im f(x + ih) / h, with one number of x moved at a time, along the imaginary axis."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[index] += 1j * h
        gradient[index] = f(moved).imag / h
    return gradient


CENTRAL, COMPLEX = Mistakes(central_difference), Mistakes(complex_step)

TEXT = """
Before you write derivatives, you need somebody who tells you whether they are right. A computer can ask the function
itself: move one number of x a little, and see how much f(x) moves. That is slow, once for every number, but it needs no
calculus, so it can check what you will derive by hand.

f takes an array and returns one number. Return the array of its derivatives, one for each number of x, of the shape of
x. np.ndindex(x.shape) gives the places of all numbers of an array of any shape.
"""
CENTRAL_TEXT = """Return ∂f/∂x, of the shape of x: for each number of x the slope of f between x − h and x + h.

Move one number of x at a time, a step h up and a step h down, and leave x as it was.
"""
COMPLEX_TEXT = """Return ∂f/∂x, of the shape of x: Im f(x + ih) / h for each number of x.

f can be given complex numbers. For a small h, f(x + ih) = f(x) + ih f′(x) − …, so the slope stands in the imaginary
part. Nothing is subtracted, so no digits are lost, and h can be as small as you like.
"""
HINTS = (
    "Two points, one h above and one h below: they are 2h apart. All other numbers stay where they are.",
    "For each `index` of np.ndindex(x.shape) make a copy of x, move copy[index], call f with the copy, and put what "
    "comes out at gradient[index]. For the complex step the copy is x.astype(complex).",
    "central: gradient[index] = (f(up) - f(down)) / (2 * h). complex: moved[index] += 1j * h, then gradient[index] = "
    "f(moved).imag / h.",
)


def _numbers(derivative: Any, seed: int) -> Numbers:
    rng = np.random.default_rng(seed)
    numbers = {}
    for shape in ((7,), (3, 5)):
        x, weights = rng.uniform(0.3, 1.7, shape), rng.standard_normal(shape)
        gradient = derivative(lambda z, w=weights: (w * np.exp(np.sin(z))).sum() + z.prod(), x)
        numbers[f"the gradient at an x of shape {shape}"] = np.asarray(gradient)
        numbers[f"x of shape {shape} after the call"] = x
    return numbers


def _each(x: Array, slope: Callable[[Any], Any], dtype: Any = float) -> Array:
    """slope(move), where move(step) is x with one number moved, for each number."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):

        def move(step: Any, index: Any = index) -> Array:
            moved = x.astype(dtype)
            moved[index] += step
            return moved

        gradient[index] = slope(move)
    return gradient


@CENTRAL(
    "That is a one-sided difference: (f(x + h) − f(x)) / h.",
    "It is right in about 5 digits only, as its error shrinks like h. With a step to both sides the errors of the two "
    "cancel, and what is left shrinks like h²: (f(x + h) − f(x − h)) / 2h.",
)
def forward_difference(f: Function, x: Array, h: float = 1e-5) -> Array:
    return _each(x, lambda move: (f(move(h)) - f(x)) / h)


@CENTRAL(
    "That is a one-sided difference: (f(x) − f(x − h)) / h.",
    "It is right in about 5 digits only, as its error shrinks like h. With a step to both sides the errors of the two "
    "cancel, and what is left shrinks like h²: (f(x + h) − f(x − h)) / 2h.",
)
def backward_difference(f: Function, x: Array, h: float = 1e-5) -> Array:
    return _each(x, lambda move: (f(x) - f(move(-h))) / h)


@CENTRAL(
    "The gradient is twice too large: the two points are 2h apart, not h.",
    "From x − h to x + h the number moves by 2h, so that is what the difference of f is divided by.",
)
def divided_by_h(f: Function, x: Array, h: float = 1e-5) -> Array:
    return _each(x, lambda move: (f(move(h)) - f(move(-h))) / h)


@CENTRAL(
    "The difference was not divided by 2h, which is how far the number was moved.",
    "f(x + h) − f(x − h) is how far f moves. A slope is how far f moves for each unit that x moves, so divide by the "
    "2h that x has moved.",
)
def not_divided(f: Function, x: Array, h: float = 1e-5) -> Array:
    return _each(x, lambda move: f(move(h)) - f(move(-h)))


@CENTRAL(
    "The gradient has the wrong sign: f(x − h) − f(x + h) instead of f(x + h) − f(x − h).",
    "Where f grows with x, the slope is positive: what comes out at the higher x comes first.",
)
def sign_turned(f: Function, x: Array, h: float = 1e-5) -> Array:
    return _each(x, lambda move: (f(move(-h)) - f(move(h))) / (2 * h))


@CENTRAL(
    "All numbers of x were moved at once, so every entry is the sum of all derivatives.",
    "The gradient says for each number by itself how fast f moves with it. So move one number, while all others stay.",
)
def all_at_once(f: Function, x: Array, h: float = 1e-5) -> Array:
    return np.full(x.shape, (f(x + h) - f(x - h)) / (2 * h))


@CENTRAL(
    "x is not put back: after the call it is another x than before.",
    "What is moved in place has to come back to exactly where it was, or each number is moved while those before it "
    "are still off. Safest is to move a copy: moved = x.copy().",
)
def x_left_moved(f: Function, x: Array, h: float = 1e-5) -> Array:
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        x[index] += h
        up = f(x)
        x[index] -= 2 * h
        gradient[index] = (up - f(x)) / (2 * h)
    return gradient


@COMPLEX(
    "The gradient is 0: the imaginary part was never moved.",
    "x + h stays on the real axis, where f is real and has no imaginary part. Move the number along the imaginary "
    "axis: moved[index] += 1j * h.",
)
def moved_along_the_real_axis(f: Function, x: Array, h: float = 1e-30) -> Array:
    return np.zeros(x.shape)


@COMPLEX(
    "The real part was taken, but the slope is in the imaginary part.",
    "f(x + ih) = f(x) + ih f′(x) − …: the real part is f(x) itself, and the imaginary part is h f′(x).",
)
def real_part(f: Function, x: Array, h: float = 1e-30) -> Array:
    return _each(x, lambda move: f(move(1j * h)).real / h, complex)


@COMPLEX(
    "The imaginary part was not divided by h.",
    "f(x + ih) = f(x) + ih f′(x) − …: the imaginary part is h f′(x), so divide it by h.",
)
def imaginary_part_not_divided(f: Function, x: Array, h: float = 1e-30) -> Array:
    return _each(x, lambda move: f(move(1j * h)).imag, complex)


@COMPLEX(
    "The gradient is half of what it should be: it was divided by 2h, but there was one step of h.",
    "The 2h belongs to the central difference, whose two points are 2h apart. Here the slope is Im f(x + ih) / h.",
)
def divided_by_two(f: Function, x: Array, h: float = 1e-30) -> Array:
    return complex_step(f, x, h) / 2


@COMPLEX(
    "All numbers of x were moved at once, so every entry is the sum of all derivatives.",
    "The gradient says for each number by itself how fast f moves with it. So move one number, while all others stay.",
)
def all_at_once_in_the_complex_plane(f: Function, x: Array, h: float = 1e-30) -> Array:
    return np.full(x.shape, f(x + 1j * h).imag / h)


@COMPLEX(
    "That is the absolute value of the derivative: its sign is lost.",
    "The imaginary part has a sign, and it is that of the slope: np.abs takes it away. Use .imag.",
)
def sign_lost(f: Function, x: Array, h: float = 1e-30) -> Array:
    return np.abs(complex_step(f, x, h))


EXERCISE = Exercise(
    number=1,
    slug="derivative",
    title="the numerical derivative",
    chapter=chapter(9),
    hints=HINTS,
    parts=(
        NumbersPart("central_difference", central_difference, _numbers, CENTRAL, tolerance=1e-7),
        NumbersPart("complex_step", complex_step, _numbers, COMPLEX, tolerance=1e-11),
    ),
    source=lambda: exercise_file(
        1,
        "the numerical derivative",
        chapter(9),
        TEXT,
        [
            "Function = Callable[[Array], Any]",
            function_source(central_difference, CENTRAL_TEXT),
            function_source(complex_step, COMPLEX_TEXT),
        ],
    ),
    blanks=("central_difference", "complex_step"),
)
