"""Exercise 1, the numerical derivative: what is true of an answer that is none of the known mistakes.

f notes where it is asked; so what was moved, and by how much, need not be guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.learn.attempt import Failure, attempt, sentence

Told = list[tuple[str, str]]
_SHAPE = (3, 5)
_SAME = 1e-7
_OF_F = 1e-9  # relative: f(x + h) / h is so large that the slope is little beside it
_OF_THE_SECOND = 1e-4  # a second difference keeps fewer digits
_LARGE = 1e3
_STEPS = 1e-2  # relative: a step that is nearer to h is taken for h
_ROUNDED = 1e-2
_RIGHT = {"central": "(f(x + h) − f(x − h)) / 2h", "complex": "Im f(x + ih) / h"}


class _Asked(NamedTuple):
    """Where f was asked, beside x: the places at which it was another one, and by how much."""

    places: list[tuple[int, ...]]
    steps: list[complex]


def told(derivative: Any, kind: str, h: float) -> Told:
    """What is said of the gradient, with the formula that it is; else of where f is asked. kind: of _RIGHT."""
    x = np.random.default_rng(5).uniform(0.3, 1.7, _SHAPE)
    x[0, 0] = 1.25  # so that what is divided by x, or multiplied, is seen in the first number
    asked: list[Array] = []

    def f(z: Array) -> Any:
        asked.append(np.copy(z))
        return _f(z)

    given = attempt(lambda: np.asarray(derivative(f, x.copy())))
    if isinstance(given, Failure) or given.shape != _SHAPE:
        return []
    forms = _central(x, h) if kind == "central" else _complex(x, h)
    size = np.abs(forms[_RIGHT[kind]]).max() * _LARGE
    found = [text for text, form in forms.items() if _same(given, form, _nearly(text, form, size))]
    moves = [_asked(point, x) for point in asked if point.shape == _SHAPE]
    facts = list(_facts(moves, x, h, kind))
    if found:
        return [("", f"The gradient is {found[0]}, and should be {_RIGHT[kind]}.")]
    return [("", sentence(fact)) for fact in facts or _of_numbers(given, forms[_RIGHT[kind]])]


def _nearly(text: str, form: Array, large: float) -> float:
    """How near an answer has to be to a form of it."""
    return _OF_THE_SECOND if "2 f(x)" in text else _OF_F if np.abs(form).max() > large else _SAME


def _f(z: Array) -> Any:
    weights = np.arange(1, 16).reshape(_SHAPE) / 7
    return (weights * np.exp(np.sin(z))).sum() + z.prod()


def _each(x: Array, step: complex) -> Array:
    """f, where one number of x is moved, for each."""
    values = np.zeros(_SHAPE, complex if isinstance(step, complex) else float)
    for index in np.ndindex(_SHAPE):
        moved = x.astype(values.dtype)
        moved[index] += step
        values[index] = _f(moved)
    return values


def _central(x: Array, h: float) -> dict[str, Array]:
    up, at, down = _each(x, h), np.full(_SHAPE, _f(x)), _each(x, -h)
    slope = (up - down) / (2 * h)
    return {
        _RIGHT["central"]: slope,
        "(f(x + h) − f(x − h)) / 2 · h (in Python `/ 2 * h` divides by 2 and then multiplies by h)": slope * h * h,
        "(f(x + h) − f(x − h)) / h · 2 (in Python `/ h * 2` divides by h and then multiplies by 2)": slope * 4,
        "(f(x + h) − f(x − h)) / h²": slope * 2 / h,
        "(f(x + h) − f(x − h)) / (2h)²": slope / (2 * h),
        "(f(x + h) − f(x − h)) / 2": slope * h,
        "(f(x + h) − f(x − h)) / 4h": slope / 2,
        "f(x + h) − f(x − h) / 2h (the difference needs a bracket)": up - down / (2 * h),
        "f(x + h) − f(x − h) / h (the difference needs a bracket)": up - down / h,
        "f(x + h) − f(x) / h (the difference needs a bracket)": up - at / h,
        "(f(x + h) + f(x − h)) / 2h": (up + down) / (2 * h),
        "(f(x + h) + f(x − h)) / h": (up + down) / h,
        "(f(x + h) + f(x − h)) / 2": (up + down) / 2,
        "f(x + h) / h": up / h,
        "f(x + h) / 2h": up / (2 * h),
        "f(x + h)": up,
        "(f(x + h) − 2 f(x) + f(x − h)) / h², the second derivative": (up - 2 * at + down) / h**2,
        "(f(x + h) − 2 f(x) + f(x − h)) / 2h": (up - 2 * at + down) / (2 * h),
        "(f(x + h) − 2 f(x) + f(x − h)) / h": (up - 2 * at + down) / h,
        "the absolute value of (f(x + h) − f(x − h)) / 2h": np.abs(slope),
        "(f(x + h) − f(x − h)) / 2h, divided by x": slope / x,
        "(f(x + h) − f(x − h)) / 2h, times x": slope * x,
        "(f(x + h) − f(x − h)) / (x + h)": (up - down) / (x + h),
        "(f(x + h) − f(x − h)) / x": (up - down) / x,
        "(f(x + h) − f(x − h)) / 2h, divided by how many numbers x has": slope / x.size,
        "(f(x + h) − f(x − h)) / 2h, divided by f(x)": slope / at,
    }


def _complex(x: Array, h: float) -> dict[str, Array]:
    f = _each(x, 1j * h)
    slope = f.imag / h
    return {
        _RIGHT["complex"]: slope,
        "−Im f(x + ih) / h, with the wrong sign": -slope,
        "Im f(x + ih) · h": f.imag * h,
        "Im f(x + ih) / h²": slope / h,
        "twice Im f(x + ih) / h (from x − ih to x + ih it is 2h)": 2 * slope,
        "|f(x + ih)| / h": np.abs(f) / h,
        "|f(x + ih)|": np.abs(f),
        "f(x), the real part": f.real,
        "the angle of f(x + ih), divided by h": np.angle(f) / h,
        "Im f(x + ih) / h, divided by x": slope / x,
        "Im f(x + ih) / h, times x": slope * x,
        "Im f(x + ih) / h, divided by f(x)": slope / f.real,
    }


def _same(one: Array, other: Array, nearly: float) -> bool:
    with np.errstate(all="ignore"):
        return bool((np.abs(one - other) <= nearly * np.abs(other).max()).all())


def _asked(point: Array, x: Array) -> _Asked:
    places: list[tuple[int, ...]] = [tuple(map(int, place)) for place in np.argwhere(point != x)]
    return _Asked(places, [complex(point[place] - x[place]) for place in places])


def _facts(moves: list[_Asked], x: Array, h: float, kind: str) -> Iterator[str]:
    """What is not as it should be in where f is asked."""
    most = max((len(move.places) for move in moves), default=0)
    if not most:
        yield "you ask for f at x itself alone, so no number was moved"
        return
    if most > 1:
        yield f"you ask for f where {most} of the {x.size} numbers of x are moved: move one, and then put it back"
        return
    steps = [(move.places[0], move.steps[0]) for move in moves if move.places]
    if kind == "complex":
        lost = next((place for place, step in steps if abs(step.real + x[place]) < _STEPS), None)
        if lost is not None:
            name = f"x[{', '.join(map(str, lost))}]"
            was = f"you ask for f where the real part of {name} is 0, and was {x[lost]:.6g}"
            yield f"{was}: it is += 1j * h, and neither = nor *="
            return
    wanted = h * 1j if kind == "complex" else h
    other = next((step for _, step in steps if abs(abs(step) - abs(wanted)) > _STEPS * abs(wanted)), None)
    if other is not None:
        said = f"{other.imag:.3g}i" if kind == "complex" and not other.real else f"{abs(other):.3g}"
        yield f"you ask for f where a number of x is moved by {said}, and h is {h:g}"
    elif kind == "central" and {step.real > 0 for _, step in steps} != {True, False}:
        yield "you ask for f on one side of x only: a central difference needs f(x + h) and f(x − h)"
    places = {place for place, _ in steps}
    still = [index for index in np.ndindex(_SHAPE) if index not in places]
    if still:
        yield (
            f"you never move {len(still)} of the {x.size} numbers of an x of shape {_SHAPE}, such as that at "
            f"{list(still[0])}: np.ndindex(x.shape) gives all places"
        )


def _of_numbers(given: Array, right: Array) -> Iterator[str]:
    relative = float(np.abs(given - right).max() / np.abs(right).max())
    factor = float((given * right).sum() / (right * right).sum())
    if abs(factor - 1) > _ROUNDED and _same(given, factor * right, _SAME):
        yield f"The gradient is {factor:.6g} times what it should be, everywhere"
    if _SAME < relative < _ROUNDED:
        yield f"The gradient is right in about {-np.log10(relative):.0f} digits only: is it rounded?"
