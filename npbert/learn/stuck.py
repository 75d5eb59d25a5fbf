"""What may help where Python stops: a name that is missing here, a parameter taken for its numbers, a `.T`."""

from __future__ import annotations

import re
import sys
from bdb import BdbQuit
from typing import Any

import numpy as np

from npbert.learn.numpy_refuses import refused
from npbert.suggest import did_you_mean

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

_MODULES = {"np": "import numpy as np", "numpy": "import numpy", "math": "import math", "copy": "import copy"}
_NOT_HERE = ("npbert.learn", "npbert.cli", "npbert.pages", "npbert.__main__")


def help_with(error: BaseException, code: str, variables: dict[str, Any]) -> str:
    """A sentence or two, or "". code: the line that stops. variables: those that it sees."""
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and error.name:
        return _missing(error.name, error, variables)
    if isinstance(error, EOFError | BdbQuit):
        return _NOTHING_TYPED
    if isinstance(error, TypeError | ValueError | AttributeError | IndexError):
        found = _parameter(code, variables) or _turned_around(code, variables) or _nothing(error, code, variables)
        found = found or refused(error, code, variables)
        return found or (_no_attribute(error) if isinstance(error, AttributeError) else "")
    return ""


_NOTHING_TYPED = (
    "breakpoint() and input() wait for something that is typed, and while an answer is checked nothing can be: they "
    "end the check. Take them out, and use print(): what it prints is shown below the answer."
)


def _missing(name: str, error: BaseException, variables: dict[str, Any]) -> str:
    if name in _MODULES:
        return f"Write `{_MODULES[name]}` at the top of the file."
    plain, where = IN_NUMPY.get(name, ""), _home(name)
    if where:
        says = f"It is the library's, and not in this file: `from {where} import {name}` at the top brings it here"
        return f"{says}; or write it out: {plain}." if plain else f"{says}."
    if plain:
        return f"It is a helper of the library's: {plain}."
    known = [each for each in {**_globals(error), **variables} if not each.startswith("__")]
    return did_you_mean(name, known).lstrip("; ").capitalize() or _in_numpy(name)


def _home(name: str) -> str:
    """The module of npbert from which something of this name can be imported: a package where it is public, or its own;
    "" where there is none."""
    for module in _library():
        thing = getattr(sys.modules[module], name, None)
        own = getattr(thing, "__module__", module)
        is_one = thing is not None and (callable(thing) or name.isupper())  # and no module of this name
        if is_one and own.startswith("npbert"):
            return own if hasattr(sys.modules.get(own), name) and not _is_package(module) else module
    return ""


def _is_package(module: str) -> bool:
    return hasattr(sys.modules[module], "__path__")


def _globals(error: BaseException) -> dict[str, Any]:
    """What stands at the top of the file whose line failed."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_globals if trace is not None else {}


def _in_numpy(name: str) -> str:
    return f"Did you mean np.{name}?" if not name.startswith("_") and hasattr(np, name) else ""


def _library() -> list[str]:
    """The modules of npbert that are loaded, those with few dots first: that is where a name is public."""
    found = [name for name in sys.modules if name.startswith("npbert") and not name.startswith(_NOT_HERE)]
    return sorted(found, key=lambda name: (name.count("."), name))


def _parameter(code: str, variables: dict[str, Any]) -> str:
    """Whether the line takes a parameter for its numbers, or for its gradient."""
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


def _nothing(error: BaseException, code: str, variables: dict[str, Any]) -> str:
    """Whether the line uses something that is None."""
    nothing = [name for name, value in variables.items() if value is None and re.search(rf"\b{name}\b", code)]
    if "NoneType" not in str(error) or not nothing:
        return ""
    if nothing[0] != "mask":
        return f"{nothing[0]} is None here."
    has_dropout = hasattr(getattr(variables.get("self"), "dropout", None), "apply")
    apply = " self.dropout.apply(x, mask) takes a mask that is None, too, and then returns x." if has_dropout else ""
    return f"mask is None when nothing is dropped: ask `mask is None` first.{apply}"


def _no_attribute(error: AttributeError) -> str:
    """What was probably meant by an attribute that is not there."""
    name, owner = error.name or "", error.obj
    if hasattr(owner, "add_grad") and hasattr(np.ndarray, name):
        return f"A Parameter is no array, but holds two: .value.{name} is that of its numbers."
    known = [each for each in dir(owner) if not each.startswith("_")]
    if name.startswith("beta") and "betas" in known:
        return "self.betas holds both: beta1, beta2 = self.betas."
    return did_you_mean(name, known).lstrip("; ").capitalize()


def _turned_around(code: str, variables: dict[str, Any]) -> str:
    """Whether `.T` is written where there are more than two axes."""
    for name, value in variables.items():
        if isinstance(value, np.ndarray) and value.ndim > 2 and re.search(rf"\b{name}\.T\b", code):
            turned = f"{name} has {value.ndim} axes, and {name}.T turns all of them around."
            return f"{turned} {name}.swapaxes(-1, -2) swaps the last two."
    return ""
