"""The texts of `exercises/`: sections that begin with "== NAME", some of them with entries "key → text"."""

import re
from pathlib import Path

_ENTRY = re.compile(r"^(\S.*?) → (.*(?:\n .*)*)", re.MULTILINE)


def sections(slug: str) -> dict[str, str]:
    """Return the sections of a text by name, "" for the first."""
    text = Path(__file__).with_name("exercises").joinpath(f"{slug}.txt").read_text(encoding="utf-8")
    named = re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)", f"== \n{text}", re.MULTILINE)
    return {name: body.strip("\n") for name, body in named}


def entries(section: str) -> dict[str, str]:
    """Return the texts of a section by their keys."""
    return {key: " ".join(value.split()) for key, value in _ENTRY.findall(section)}
