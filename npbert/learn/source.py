"""The text of an exercise, made from the library's own source: what is the learner's to write is taken out of it."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Collection, Iterable
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

WIDTH = 100
_GIVEN = ("tape.take(", "check_like(")


class Blank(NamedTuple):
    """A method or a function whose body is taken out.

    text: the docstring that takes the place of its own, which has the answer. given: so many statements of the body
    stay; None for as many as take what forward kept from the tape, and check dy.
    """

    method: str
    text: str
    given: int | None = None


def exercise_file(number: int, title: str, chapter: str, text: str, things: Iterable[str], uses: Iterable[str]) -> str:
    """A whole file: what is to be done, the imports that `things` (each as source) need and NumPy, and the things.

    uses: names that a right answer may need besides.
    """
    head = "\n\n".join(wrapped(part) for part in inspect.cleandoc(text).split("\n\n"))
    commands = (
        f"Is it right?   npbert learn check {number:02}\n"
        f"A hint:        npbert learn hint {number:02}\n"
        f"To read:       {chapter}\n"
        f"               (Chapters show the finished lines, too: if you want to find them yourself, try first.)"
    )
    body = "\n\n\n".join(thing.strip("\n") for thing in things)
    lines = sorted(
        {"import numpy as np", *imports_of(body, uses)}, key=lambda line: (_rank(line), line.startswith("from"), line)
    )
    groups = {rank: [line for line in lines if _rank(line) == rank] for rank in range(3)}
    joined = "\n\n".join("\n".join(group) for group in groups.values() if group)
    future = "from __future__ import annotations"
    return f'"""Exercise {number}: {title}\n\n{head}\n\n{commands}\n"""\n\n{future}\n\n{joined}\n\n\n{body}\n'


def wrapped(text: str) -> str:
    """A paragraph at most WIDTH wide; one with indented lines stays as it is."""
    return text if "\n  " in f"\n{text}" else textwrap.fill(" ".join(text.split()), WIDTH, break_on_hyphens=False)


def blanked(source: str, blank: Blank, without: Collection[str] = ()) -> str:
    """The source with one function blanked, and without those of some names."""
    source = textwrap.dedent(source)
    lines = source.splitlines()
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    if blank.method not in [node.name for node in functions]:
        raise ValueError(f"there is no {blank.method} in the source")
    for node in sorted(functions, key=lambda node: -node.lineno):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if node.name in without:
            while first >= 2 and not lines[first - 2].strip():
                first -= 1
            lines[first - 1 : node.end_lineno] = []
        elif node.name == blank.method:
            start = node.body[0].lineno - 1
            lines[start : node.end_lineno] = _blank_body(blank, node, lines)
    return "\n".join(lines) + "\n"


def _blank_body(blank: Blank, node: ast.FunctionDef, lines: list[str]) -> list[str]:
    indent = " " * (node.col_offset + 4)
    has_docstring = ast.get_docstring(node) is not None
    body = node.body[1:] if has_docstring else node.body
    count = blank.given
    if count is None:
        uses = [n for n, statement in enumerate(body) if any(word in ast.unparse(statement) for word in _GIVEN)]
        count = uses[-1] + 1 if uses else 0
    given = [line for statement in body[:count] for line in lines[statement.lineno - 1 : statement.end_lineno]]
    text = inspect.cleandoc(blank.text).splitlines()
    docstring = [f'{indent}"""{text[0]}', *(f"{indent}{line}".rstrip() for line in text[1:])]
    docstring = [f'{docstring[0]}"""'] if len(text) == 1 else [*docstring, f'{indent}"""']
    return [*docstring, *given, f'{indent}raise NotImplementedError("{blank.method} is yours to write")']


def definitions(text: str) -> dict[str, ast.stmt]:
    """By dotted name, the functions, the methods and the values at the top of a file. Raises: SyntaxError."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
            found.update({f"{node.name}.{method.name}": method for method in methods})
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return found


def imports_of(body: str, uses: Iterable[str] = ()) -> list[str]:
    """The imports that a text needs, as the library's files have them; from npbert itself what is public there."""
    tree = ast.parse(body)
    used = {*uses, *(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))}
    used -= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    used -= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    public = used & set(sys.modules["npbert"].__all__)
    from_modules: dict[str, set[str]] = {"npbert": public} if public else {}
    lines = set()
    for name in sorted(used - public):
        found = [known[name] for known in map(_imported, _modules()) if name in known]
        here = (
            each.__name__ for each in _modules() if getattr(vars(each).get(name), "__module__", "") == each.__name__
        )
        found = found or [(module, name) for module in here]
        if found and isinstance(found[0], tuple):
            from_modules.setdefault(found[0][0], set()).add(found[0][1])
        elif found:
            lines.add(found[0])
    return [*lines, *(_import_line(module, names) for module, names in from_modules.items())]


def _import_line(module: str, names: Iterable[str]) -> str:
    """One import: constants, classes, functions, each by the alphabet; a name a line where they are many."""
    names = sorted(names, key=lambda name: (not name.isupper(), not name[:1].isupper(), name))
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= WIDTH else f"from {module} import (\n    {f',{chr(10)}    '.join(names)},\n)"


def _modules() -> list[ModuleType]:
    """Those of the library that are loaded."""
    others = ("learn", "cli", "pages", "pytest_plugin", "__main__")
    names = [name for name in sorted(sys.modules) if name.startswith("npbert.")]
    return [sys.modules[name] for name in names if name.split(".")[1] not in others]


@cache
def _imported(module: ModuleType) -> dict[str, Any]:
    """By name, the line that imports it, or the module of another room and the name in it."""
    found: dict[str, Any] = {}
    room = module.__name__.split(".")[1]
    for node in ast.parse(inspect.getsource(module)).body if module.__file__ else []:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[1:2] != [room]:
            found.update({alias.asname or alias.name: (node.module, alias.name) for alias in node.names})
        elif isinstance(node, ast.Import):
            found.update({alias.asname or alias.name: ast.unparse(ast.Import([alias])) for alias in node.names})
    return found


def _rank(line: str) -> int:
    """The standard library, then NumPy, then npbert."""
    top = line.split()[1].partition(".")[0]
    return 2 if top == "npbert" else 1 if top == "numpy" else 0
