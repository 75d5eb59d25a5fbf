"""Advice for errors of Python or NumPy, such as a missing name or two shapes: most of it is in exercises/every.txt."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from npbert.io import did_you_mean
from npbert.learn.source import import_of
from npbert.learn.text import entries, sections

_EVERY = sections("every")
IN_NUMPY = entries(_EVERY["numpy"])
"""Helpers of the chapters and of the library, in plain NumPy."""
_ADVICE = entries(_EVERY["advice"])
"""The advice for each pattern of an error."""


def help_with(error: BaseException, said: str, known: Sequence[str], advice: Mapping[str, str]) -> str:
    """Return advice, or "".

    said: a line with the kind and message of an exception, then its line of code, then shapes. known: the names at
    the line. advice: of the exercise, by a pattern of `said`; a \\1 in it is the pattern's group.
    """
    if text := _advised(advice, said):
        return text
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and error.name:
        return _missing(error.name, known)
    if text := _advised(_ADVICE, said):
        return text
    return _did_you_mean(error.name or "", dir(error.obj)) if isinstance(error, AttributeError) else ""


def _advised(advice: Mapping[str, str], said: str) -> str:
    """Return the first text with a pattern in `said`, or ""."""
    found = ((re.search(pattern, said), text) for pattern, text in advice.items())
    return next((match.expand(text) for match, text in found if match), "")


def _missing(name: str, known: Sequence[str]) -> str:
    if name in IN_NUMPY:
        return f"It is a helper of the library: {IN_NUMPY[name]}."
    if line := import_of(name):
        return f"Write `{line}` at the top of the file."
    in_numpy = f"Did you mean np.{name}?" if not name.startswith("_") and hasattr(np, name) else ""
    return _did_you_mean(name, known) or in_numpy


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    return did_you_mean(name, [each for each in known if not each.startswith("__")]).lstrip("; ").capitalize()
