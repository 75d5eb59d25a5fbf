"""finding_of: an edit told as a Finding, in the words of the author's own lines."""

from __future__ import annotations

import ast
import textwrap

from npbert.gradcheck.explain.code import Code, replaced, text_of
from npbert.gradcheck.explain.edits import Edit
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.reasons import KINDS


def finding_of(edit: Edit, code: Code, subject: str) -> Finding:
    """What the edit says of the code as it stands."""
    road = _road(code.tree, edit.old)
    place, found, wanted = _of_expression(edit, code, road) if isinstance(edit.old, ast.expr) else _of_lines(edit, code)
    return Finding(edit.kind, subject, place, found, edit.says or wanted, KINDS[edit.kind].cause, edit.line)


def _road(tree: ast.AST, node: ast.AST) -> list[ast.AST]:
    """The nodes from the statement down to the node."""
    for child in ast.iter_child_nodes(tree):
        if child is node:
            return [child]
        road = _road(child, node)
        if road:
            return road if isinstance(road[0], ast.stmt) else [child, *road]
    return []


def _of_expression(edit: Edit, code: Code, road: list[ast.AST]) -> tuple[str, str, str]:
    """(place, found, wanted), where `found` is the smallest piece that stands in the place just once."""
    place = code.lines(edit.old) or (_header(road[0]) if road else text_of(edit.old))
    for i in range(len(road) - 1, 0, -1):
        node, holder = road[i], road[i - 1]
        found = code.text(node)
        if place.count(found) != 1:
            continue
        wanted = text_of(replaced(node, edit.changes))
        is_bracketed = f"({wanted})" in text_of(replaced(holder, edit.changes)) and f"({found})" not in place
        return place, found, f"({wanted})" if is_bracketed and isinstance(holder, ast.expr) else wanted
    return place, place, _header(replaced(road[0], edit.changes)) if road else place


def _of_lines(edit: Edit, code: Code) -> tuple[str, str, str]:
    place = code.text(edit.old)
    place = _header(edit.old) if isinstance(edit.old, ast.For | ast.While) else textwrap.dedent(place)
    new = edit.new if isinstance(edit.new, list) else [edit.new] if edit.new is not None else []
    return place, place, "\n".join(text_of(each) for each in new)


def _header(statement: ast.AST) -> str:
    """The statement, or the first line of a loop or branch."""
    text = text_of(statement)
    return text.splitlines()[0] if isinstance(statement, ast.For | ast.While | ast.If | ast.With) else text
