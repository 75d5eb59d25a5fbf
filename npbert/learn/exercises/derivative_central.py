"""Exercise 1, the numerical derivative: the wrong central differences that people give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.learn.exercise import Mistakes
from npbert.learn.exercises.numerical_derivative import Function, central_difference, each

CENTRAL = Mistakes(central_difference)


@CENTRAL(
    "That is a one-sided difference: (f(x + h) − f(x)) / h.",
    "It is right in about 5 digits only, as its error shrinks like h. With a step to both sides the errors of the two "
    "cancel, and what is left shrinks like h²: (f(x + h) − f(x − h)) / 2h.",
)
def forward_difference(f: Function, x: Array, h: float = 1e-5) -> Array:
    return each(x, lambda move: (f(move(h)) - f(x)) / h)


@CENTRAL(
    "That is a one-sided difference: (f(x) − f(x − h)) / h.",
    "It is right in about 5 digits only, as its error shrinks like h. With a step to both sides the errors of the two "
    "cancel, and what is left shrinks like h²: (f(x + h) − f(x − h)) / 2h.",
)
def backward_difference(f: Function, x: Array, h: float = 1e-5) -> Array:
    return each(x, lambda move: (f(x) - f(move(-h))) / h)


@CENTRAL(
    "The gradient is twice too large: the two points are 2h apart, not h.",
    "From x − h to x + h the number moves by 2h, so that is what the difference of f is divided by.",
)
def divided_by_h(f: Function, x: Array, h: float = 1e-5) -> Array:
    return each(x, lambda move: (f(move(h)) - f(move(-h))) / h)


@CENTRAL(
    "The difference was not divided by 2h, which is how far the number was moved.",
    "f(x + h) − f(x − h) is how far f moves. A slope is how far f moves for each unit that x moves, so divide by the "
    "2h that x has moved.",
)
def not_divided(f: Function, x: Array, h: float = 1e-5) -> Array:
    return each(x, lambda move: f(move(h)) - f(move(-h)))


@CENTRAL(
    "The gradient has the wrong sign: f(x − h) − f(x + h) instead of f(x + h) − f(x − h).",
    "Where f grows with x, the slope is positive: what comes out at the higher x comes first.",
)
def sign_turned(f: Function, x: Array, h: float = 1e-5) -> Array:
    return each(x, lambda move: (f(move(-h)) - f(move(h))) / (2 * h))


@CENTRAL(
    "Every entry is the sum of all derivatives, as if all numbers of x were moved at once.",
    "The gradient says for each number by itself how fast f moves with it. So move one number, while all others stay.",
)
def all_at_once(f: Function, x: Array, h: float = 1e-5) -> Array:
    return np.full(x.shape, (f(x + h) - f(x - h)) / (2 * h))


@CENTRAL(
    "The gradient is 0 everywhere, as if f was given the same x both times.",
    "One x has to be h above, and another h below. After `up = x; down = x` both are names of one array: "
    "up, down = x.copy(), x.copy().",
)
def same_array(f: Function, x: Array, h: float = 1e-5) -> Array:
    return np.zeros(x.shape)


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


_FROM_ONE_SIDE = (
    "With a step to both sides the errors of the two cancel: (f(x + h) − f(x − h)) / 2h. (After x[i] += h and then "
    "x[i] -= h the number is where it was, and not at x − h.)"
)
_TWO_SIDES_APART = "From x − h to x + h the number moves by 2h, and a slope is divided by how far it was moved."


def _with_two(name: str, says: str, because: str, slope: Callable[[Any, Any, Any, float], Any], *, back: bool) -> None:
    """Two mistakes at once. slope(f at x + h, at x, at x − h, h); back: whether each number is put back."""

    def wrong(f: Function, x: Array, h: float = 1e-5) -> Array:
        gradient = np.zeros(x.shape)
        for index in np.ndindex(x.shape):
            start, at = x[index], {}
            for step in (h, 0.0, -h):
                x[index] = start + step
                at[step] = f(x)
            gradient[index] = slope(at[h], at[0.0], at[-h], h)
            x[index] = start if back else start - h
        return gradient

    wrong.__name__ = name
    CENTRAL(says, because)(wrong)


_with_two(
    "forward_difference_halved",
    "That is a one-sided difference, and half of it: (f(x + h) − f(x)) / 2h.",
    _FROM_ONE_SIDE,
    lambda up, at, down, h: (up - at) / (2 * h),
    back=True,
)
_with_two(
    "backward_difference_halved",
    "That is a one-sided difference, and half of it: (f(x) − f(x − h)) / 2h.",
    _FROM_ONE_SIDE,
    lambda up, at, down, h: (at - down) / (2 * h),
    back=True,
)
_with_two(
    "left_moved_and_divided_by_h",
    "Two things: x is not put back after each number, and the difference is divided by h, not by 2h.",
    "What is moved in place has to come back to exactly where it was; safest is to move a copy, moved = x.copy(). "
    f"{_TWO_SIDES_APART}",
    lambda up, at, down, h: (up - down) / h,
    back=False,
)
_with_two(
    "turned_and_divided_by_h",
    "Two things: the gradient has the wrong sign, and it is divided by h, not by 2h.",
    f"What comes out at the higher x comes first. {_TWO_SIDES_APART}",
    lambda up, at, down, h: (down - up) / h,
    back=True,
)


@CENTRAL(
    "Every entry is twice the sum of all derivatives, as if all numbers of x were moved at once, and the difference "
    "was divided by h, not by 2h.",
    f"Move one number, while all others stay. {_TWO_SIDES_APART}",
)
def all_at_once_divided_by_h(f: Function, x: Array, h: float = 1e-5) -> Array:
    return np.full(x.shape, (f(x + h) - f(x - h)) / h)


_ONE_NUMBER = (
    "f gives one number, so there is one difference for each number of x that is moved: for index in "
    "np.ndindex(x.shape), move x[index] alone, and put the slope at gradient[index]."
)


@CENTRAL(
    "What is returned is one number, the sum of all derivatives, as if all numbers of x were moved at once.",
    _ONE_NUMBER,
)
def one_number(f: Function, x: Array, h: float = 1e-5) -> Any:
    return np.asarray((f(x + h) - f(x - h)) / (2 * h))


@CENTRAL(
    "What is returned is one number, twice the sum of all derivatives, as if all numbers of x were moved at once, and "
    "it was divided by h, not by 2h.",
    _ONE_NUMBER,
)
def one_number_divided_by_h(f: Function, x: Array, h: float = 1e-5) -> Any:
    return np.asarray((f(x + h) - f(x - h)) / h)
