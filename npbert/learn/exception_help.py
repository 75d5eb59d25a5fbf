"""Advice where Python or NumPy stops: a missing name, a Parameter taken for its numbers, a `.T`, two shapes."""

from __future__ import annotations

import re
from bdb import BdbQuit
from collections.abc import Iterator
from typing import Any

import numpy as np

from npbert.learn.source import imports_of
from npbert.messages import did_you_mean

IN_NUMPY = {
    "sum_rows": "sum_rows(x) is x.sum(axis=0)",
    "dot_rows": "dot_rows(x, y) is (x * y).sum(axis=-1, keepdims=True)",
    "matmul": "matmul(x, y) is x @ y",
    "scatter_add": "scatter_add(table, ids, rows) is np.add.at(table, ids, rows)",
    "rowwise": "rowwise(f, x) is f(x), a few rows at a time",
    "softmax_backward": "softmax_backward(dp, p) is p * (dp - (dp * p).sum(axis=-1, keepdims=True))",
    "softmax": "softmax(x) is e / e.sum(axis=-1, keepdims=True), with e = np.exp(x)",
    "_density": "_density(x) is np.exp(-x * x / 2) / np.sqrt(2 * np.pi)",
    "_transposed": "_transposed(x) is x.swapaxes(-1, -2), its last two axes swapped",
}
"""Helpers that stand in the chapters and in the library, and what they are in plain NumPy."""


def help_with(error: BaseException, code: str, variables: dict[str, Any]) -> str:
    """A sentence or two, or "". code: the line that stops. variables: those that it sees."""
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and error.name:
        return _missing(error.name, error, variables)
    if isinstance(error, EOFError | BdbQuit):
        return _NOTHING_TYPED
    if isinstance(error, TypeError | ValueError | AttributeError | IndexError):
        return next(filter(None, _refusals(error, code, variables)), "")
    return ""


_NOTHING_TYPED = (
    "breakpoint() and input() wait for something that is typed, and while an answer is checked nothing can be: they "
    "end the check. Take them out, and use print(): what it prints is shown below the answer."
)


def _missing(name: str, error: BaseException, variables: dict[str, Any]) -> str:
    plain, imports = IN_NUMPY.get(name, ""), imports_of(name)
    if imports:
        says = f"Write `{imports[0]}` at the top of the file"
        return f"{says}; or write it out: {plain}." if plain else f"{says}."
    if plain:
        return f"It is a helper of the library's: {plain}."
    known = [each for each in {**_globals(error), **variables} if not each.startswith("__")]
    return did_you_mean(name, known).lstrip("; ").capitalize() or _in_numpy(name)


def _globals(error: BaseException) -> dict[str, Any]:
    """The names at the top of the file whose line failed."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_globals if trace is not None else {}


def _in_numpy(name: str) -> str:
    return f"Did you mean np.{name}?" if not name.startswith("_") and hasattr(np, name) else ""


def _parameter(code: str, variables: dict[str, Any]) -> str:
    """Advice where the line takes a parameter for its numbers, or for its gradient."""
    for owner, value in variables.items():
        for name, part in getattr(value, "__dict__", {}).items():
            whole, is_parameter = f"{owner}.{name}", hasattr(part, "add_grad") and hasattr(part, "value")
            if not is_parameter or not re.search(rf"\b{whole}\b(?!\.(value|grad|add_grad|zero_grad))", code):
                continue
            if re.search(rf"\.at\(\s*{whole}\b|^{whole}(\[.*\])?\s*[-+*/]?=(?!=)", code):
                both = f"{whole} is a Parameter, which holds two arrays, .value and .grad"
                return f"{both}. Backward adds to the gradient: {whole}.add_grad(…)."
            return f"{whole} is a Parameter, which holds two arrays: write {whole}.value for its numbers."
    return ""


def _nothing(code: str, variables: dict[str, Any]) -> str:
    """Advice where the line uses something that is None."""
    name = next((name for name, value in variables.items() if value is None and re.search(rf"\b{name}\b", code)), "")
    return name and f"{name} is None here: ask `{name} is None` first."


def _no_attribute(error: AttributeError) -> str:
    """The attribute that was probably meant by one that is not there."""
    name, owner = error.name or "", error.obj
    if hasattr(owner, "add_grad") and hasattr(np.ndarray, name):
        return f"A Parameter is not an array, but holds two: .value.{name} is that of its numbers."
    known = [each for each in dir(owner) if not each.startswith("_")]
    return did_you_mean(name, known).lstrip("; ").capitalize()


def _turned_around(code: str, variables: dict[str, Any]) -> str:
    """Advice where `.T` is written for an array of more than two axes."""
    for name, value in variables.items():
        if isinstance(value, np.ndarray) and value.ndim > 2 and re.search(rf"\b{name}\.T\b", code):
            turned = f"{name} has {value.ndim} axes, and {name}.T turns all of them around."
            return f"{turned} {name}.swapaxes(-1, -2) swaps the last two."
    return ""


def _refusals(error: BaseException, code: str, variables: dict[str, Any]) -> Iterator[str]:
    """What may help, the most telling first; some of it is "". code: the line that stops. variables: what it sees."""
    message = " ".join(str(error).split())
    yield _parameter(code, variables)
    yield _turned_around(code, variables)
    if "NoneType" in message:
        yield _nothing(code, variables)
    yield _no_numbers(code, variables)
    if "gufunc" in message or "remapped shapes" in message:
        yield _EINSUM if "einsum" in code else _PRODUCT
    if "bitwise_xor" in message or "for ^" in message:
        yield "In Python ^ does not mean a power: write x ** 2, or x * x."
    if "converted to Python scalar" in message:
        yield _of_math(code)
    if "truth value of an array" in message:
        yield _truth(code)
    if "broadcast" in message:
        yield _not_alike(_shapes(message), code)
    if "a gradient of shape" in message:
        yield "A gradient has the shape of what it is the gradient of: dW has that of W, and db that of b."
    if isinstance(error, AttributeError):
        yield _no_attribute(error)


_EINSUM = "In einsum a letter stands for one size: two axes of different sizes need two letters."
_PRODUCT = (
    "In A @ B the last axis of A and the last but one of B must be equal; the axes before them must be equal, or 1. A "
    "single number has no axes: number by number it is *."
)


def _no_numbers(code: str, variables: dict[str, Any]) -> str:
    """Advice where an array was made like a Parameter, and not like its numbers."""
    for name, value in variables.items():
        is_hollow = isinstance(value, np.ndarray) and value.dtype == object
        if is_hollow and not value.shape and re.search(rf"\b{name}\b", code):
            parts = vars(variables["self"]) if hasattr(variables.get("self"), "__dict__") else {}
            parameter = next((part for part, held in parts.items() if hasattr(held, "add_grad")), "weight")
            return (
                f"{name} has no axes, as if it was made like a Parameter, not like an array. Make it like the numbers "
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
