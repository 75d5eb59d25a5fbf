"""The lines of npbert that compute each step of the page."""

import ast
import inspect
import re
import textwrap
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

from npbert.core import named_parts
from npbert.pages.html import PAGES
from npbert.pages.number.network import formulas

Frame: TypeAlias = tuple[Any, str]
"""A function, and a pattern for its relevant lines; "" for all."""


def source_lines(model: Any, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return `functions`: by name, the `file` and `lines`, [number, text], without docstring; and `steps`: by phase,
    kind and part, the frames, innermost first: [function, relevant lines].

    steps: of the network, each with its `kind` and `part`.
    """
    parts = dict(named_parts(model))
    functions: dict[str, Any] = {}
    found = {}
    places = [(step["kind"], step["part"], phase) for step in steps for phase in ("forward", "backward")]
    for kind, part, phase in [*places, ("AdamW", "parameters", "update")]:
        frames = []
        for function, pattern in reversed(_own(parts, kind, part, phase)):
            code = code_of(function)
            functions[code["name"]] = code
            frames.append([code["name"], lines_with(code, pattern)])
        found[f"{phase} {kind} {part}"] = frames
    return {"functions": functions, "steps": found}


def _own(parts: dict[str, Any], kind: str, part: str, phase: str) -> list[Frame]:
    """Return the functions that compute the step: those in formulas.ini, or the layer's with its helpers."""
    named = formulas()[kind].get(f"{phase} in {part.split('.')[-1]}")
    if named:
        pairs = [line.partition(" | ") for line in named.strip().splitlines()]
        return [(resolve_name(f"npbert.{name}"), pattern) for name, _, pattern in pairs]
    owner = type(parts[part])
    function = getattr(owner, phase)
    helpers = [getattr(owner, name, None) for name in re.findall(r"self\.(\w+)", inspect.getsource(function))]
    return [(function, ""), *((helper, "") for helper in dict.fromkeys(helpers) if inspect.isfunction(helper))]


@cache
def code_of(function: Any) -> dict[str, Any]:
    """Return a function for the page: `name`, `file` and numbered `lines`, without the docstring."""
    text, first = inspect.getsourcelines(function)
    source = textwrap.dedent("".join(text))
    tree: Any = ast.parse(source).body[0]
    begin = tree.body[0]
    head = begin.lineno - 1
    body = head if ast.get_docstring(tree) is None else begin.end_lineno
    lines = list(enumerate(source.splitlines(), first))
    file = Path(inspect.getfile(function)).relative_to(PAGES.parents[1]).as_posix()
    return {"name": function.__qualname__, "file": file, "lines": [*lines[:head], *lines[body:]], "body": first + body}


def lines_with(code: dict[str, Any], pattern: str) -> list[int]:
    """Return the numbers of the relevant lines: all in the body that match, and compute something."""
    body = [(number, text) for number, text in code["lines"] if number >= code["body"] and not _ASIDE.search(text)]
    return [number for number, text in body if re.search(pattern, text)]


_ASIDE = re.compile(r"^\s*(check_|#|$)|tape\.keep|\.shape$")
