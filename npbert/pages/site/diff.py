"""A planted bug as a diff: the lines that are wrong, and those that stand there in the library."""

from __future__ import annotations

import ast
import difflib
import re

from npbert.pages.html import escape
from npbert.pages.site.definitions import Definitions
from npbert.pages.site.planted import Bug
from npbert.pages.site.sources import Source

_ENOUGH, _FEW = 0.3, 6


def diff_of(bug: Bug, definitions: Definitions) -> list[tuple[str, str]]:
    """(mark, line): " " for what both have, "-" for the right line, "+" for the wrong one.

    Many a wrong method calls the right one, and spoils what goes in or comes out: then what it does besides is marked.
    Where hardly a line of the right method is left, the wrong one stands alone.
    """
    wrong = _without_docstring(bug.source.part(bug.wrong))
    owner = definitions.find("npbert", bug.owner.removeprefix("npbert."))
    found = definitions.member(owner, bug.method) if owner and bug.method else None
    right = bug.right or (found.source.part(found.node) if found else "")
    if not right:
        return [("+", line) for line in wrong]
    lines = _without_docstring(right)
    if any(f".{bug.method}(self" in line for line in wrong):
        right_call = re.compile(rf"\s*(?:return |[\w, ]+ = )?\w+\.{bug.method}\(self(?:, \**\w+)*\)")
        return [(" ", wrong[0]), *((" " if right_call.fullmatch(line) else "+", line) for line in wrong[1:])]
    same = difflib.SequenceMatcher(None, lines[1:], wrong[1:], autojunk=False).ratio()
    if same < _ENOUGH and len(lines) > _FEW:
        return [("+", line) for line in wrong]
    marked = difflib.ndiff(lines[1:], wrong[1:], linejunk=None)
    return [(" ", lines[0]), *((line[0], line[2:]) for line in marked if line[0] != "?")]


def diff_html(marked: list[tuple[str, str]]) -> str:
    """The same as a block of code."""
    names = {"+": "plus", "-": "minus", " ": "same"}
    rows = "".join(
        f'<span class="{names[mark]}"><b aria-hidden="true">{escape(mark)}</b>{escape(line)}\n</span>'
        for mark, line in marked
    )
    return f'<pre class="diff" translate="no">{rows}</pre>'


def _without_docstring(text: str) -> list[str]:
    """The lines of a function or class without its decorators, its docstring and its comments' lines."""
    node = Source("", text).tree.body[0]
    lines = text.split("\n")
    left_out: set[int] = set(range(1, node.lineno))
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None and len(node.body) > 1:
        left_out |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    shown = [line for number, line in enumerate(lines, 1) if number not in left_out]
    return [line for line in shown if line.strip()]
