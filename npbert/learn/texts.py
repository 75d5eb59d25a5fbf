"""sections, entries: read the texts of `exercises/`: sections that begin with "== NAME", some of them with entries
"key → text"."""

import re
from pathlib import Path

from npbert.io import read_text

_ENTRY = re.compile(r"^(\S.*?) → (.*(?:\n .*)*)", re.MULTILINE)


def sections(slug: str) -> dict[str, str]:
    """Return the sections of a text by name, "" for the first."""
    text = read_text(Path(__file__).with_name("exercises") / f"{slug}.txt")
    parts = (part.partition("\n") for part in f"\n{text}".split("\n== "))
    return {name: body.strip("\n") for name, _, body in parts}


def entries(section: str) -> dict[str, str]:
    """Return the texts of a section by their keys."""
    return {key: " ".join(value.split()) for key, value in _ENTRY.findall(section)}


_EVERY = sections("every")
IN_NUMPY = entries(_EVERY["numpy"])
"""Helpers of the chapters and of the library, in plain NumPy."""
ADVICE = entries(_EVERY["advice"])
"""The advice for each pattern of an error."""
