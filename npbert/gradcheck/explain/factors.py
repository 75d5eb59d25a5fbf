"""how_large: a factor in words, with the size or number that it is made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

_SAME = 1e-6
_HUGE = 1e9
_PLAIN = {2.0: "as if something was counted twice, or a ½ was left out", 0.5: "as if a 2 was left out, or a ½ came in"}
_PLAIN |= {math.sqrt(2): "that is a factor of √2", math.sqrt(0.5): "that is a factor of 1/√2"}
_PLAIN |= {math.sqrt(math.pi): "that is a factor of √π", math.sqrt(2 * math.pi): "that is a factor of √(2π)"}


def how_large(factor: float, sizes: Mapping[str, int], numbers: Mapping[str, float]) -> tuple[str, bool]:
    """("is 7.000 times too large, everywhere: 7 is the number of columns of x", whether its cause is known)."""
    if math.isclose(factor, -1, rel_tol=_SAME):
        return "has the wrong sign, everywhere", True
    size = abs(factor)
    many = max(size, 1 / size)
    large = f"is {many:{'.3f' if many < 1000 else '.4g'}} times too {'large' if size > 1 else 'small'}, everywhere"
    large += " and has the wrong sign" if factor < 0 else ""
    cause = _cause(size, sizes, numbers)
    return f"{large}{cause and ': ' + cause}", bool(cause)


def _cause(size: float, sizes: Mapping[str, int], numbers: Mapping[str, float]) -> str:
    if size > _HUGE:
        return "so large, as if it was divided by something that is nearly 0"
    roots, two = _of_roots(sizes), _of_two(sizes)
    for most, causes in (
        (2, _of_numbers(numbers)),
        (2, _of_sizes(sizes)),
        (1, iter(_PLAIN.items())),
        (1, roots),
        (1, two),
    ):
        found = list(dict.fromkeys(text for value, text in causes if math.isclose(size, value, rel_tol=_SAME)))
        if found:
            return " or ".join(found[:most])
    return ""


def _of_numbers(numbers: Mapping[str, float]) -> Iterator[tuple[float, str]]:
    for name, value in numbers.items():
        said = f"{name} is {value:.4g}, as if"
        if value and not math.isclose(abs(value), 1):
            yield 1 / abs(value), f"{said} it was left out"
            yield abs(value), f"{said} it was multiplied once too often"
        if 0 < value < 1:
            yield 1 - value, f"{said} a division by 1 − {name} was left out"
            yield 1 / (1 - value), f"{said} it was divided by 1 − {name} once too often"
            yield (1 - value) / value, f"{said} {name} and 1 − {name} were mixed up"


def _of_sizes(sizes: Mapping[str, int]) -> Iterator[tuple[float, str]]:
    for name, size in _several(sizes):
        yield size, f"{size} is {name}, as if a sum stood where a mean belongs"
        yield 1 / size, f"{size} is {name}, as if a mean stood where a sum belongs"


def _of_roots(sizes: Mapping[str, int]) -> Iterator[tuple[float, str]]:
    for name, size in _several(sizes):
        if math.isqrt(size) ** 2 == size:
            continue
        yield math.sqrt(size), f"that is a factor of √{size}, and {size} is {name}"
        yield 1 / math.sqrt(size), f"that is a factor of 1/√{size}, and {size} is {name}"


def _of_two(sizes: Mapping[str, int]) -> Iterator[tuple[float, str]]:
    for name, size in _several(sizes):
        yield size / 2, f"that is a factor of {size}/2, and {size} is {name}"
        yield size**2, f"that is a factor of {size}², and {size} is {name}"
        yield size**-2, f"that is a factor of 1/{size}², and {size} is {name}"
        for near in (size - 1, size + 1):
            yield size / max(near, 1), f"that is a factor of {size}/{near}, and {size} is {name}"
    for (one, a), (other, b) in itertools.permutations(_several(sizes), 2):
        yield a / b, f"that is a factor of {a}/{b}: {a} is {one}, and {b} is {other}"
        if a < b:
            yield a * b, f"{a * b} is {one} times {other}, as if a sum stood where a mean belongs"
            yield 1 / (a * b), f"{a * b} is {one} times {other}, as if a mean stood where a sum belongs"


def _several(sizes: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(name, size) for name, size in sizes.items() if size > 1]
