"""attempt: runs a learner's code, and returns the verdict on the exception that stops it, with advice: most of it is in
exercises/every.txt."""

import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import npbert
from npbert.gradcheck import GradientError
from npbert.io import did_you_mean
from npbert.learn.texts import ADVICE, IN_NUMPY
from npbert.learn.verdict import Verdict, sentence

_MOST_OF_A_MESSAGE, _MOST_SHAPES = 2000, 8


def attempt(call: Callable[[], Any], *files: str) -> Any:
    """Return call(), or the Verdict on the exception that stops it. files: the learner's"""
    try:
        with np.errstate(all="ignore"):
            return call()
    except (Exception, SystemExit) as error:
        return failure_of(error, *files)


def failure_of(
    error: Any,
    *files: str,
    given: Collection[str] = (),
    advice: Mapping[str, str] = {},
) -> Verdict:
    """Return the verdict on an exception, with the last of the learner's lines in its traceback.

    files: the learner's files
    given: functions in them that the learner did not write; it names the line that called these
    advice: of the exercise, by a pattern of the error
    """
    if error.__cause__ and _place_of(error.__cause__, files, given):  # the check wrapped it
        error = error.__cause__
    place = _place_of(error, files, given)
    where, line, code, shapes, known = "The code", 0, "", "", list[str]()
    message = " ".join(str(error)[:_MOST_OF_A_MESSAGE].split()) or "no message"
    if "gufunc" in message or "remapped shapes" in message:
        message = "the shapes do not fit"
    if place:
        line, names = place.lineno, place.frame.f_locals
        where = f"Line {line} of {place.filename}" if len(files) > 1 else f"Line {line}"
        code = "".join(place.code_context or "").strip()
        shapes, known = visible_shapes(names, code), [*names, *place.frame.f_globals]
    kind = type(error).__name__
    helps = help_with(error, f"{kind}: {message}\n{code}\n{shapes}", known, advice)
    if isinstance(error, NotImplementedError) and code.startswith("raise"):
        left = f"Not finished: the `raise NotImplementedError` is left in line {line}."
        return Verdict(left, "Replace that line by your code.")
    if isinstance(error, GradientError):
        return Verdict(sentence(message), helps)
    shown = f"{line:>4}:  {code}" if line else ""
    arrays = f"Its arrays: {shapes}" if shapes else ""
    return Verdict(f"{where} stops with {kind}: {message}").because_of(shown, helps, arrays)


def _place_of(error: Any, files: tuple[str, ...], given: Collection[str]) -> inspect.FrameInfo | None:
    """Return the last line in the learner's files, in a function that the learner wrote if one took part."""
    places = [each for each in inspect.getinnerframes(error.__traceback__) if each.filename in files]
    own = [each for each in places if each.function not in given]
    return [None, *places, *own][-1]


def load(path: Path, text: str) -> ModuleType | Verdict:
    """Return the file as a module, or the verdict on it. Raises: SyntaxError."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    code = compile(text, str(path), "exec")
    return attempt(lambda: exec(code, vars(module)), str(path)) or module


def visible_shapes(variables: Mapping[str, Any], code: str) -> str:
    """Return the shapes of arrays among the variables and of the parameters of `self`, and the None values; those in
    `code` first."""
    parts = getattr(variables.get("self"), "__dict__", {})
    seen = {**variables, **{f"self.{name}.value": getattr(part, "value", ...) for name, part in parts.items()}}
    arrays = [
        name for name, value in seen.items() if isinstance(value, np.ndarray | None) and not name.startswith("__")
    ]
    arrays.sort(key=lambda name: re.search(rf"\b{name}\b", code) is None)
    return ", ".join(f"{name} {getattr(seen[name], 'shape', None)}" for name in arrays[:_MOST_SHAPES])


def help_with(error: Any, said: str, known: Sequence[str], advice: Mapping[str, str]) -> str:
    """Return advice, or "".

    said: a line with the kind and message of an exception, then its line of code, then shapes. known: the names at
    the line. advice: of the exercise, by a pattern of `said`; a \\1 in it is the pattern's group.
    """
    is_name = type(error) is NameError
    for pattern, text in (advice if is_name else {**advice, **ADVICE}).items():
        if match := re.search(pattern, said):
            return match.expand(text)
    if isinstance(error, AttributeError):
        return _did_you_mean(error.name or "", dir(error.obj))
    if not is_name:
        return ""
    name = error.name or ""
    if name in IN_NUMPY:
        return f"It is a helper of the library: {IN_NUMPY[name]}."
    if line := import_of(name):
        return f"Write `{line}` at the top of the file."
    in_numpy = f"Did you mean np.{name}?" if not name.startswith("_") and hasattr(np, name) else ""
    return _did_you_mean(name, known) or in_numpy


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    return did_you_mean(name, [each for each in known if not each.startswith("__")]).replace("; d", "D")


def import_of(name: str) -> str:
    """Return the import of a public name of npbert, of NumPy or of a module of Python; "" for any other name."""
    if name in vars(npbert)["__all__"]:
        return f"from npbert import {name}"
    if name == "np":
        return "import numpy as np"
    return f"import {name}" if name in sys.stdlib_module_names else ""
