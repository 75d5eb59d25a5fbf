"""A gradient that is right but for a factor: one number everywhere, or one that is known for each place."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import Case, Finding, number

_SAME = 1e-6
_MOST_CAUSES = 3
_NEARLY_ONE, _HUGE = 2e-3, 1e9
_DIVISORS = ("the ", "σ", "√(σ")
_DIVIDED_BY = ("σ", "the norm")  # by which the formulas that have them divide
_POWERS = {
    -1: "{0} was left out",
    1: "{0} was multiplied once too often",
    -2: "the square of {0} was left out",
    2: "the square of {0} was multiplied once too often",
    -0.5: "the root of {0} was left out",
    0.5: "the root of {0} was multiplied once too often",
}
_POWERS_OF_DIVISORS = {
    -1: "it was divided by {0} once too often",
    1: "a division by {0} was left out",
    -2: "it was divided by {0} twice too often",
    2: "it was multiplied by {0}, and not divided by it",
    -0.5: "it was divided by the root of {0} once too often",
    0.5: "it was divided by the root of {0}, and not by {0} itself",
}


def constant_factor(case: Case) -> Iterator[Finding]:
    """One number times the right gradient, with its likely cause."""
    right = case.right
    if not right.any():
        return
    factor = float((case.wrong * right).sum() / (right * right).sum())
    if abs(factor) < _SAME or not case.explains(factor * right):
        return
    cause = cause_of(factor, case.sizes, case.numbers)
    if case.explains(factor * right, fitted=1) or (cause and right.size < 4):
        yield Finding("factor", case.name, f"{case.d} {how_large(factor, right.size)}{cause and ': ' + cause}")


def how_large(factor: float, count: int = 2) -> str:
    """is 7.000 times too large, everywhere"""
    everywhere = ", everywhere" if count > 1 else ""
    if math.isclose(factor, -1, rel_tol=_SAME):
        return f"has the wrong sign{everywhere}"
    if factor < 0:
        return f"is {number(factor)} times what is right{everywhere}, and has the wrong sign"
    return f"is {number(max(factor, 1 / factor))} times too {'large' if factor > 1 else 'small'}{everywhere}"


def cause_of(factor: float, sizes: dict[str, int], numbers: dict[str, float]) -> str:
    """What a factor is as if, by the sizes and other numbers that are there; "" if they do not tell.

    The simplest explanations come first; of several that are as simple, all are named.
    """
    size, by_value = abs(factor), _by_value(sizes)
    if size > _HUGE:
        return "so large, as if it was divided by something that is nearly 0"
    if _SAME < abs(factor - 1) < _NEARLY_ONE:
        return "so near to right, as if a number in it was rounded, or something small was added"
    for causes in (
        itertools.chain(_of_numbers(numbers), _of_sizes(by_value), _of_constants()),
        _of_two_sizes(by_value),
        _of_roots(by_value),
    ):
        fitting = dict.fromkeys(text for value, text in causes if math.isclose(size, value, rel_tol=_SAME))
        if fitting:
            return " or ".join(list(fitting)[:_MOST_CAUSES])
    return ""


def cause_among(factor: float, numbers: dict[str, float]) -> str:
    """As cause_of, by the numbers alone."""
    fitting = (text for value, text in _of_numbers(numbers) if math.isclose(abs(factor), value, rel_tol=_SAME))
    return next(fitting, "")


def known_factor(case: Case) -> Iterator[Finding]:
    """The right gradient times an array that is known, or divided by it."""
    for text in factors_of(case, case.right, 0):
        yield Finding("known factor", case.name, f"{case.d} is wrong by a factor, as if {text}")


def factors_of(case: Case, part: Array, rest: Array | float) -> Iterator[str]:
    """In words, the known arrays that `part` must be multiplied with so that with `rest` it is the wrong gradient."""
    known = {name: array for name, array in case.known.items() if fits(array, part.shape)}
    with np.errstate(all="ignore"):
        for name, array in known.items():
            for power, text in (_POWERS_OF_DIVISORS if name in _DIVIDED_BY else _POWERS).items():
                if case.right.size > 1 and case.explains(rest + part * array**power):
                    yield text.format(name)
                    return
        for (name, array), (other, divisor) in itertools.permutations(known.items(), 2):
            is_divisor = name.startswith(_DIVISORS)
            if is_divisor != other.startswith(_DIVISORS) or not (is_plain(name) and is_plain(other)):
                continue
            if case.explains(rest + part * array / divisor, fitted=1):
                yield (
                    f"it was divided by {other}, not by {name}" if is_divisor else f"{name} stood where {other} belongs"
                )
                return


def is_plain(name: str) -> bool:
    """Whether it names a thing, and is no formula such as 1 − y."""
    return name.startswith(_DIVISORS) or not any(sign in name for sign in "−/·²")


def fits(array: Array, shape: tuple[int, ...]) -> bool:
    """Whether it broadcasts to the shape."""
    try:
        return np.broadcast_shapes(array.shape, shape) == shape
    except ValueError:
        return False


def _by_value(sizes: dict[str, int]) -> dict[int, str]:
    names: dict[int, list[str]] = {}
    for name, size in sizes.items():
        if size > 1:
            names.setdefault(size, []).append(name)
    return {size: _both(*of_size[:2]) for size, of_size in names.items()}


def _both(one: str, other: str = "") -> str:
    """the number of rows of x and y"""
    (of, _, _), (of_other, _, name) = one.rpartition(" "), other.rpartition(" ")
    return " and ".join(filter(None, [one, name if of and of == of_other else other]))


def _of_constants() -> Iterator[tuple[float, str]]:
    yield 1, ""
    yield 2, "as if something was counted twice, or a ½ was left out"
    yield 2 * math.sqrt(2), "that is a factor of 2√2, as if a ½ and a 1/√2 were left out"
    yield 1 / 2, "as if a 2 was left out, such as that of a square, or a ½ came in"
    for name, value in {"√2": math.sqrt(2), "√π": math.sqrt(math.pi), "√(2π)": math.sqrt(2 * math.pi)}.items():
        yield value, f"that is a factor of {name}, as if 1/{name} was left out"
        yield 1 / value, f"that is a factor of 1/{name}, as if 1/{name} came in once too often"


def _of_sizes(sizes: dict[int, str]) -> Iterator[tuple[float, str]]:
    for size, name in sizes.items():
        yield size, f"{size} is {name}, as if a sum stood where a mean belongs"
        yield 1 / size, f"{size} is {name}, as if a mean stood where a sum belongs"


def _of_numbers(numbers: dict[str, float]) -> Iterator[tuple[float, str]]:
    for name, value in numbers.items():
        said, size = f"{name} is {value:.4g}", abs(value)
        if size == 0 or math.isclose(size, 1):
            continue
        yield 1 / size, f"{said}, as if it was left out"
        yield size, f"{said}, as if it was multiplied once too often"
        if 0 < value < 1:
            yield 1 - value, f"{said}, as if a division by 1 − {name} was left out"
            yield 1 / (1 - value), f"{said}, as if it was divided by 1 − {name} once too often"
            yield (1 - value) / value, f"{said}, as if {name} and 1 − {name} were mixed up"
            yield (1 - value) * value, f"{said}, as if {name} stood where 1/(1 − {name}) belongs"
            yield (1 - value) / (1 + value), f"{said}, as if 1 + {name} stood where 1 − {name} belongs"
            yield math.sqrt(1 - value), f"{said}, as if a division by √(1 − {name}) was left out"
            yield 1 / math.sqrt(1 - value), f"{said}, as if it was divided by √(1 − {name}) once too often"


def _of_roots(sizes: dict[int, str]) -> Iterator[tuple[float, str]]:
    for size, name in sizes.items():
        root, is_ = f"√{size}", f"and {size} is {name}"
        yield math.sqrt(size), f"that is a factor of {root}, {is_}, as if 1/{root} was left out"
        yield 1 / math.sqrt(size), f"that is a factor of 1/{root}, {is_}, as if 1/{root} came in once too often"


def _of_two_sizes(sizes: dict[int, str]) -> Iterator[tuple[float, str]]:
    for size, name in sizes.items():
        is_ = f"and {size} is {name}, as if it was"
        yield size / 2, f"{size} is {name}, as if the 2/{size} of a mean of squares was left out"
        yield size**2, f"that is a factor of {size}², {is_} multiplied by it, and not divided"
        yield size**-2, f"that is a factor of 1/{size}², {is_} divided by it, and not multiplied"
        for other in (size - 1, size + 1) if size > 2 else ():
            sign = "−" if other < size else "+"
            yield size / other, f"that is a factor of {size}/{other}, {is_} divided by {size} {sign} 1"
    for (one, name), (other, other_name) in itertools.permutations(sizes.items(), 2):
        divided = f"as if it was divided by {other_name} ({other}) and not by {name} ({one})"
        yield one / other, f"that is a factor of {one}/{other}, {divided}"
        yield one * other, f"{one * other} is {name} times {other_name}, as if a sum stood where a mean belongs"
        yield 1 / (one * other), f"{one * other} is {name} times {other_name}, as if a mean stood where a sum belongs"
