"""Exercise 1, the numerical derivative: the wrong complex steps that people give."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.learn.exercise import Mistakes
from npbert.learn.exercises.numerical_derivative import Function, complex_step, each

COMPLEX = Mistakes(complex_step)


@COMPLEX(
    "The gradient is 0, as if the imaginary part was never moved.",
    "x + h stays on the real axis, where f is real and has no imaginary part. Move the number along the imaginary "
    "axis: moved[index] += 1j * h, with moved = x.astype(complex), as an array of real numbers keeps no imaginary "
    "part.",
)
def moved_along_the_real_axis(f: Function, x: Array, h: float = 1e-30) -> Array:
    return np.zeros(x.shape)


@COMPLEX(
    "The real part was taken, but the slope is in the imaginary part.",
    "f(x + ih) = f(x) + ih f′(x) − …: the real part is f(x) itself, and the imaginary part is h f′(x).",
)
def real_part(f: Function, x: Array, h: float = 1e-30) -> Array:
    return each(x, lambda move: f(move(1j * h)).real / h, complex)


@COMPLEX(
    "The imaginary part was not divided by h.",
    "f(x + ih) = f(x) + ih f′(x) − …: the imaginary part is h f′(x), so divide it by h.",
)
def imaginary_part_not_divided(f: Function, x: Array, h: float = 1e-30) -> Array:
    return each(x, lambda move: f(move(1j * h)).imag, complex)


@COMPLEX(
    "The gradient is half of what it should be, as if it was divided by 2h, where there was one step of h.",
    "The 2h belongs to the central difference, whose two points are 2h apart. Here the slope is Im f(x + ih) / h.",
)
def divided_by_two(f: Function, x: Array, h: float = 1e-30) -> Array:
    return complex_step(f, x, h) / 2


@COMPLEX(
    "Every entry is the sum of all derivatives, as if all numbers of x were moved at once.",
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


_STAY_MOVED = (
    "Each number has to be put back before the next is moved. Make the copy inside of the loop: "
    "moved = x.astype(complex), then moved[index] += 1j * h."
)


def _staying_moved(f: Function, x: Array, h: float) -> Array:
    moved, gradient = x.astype(complex), np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved[index] += 1j * h
        gradient[index] = f(moved).imag
    return gradient


@COMPLEX(
    "Every entry is the sum of the derivatives up to it, as if the numbers that were moved before were still moved.",
    _STAY_MOVED,
)
def stays_moved(f: Function, x: Array, h: float = 1e-30) -> Array:
    return _staying_moved(f, x, h) / h


@COMPLEX(
    "Two things: the imaginary part was not divided by h, and every entry is the sum of those up to it, as if the "
    "numbers that were moved before were still moved.",
    _STAY_MOVED,
)
def stays_moved_undivided(f: Function, x: Array, h: float = 1e-30) -> Array:
    return _staying_moved(f, x, h)
