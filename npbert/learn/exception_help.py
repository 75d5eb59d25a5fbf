"""Advice where Python or NumPy stops: a missing name, a Parameter taken for its numbers, a `.T`, two shapes."""

import re
import traceback
from bdb import BdbQuit
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from npbert.io.messages import did_you_mean
from npbert.learn.source import imports_of

IN_NUMPY = {
    "sum_rows": "sum_rows(x) is x.sum(axis=0)",
    "dot_rows": "dot_rows(x, y) is (x * y).sum(axis=-1, keepdims=True)",
    "matmul": "matmul(x, y) is x @ y",
    "scatter_add": "scatter_add(table, ids, rows) is np.add.at(table, ids, rows)",
    "rowwise": "rowwise(f, x) is f(x), a few rows at a time",
    "softmax_backward": "softmax_backward(dp, p) is p * (dp - (dp * p).sum(axis=-1, keepdims=True))",
    "softmax": "softmax(x) is e / e.sum(axis=-1, keepdims=True), with e = np.exp(x)",
}
"""Helpers of the chapters and of the library, and what they are in plain NumPy."""


_ADVICE = {
    r"(gufunc|remapped shapes).*\n.*einsum": "In einsum a letter stands for one size: two axes of different sizes need "
    "two letters.",
    r"gufunc|remapped shapes": "In A @ B the last axis of A and the last but one of B must be equal; the axes before "
    "them must be equal, or 1. A single number has no axes: number by number it is *.",
    r"bitwise_xor|for \^": "In Python ^ does not mean a power: write x ** 2, or x * x.",
    r"converted to Python scalar.*\n.*\bmath\.erf\(": "math.erf takes one number. `from npbert.compute import erf` "
    "brings one that takes whole arrays.",
    r"truth value of an array.*\n.*([!=]= ?None|None ?[!=]=)": "With an array, == compares number by number. Whether "
    "there is one at all is asked with `is None`.",
    r"truth value of an array": "An array holds many numbers, so it is neither true nor false. Whether there is one at "
    "all is asked with `is None`; number by number, np.where(condition, a, b) chooses.",
    r"returns [1-9]\d* gradients?, for inputs": "Backward returns the gradients of its float inputs alone. That of a "
    "parameter is not returned, but handed over, as self.weight.add_grad(…) does; ids have none.",
    "another one when": "Something of the first call is used in the second, as what is kept in a default argument, "
    "in a global or on the class; or something is drawn that nobody can repeat, with np.random or a generator of your "
    "own. What forward drew is on the tape; backward itself draws and keeps nothing.",
    "changes the value of": "What backward finds out belongs in the gradient: self.weight.add_grad(…) adds to that.",
    "a gradient of shape": "A gradient has the shape of what it is the gradient of: dW has that of W, and "
    "db that of b.",
}
_NOTHING_TYPED = (
    "breakpoint() and input() wait for something that is typed, and while an answer is checked nothing can be: they "
    "end the check. Take them out, and use print(): what it prints is shown below the answer."
)


def advised(advice: Mapping[str, str], said: str) -> str:
    """The first text of `advice` whose pattern is found in what Python said, or "". A \\1 in it is the pattern's group.

    said: the kind and the message of an exception in one line, and in the next the code that stopped.
    """
    found = ((re.search(pattern, said), text) for pattern, text in advice.items())
    return next((match.expand(text) for match, text in found if match), "")


def help_with(error: BaseException, code: str, variables: dict[str, Any]) -> str:
    """A sentence or two, or "". code: the line that stops. variables: those that it sees."""
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and error.name:
        return _missing(error.name, error, variables)
    if isinstance(error, EOFError | BdbQuit):
        return _NOTHING_TYPED
    if isinstance(error, AssertionError):
        return advised(_ADVICE, str(error))
    if isinstance(error, TypeError | ValueError | AttributeError | IndexError):
        return next(filter(None, _refusals(error, code, variables)), "")
    return ""


def _missing(name: str, error: BaseException, variables: dict[str, Any]) -> str:
    plain, imports = IN_NUMPY.get(name, ""), imports_of(name)
    if imports:
        says = f"Write `{imports[0]}` at the top of the file"
        return f"{says}; or write it out: {plain}." if plain else f"{says}."
    if plain:
        return f"It is a helper of the library's: {plain}."
    known: list[str] = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        known = [each for each in {**frame.f_globals, **variables} if not each.startswith("__")]
    if meant := _did_you_mean(name, known):
        return meant
    return f"Did you mean np.{name}?" if not name.startswith("_") and hasattr(np, name) else ""


def _did_you_mean(name: str, known: list[str]) -> str:
    return did_you_mean(name, known).lstrip("; ").capitalize()


def _refusals(error: BaseException, code: str, variables: dict[str, Any]) -> Iterator[str]:
    """Advice, the most telling first; some of it is "". code: the line that stops. variables: what it sees."""
    message = " ".join(str(error).split())
    yield _parameter(code, variables)
    for name, value in variables.items():
        if not re.search(rf"\b{name}\b", code):
            continue
        if isinstance(value, np.ndarray) and value.ndim > 2 and re.search(rf"\b{name}\.T\b", code):
            turned = f"{name} has {value.ndim} axes, and {name}.T turns all of them around."
            yield f"{turned} {name}.swapaxes(-1, -2) swaps the last two."
        if value is None and "NoneType" in message:
            yield f"{name} is None here: ask `{name} is None` first."
        if isinstance(value, np.ndarray) and value.dtype == object and not value.shape:
            yield _hollow(name, variables.get("self"))
    yield advised(_ADVICE, f"{message}\n{code}")
    if "converted to Python scalar" in message:
        names = dict.fromkeys(re.findall(r"\bmath\.(\w+)\(", code))
        if instead := [f"np.{name}" for name in names if hasattr(np, name)]:
            yield f"The functions of math take one number. For whole arrays write {' and '.join(instead)}."
    if "broadcast" in message:
        yield _not_alike(message, code)
    if isinstance(error, AttributeError):
        yield _no_attribute(error)


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


def _hollow(name: str, layer: Any) -> str:
    """Advice where an array was made like a Parameter, and not like its numbers."""
    parts = getattr(layer, "__dict__", {})
    parameter = next((part for part, held in parts.items() if hasattr(held, "add_grad")), "weight")
    return (
        f"{name} has no axes, as if it was made like a Parameter, not like an array. Make it like the numbers in it: "
        f"np.zeros_like(self.{parameter}.value)."
    )


def _no_attribute(error: AttributeError) -> str:
    """The attribute that was probably meant by one that is not there."""
    name, owner = error.name or "", error.obj
    if hasattr(owner, "add_grad") and hasattr(np.ndarray, name):
        return f"A Parameter is not an array, but holds two: .value.{name} is that of its numbers."
    return _did_you_mean(name, [each for each in dir(owner) if not each.startswith("_")])


def _not_alike(message: str, code: str) -> str:
    """Of the two shapes in a message, which do not go together."""
    found = re.findall(r"\(((?:\d+,? ?)*)\)", message)
    shapes = [tuple(map(int, re.findall(r"\d+", each))) for each in found]
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
