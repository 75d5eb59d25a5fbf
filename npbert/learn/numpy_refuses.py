"""What NumPy means where it refuses a line, and what was probably wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np


def refused(error: BaseException, code: str, variables: dict[str, Any]) -> str:
    """A sentence or two, or "". code: the line that stops. variables: those that it sees."""
    return next(filter(None, _said(" ".join(str(error).split()), code, variables)), "")


def _said(message: str, code: str, variables: dict[str, Any]) -> Iterator[str]:
    yield _no_numbers(code, variables)
    if "bitwise_xor" in message or "for ^" in message:
        yield "In Python ^ is no power: write x ** 2, or x * x."
    if "converted to Python scalar" in message:
        yield _of_math(code)
    if "truth value of an array" in message:
        yield _truth(code)
    if "broadcast" in message:
        yield _not_alike(_shapes(message), code)


def _no_numbers(code: str, variables: dict[str, Any]) -> str:
    """Whether an array was made like a Parameter, and not like its numbers."""
    for name, value in variables.items():
        is_hollow = isinstance(value, np.ndarray) and value.dtype == object
        if is_hollow and not value.shape and re.search(rf"\b{name}\b", code):
            parts = vars(variables["self"]) if hasattr(variables.get("self"), "__dict__") else {}
            parameter = next((part for part, held in parts.items() if hasattr(held, "add_grad")), "weight")
            return (
                f"{name} has no axes, as if it was made like a Parameter, which is no array. Make it like the numbers "
                f"in it: np.zeros_like(self.{parameter}.value)."
            )
    return ""


def _of_math(code: str) -> str:
    names = dict.fromkeys(re.findall(r"\bmath\.(\w+)\(", code))
    instead = [f"np.{name}" for name in names if hasattr(np, name)]
    if "erf" in names:
        return "math.erf takes one number. `from npbert.compute import erf` brings one that takes whole arrays."
    return f"The functions of math take one number. For whole arrays write {' and '.join(instead)}." if instead else ""


def _truth(code: str) -> str:
    if re.search(r"[!=]= ?None|None ?[!=]=", code):
        return "With an array, == compares number by number. Whether there is one at all is asked with `is None`."
    return (
        "An array holds many numbers, so it is neither true nor false. Whether there is one at all is asked with "
        "`is None`; number by number, np.where(condition, a, b) chooses."
    )


def _shapes(message: str) -> list[tuple[int, ...]]:
    found = re.findall(r"\(((?:\d+,? ?)*)\)", message)
    return [tuple(map(int, re.findall(r"\d+", each))) for each in found]


def _not_alike(shapes: list[tuple[int, ...]], code: str) -> str:
    """Of two shapes that do not go together."""
    if len(shapes) != 2:
        return ""
    for one, other in (shapes, shapes[::-1]):
        if len(one) > 1 and other == one[:-1]:
            return (
                f"{other} has one number for each row of {one}, but NumPy lays it along the rows. With keepdims=True a "
                f"sum or a mean stays a column, {(*other, 1)}; of another array, a[..., None] makes one."
            )
    left, right = shapes
    if "*" in code and len(left) == len(right) == 2 and left[1] == right[0]:
        return f"* is number by number, and wants equal shapes. @ is the matrix product: {left} @ {right} fits."
    return ""
