"""Advice where Python or NumPy stops: a missing name, a Parameter taken for its numbers, a `.T`, two shapes."""

import re
import traceback
from collections.abc import Mapping
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
    r"^(EOFError|BdbQuit)": "breakpoint() and input() wait for something that is typed, and while an answer is checked "
    "nothing can be: they end the check. Take them out, and use print(): what it prints is shown below the answer.",
    r"\n.*\.at\(\s*(self\.\w+)(?![\w.]).*\n.*\1\.value|\n(?P<set>self\.\w+) [-+*/]?= .*\n.*(?P=set)\.value": "A "
    "Parameter holds two arrays, .value and .grad. Backward adds to the gradient: self.weight.add_grad(…).",
    r"\n.*(self\.\w+)(?![\w.(]).*\n.*\1\.value": r"\1 is a Parameter, which holds two arrays: write \1.value for its "
    "numbers.",
    r"\b(\w+)\.T\b.*\n.*\b\1 \(\d+, \d+, \d": r"\1 has more than two axes, and \1.T turns all of them around. "
    r"\1.swapaxes(-1, -2) swaps the last two.",
    r"NoneType.*\n.*\b(\w+)\b.*\n.*\b\1 None": r"\1 is None here: ask `\1 is None` first.",
    r"\n.*\b(\w+)\b.*\n.*\b\1 \(\)": r"\1 has no axes, as if it was made like a Parameter, not like an array. Make it "
    "like the numbers in it: np.zeros_like(self.weight.value), say.",
    r"shapes do not fit\n.*einsum": "In einsum a letter stands for one size: two axes of different sizes need two "
    "letters.",
    "shapes do not fit": "In A @ B the last axis of A and the last but one of B must be equal; the axes before them "
    "must be equal, or 1. A single number has no axes: number by number it is *.",
    r"bitwise_xor|for \^": "In Python ^ does not mean a power: write x ** 2, or x * x.",
    r"converted to Python scalar.*\n.*\bmath\.erf\(": "math.erf takes one number. `from npbert.compute import erf` "
    "brings one that takes whole arrays.",
    r"converted to Python scalar.*\n.*\bmath\.(\w+)\(": r"The functions of math take one number. For whole arrays "
    r"write np.\1.",
    r"truth value of an array.*\n.*([!=]= ?None|None ?[!=]=)": "With an array, == compares number by number. Whether "
    "there is one at all is asked with `is None`.",
    r"truth value of an array": "An array holds many numbers, so it is neither true nor false. Whether there is one at "
    "all is asked with `is None`; number by number, np.where(condition, a, b) chooses.",
    r"broadcast.*(\((\d+),\d+\)) \(\2,\)|broadcast.*\((\d+),\) \(\3,\d+\)": "One has a number for each row of the "
    "other, but NumPy lays it along the rows. With keepdims=True a sum or a mean stays a column, (N, 1); of another "
    "array, a[..., None] makes one.",
    r"broadcast.*\((\d+),(\d+)\) \(\2,(\d+)\).*\n.*\*": r"* is number by number, and wants equal shapes. @ is the "
    r"matrix product: (\1, \2) @ (\2, \3) fits.",
    r"returns [1-9]\d* gradients?, for inputs": "Backward returns the gradients of its float inputs alone. That of a "
    "parameter is not returned, but handed over, as self.weight.add_grad(…) does; ids have none.",
    "another one when": "Something of the first call is used in the second, as what is kept in a default argument, "
    "in a global or on the class; or something is drawn that nobody can repeat, with np.random or a generator of your "
    "own. What forward drew is on the tape; backward itself draws and keeps nothing.",
    "changes the value of": "What backward finds out belongs in the gradient: self.weight.add_grad(…) adds to that.",
    "a gradient of shape": "A gradient has the shape of what it is the gradient of: dW has that of W, and "
    "db that of b.",
}
"""By a pattern of what is said, what helps."""


def advised(advice: Mapping[str, str], said: str) -> str:
    """The first text of `advice` whose pattern is found in what Python said, or "". A \\1 in it is the pattern's group.

    said: the kind and the message of an exception in one line, in the next the code that stopped, and then shapes.
    """
    found = ((re.search(pattern, said), text) for pattern, text in advice.items())
    return next((match.expand(text) for match, text in found if match), "")


def help_with(error: BaseException, said: str, variables: dict[str, Any]) -> str:
    """A sentence or two, or "". said: as of `advised`. variables: those that the line sees."""
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and error.name:
        return _missing(error.name, error, variables)
    if advice := advised(_ADVICE, said):
        return advice
    return _no_attribute(error) if isinstance(error, AttributeError) else ""


def _missing(name: str, error: BaseException, variables: dict[str, Any]) -> str:
    plain, imports = IN_NUMPY.get(name, ""), imports_of(name)
    if imports:
        says = f"Write `{imports[0]}` at the top of the file"
        return f"{says}; or write it out: {plain}." if plain else f"{says}."
    if plain:
        return f"It is a helper of the library's: {plain}."
    known = list(variables)
    for frame, _ in traceback.walk_tb(error.__traceback__):
        known += frame.f_globals
    if meant := _did_you_mean(name, [each for each in known if not each.startswith("__")]):
        return meant
    return f"Did you mean np.{name}?" if not name.startswith("_") and hasattr(np, name) else ""


def _did_you_mean(name: str, known: list[str]) -> str:
    return did_you_mean(name, known).lstrip("; ").capitalize()


def _no_attribute(error: AttributeError) -> str:
    """The attribute that was probably meant by one that is not there."""
    name, owner = error.name or "", error.obj
    if hasattr(owner, "add_grad") and hasattr(np.ndarray, name):
        return f"A Parameter is not an array, but holds two: .value.{name} is that of its numbers."
    return _did_you_mean(name, [each for each in dir(owner) if not each.startswith("_")])
