"""Advice for errors of Python or NumPy: a missing name, a Parameter used as an array, a `.T`, two shapes."""

import re
import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np

from npbert.io import did_you_mean
from npbert.learn.source import import_of

IN_NUMPY = {
    "sum_rows": "sum_rows(x) is x.sum(axis=0)",
    "dot_rows": "dot_rows(x, y) is (x * y).sum(axis=-1, keepdims=True)",
    "matmul": "matmul(x, y) is x @ y",
    "scatter_add": "scatter_add(table, ids, rows) is np.add.at(table, ids, rows)",
    "rowwise": "rowwise(f, x) is f(x), a few rows at a time",
    "softmax_backward": "softmax_backward(dp, p) is p * (dp - (dp * p).sum(axis=-1, keepdims=True))",
    "softmax": "softmax(x) is e / e.sum(axis=-1, keepdims=True), with e = np.exp(x)",
}
"""Helpers of the chapters and of the library, in plain NumPy."""


_ADVICE = {
    r"^(EOFError|BdbQuit)": "breakpoint() and input() wait for the keyboard, which the check does not have. "
    "Use print() instead: its output is shown below the answer.",
    r"\n.*\.at\(\s*(self\.\w+)(?![\w.]).*\n.*\1\.value|\n(?P<set>self\.\w+) [-+*/]?= .*\n.*(?P=set)\.value": "A "
    "Parameter has two arrays, .value and .grad. Backward adds to the gradient: self.weight.add_grad(…).",
    r"\n.*(self\.\w+)(?![\w.(]).*\n.*\1\.value": r"\1 is a Parameter. Its numbers are \1.value.",
    r"\b(\w+)\.T\b.*\n.*\b\1 \(\d+, \d+, \d": r"\1 has more than two axes, and \1.T reverses all of them. "
    r"\1.swapaxes(-1, -2) swaps the last two.",
    "inhomogeneous shape": "The lists or arrays in it have different lengths.",
    "non-iterable NoneType": "A function that is called here returned None. Is a `return` missing at its end?",
    r"NoneType.*\n.*\b(\w+)\b.*\n.*\b\1 None": r"\1 is None here: check `\1 is None` first.",
    r"\n.*\b(\w+)\b.*\n.*\b\1 \(\)": r"\1 has no axes, as if made like a Parameter, not like an array. Make "
    "it like the Parameter's numbers, as with np.zeros_like(self.weight.value).",
    r"shapes do not fit\n.*einsum": "In einsum a letter is one size: two axes of different sizes need two letters.",
    "shapes do not fit": "In A @ B the last axis of A and the last but one of B must be equal. The axes before them "
    "must be equal, or 1. For a product number by number, use *.",
    r"bitwise_xor|for \^": "In Python ^ does not mean a power: write x ** 2, or x * x.",
    r"converted to Python scalar.*\n.*\bmath\.erf\(": "math.erf takes one number. For whole arrays, use "
    "`from npbert.compute import erf`.",
    r"converted to Python scalar.*\n.*\bmath\.(\w+)\(": r"The functions of math take one number. For whole arrays "
    r"write np.\1.",
    r"truth value of an array.*\n.*([!=]= ?None|None ?[!=]=)": "With an array, == compares number by number. To test "
    "for None, use `is None`.",
    r"truth value of an array": "An array has many numbers, so it is neither true nor false. To test for None, use "
    "`is None`. To choose number by number, use np.where(condition, a, b).",
    r"broadcast.*(\((\d+),\d+\)) \(\2,\)|broadcast.*\((\d+),\) \(\3,\d+\)": "One has a number for each row of the "
    "other, but NumPy spreads it along the rows. With keepdims=True a sum or a mean stays a column, (N, 1). "
    "For another array, use a[..., None].",
    r"broadcast.*\((\d+),(\d+)\) \(\2,(\d+)\).*\n.*\*": r"* is number by number, and needs equal shapes. @ is "
    "the "
    r"matrix product: (\1, \2) @ (\2, \3) fits.",
    r"returns [1-9]\d* gradients?, for inputs": "Backward returns only the gradients of its float inputs. Add a "
    "parameter's gradient with self.weight.add_grad(…). Ids have no gradient.",
    "differs after a call": "The second call uses a value of the first, as one kept in a default argument, in "
    "a global or on the class; or it draws random numbers that the check cannot repeat, from np.random or your own "
    "generator. The numbers that forward drew are on the tape. Backward draws and keeps nothing.",
    "changes the value of": "Backward changes only gradients: add with self.weight.add_grad(…).",
    "grad has shape": "A gradient has the shape of its parameter: dW has the shape of W, and db the shape of b.",
}
"""The advice for each pattern of an error."""


def help_with(error: BaseException, said: str, variables: Mapping[str, Any], advice: Mapping[str, str]) -> str:
    """Return advice, or "".

    said: a line with the kind and message of an exception, then its line of code, then shapes. variables: those visible
    at the line. advice: of the exercise, by a pattern of `said`; a \\1 in it is the pattern's group.
    """
    if text := _advised(advice, said):
        return text
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and error.name:
        return _missing(error.name, error, variables)
    if text := _advised(_ADVICE, said):
        return text
    return _no_attribute(error) if isinstance(error, AttributeError) else ""


def _advised(advice: Mapping[str, str], said: str) -> str:
    """Return the first text with a pattern in `said`, or ""."""
    found = ((re.search(pattern, said), text) for pattern, text in advice.items())
    return next((match.expand(text) for match, text in found if match), "")


def _missing(name: str, error: BaseException, variables: Mapping[str, Any]) -> str:
    if name in IN_NUMPY:
        return f"It is a helper of the library: {IN_NUMPY[name]}."
    if line := import_of(name):
        return f"Write `{line}` at the top of the file."
    known = list(variables)
    for frame, _ in traceback.walk_tb(error.__traceback__):
        known += frame.f_globals
    if meant := _did_you_mean(name, [each for each in known if not each.startswith("__")]):
        return meant
    return f"Did you mean np.{name}?" if not name.startswith("_") and hasattr(np, name) else ""


def _did_you_mean(name: str, known: list[str]) -> str:
    return did_you_mean(name, known).lstrip("; ").capitalize()


def _no_attribute(error: AttributeError) -> str:
    """Return advice for a missing attribute."""
    name, owner = error.name or "", error.obj
    if hasattr(owner, "add_grad") and hasattr(np.ndarray, name):
        return f"A Parameter is not an array. For its numbers, use .value.{name}."
    return _did_you_mean(name, [each for each in dir(owner) if not each.startswith("_")])
