"""The text of an exercise: the library's source without the part for the learner."""

import ast
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Collection, Iterable
from functools import cache
from types import ModuleType

WIDTH = 100
_GIVEN = ("tape.take(", "check_like(")
_COMMANDS = """
Check:    npbert learn check {number:02}
A hint:   npbert learn hint {number:02}
To read:  {chapter}
          (Chapters show the finished lines. To find them yourself, try first.)
"""


def exercise_file(number: int, title: str, chapter: str, text: str, things: Iterable[str], uses: Iterable[str]) -> str:
    """Return a whole file: the task, the imports for `things` (each a source) and NumPy, and the things.

    uses: further names that a right answer may need
    """
    body = "\n\n\n".join(thing.strip("\n") for thing in things)
    lines = sorted(
        {"import numpy as np", *imports_of(body, uses)}, key=lambda line: (_rank(line), line[0] == "f", line)
    )
    imports = "\n\n".join("\n".join(group) for _, group in itertools.groupby(lines, _rank))
    commands = _COMMANDS.format(number=number, chapter=chapter)
    docstring = f'"""Exercise {number}: {title}\n\n{inspect.cleandoc(text)}\n{commands}"""'
    return f"{docstring}\n\nfrom __future__ import annotations\n\n{imports}\n\n\n{body}\n"


def blanked(source: str, name: str, text: str, given: int | None, without: Collection[str] = ()) -> str:
    """Return the source with an empty body for one function, and without some other functions.

    text: the new docstring, as its own has the answer. given: the number of statements that stay; None: those that take
    from the tape and check dy.

    Raises: ValueError for a missing function.
    """
    source = textwrap.dedent(source)
    lines = source.splitlines()
    functions = {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
    if name not in functions:
        raise ValueError(f"{name} is missing in the source")
    for node in sorted(functions.values(), key=lambda node: -node.lineno):  # backwards, which keeps line numbers
        if node.name == name:
            lines[node.body[0].lineno - 1 : node.end_lineno] = _blank(node, text, given, lines)
        elif node.name in without:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            lines[first - 1 : node.end_lineno] = []
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def _blank(node: ast.FunctionDef, text: str, given: int | None, lines: list[str]) -> list[str]:
    """Return the new lines of a function's body: a docstring, the given statements, and a raise."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if given is None:
        uses = (n for n, each in enumerate(body, 1) if any(word in ast.unparse(each) for word in _GIVEN))
        given = max(uses, default=0)
    kept = lines[body[0].lineno - 1 : body[given - 1].end_lineno] if given else []
    text = inspect.cleandoc(text)
    end = "\n" if "\n" in text else ""
    indent = " " * (node.col_offset + 4)
    docstring = textwrap.indent(f'"""{text}{end}"""', indent).splitlines()
    return [*docstring, *kept, f'{indent}raise NotImplementedError("{node.name} is yours to write")']


def with_helpers(source: str, module: ModuleType | None) -> list[str]:
    """Return the source, and the functions of its module that it calls, directly or not."""
    found = [source]
    for text in found:
        names = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
        called = [vars(module).get(name) for name in names]
        helpers = [each for each in called if inspect.isfunction(each) and inspect.getmodule(each) is module]
        found += [text for text in dict.fromkeys(map(inspect.getsource, helpers)) if text not in found]
    return found


def definitions(text: str) -> dict[str, ast.stmt]:
    """Return the functions, methods and values at the top of a file, by dotted name. Raises: SyntaxError."""
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
    """Return the imports of a text, from the public place of a name, or else from its definition."""
    nodes = list(ast.walk(ast.parse(body)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    homes, lines = _homes(len(sys.modules)), set()
    from_modules: dict[str, list[str]] = {}
    for name in sorted({*uses, *(node.id for node in names)} - own):
        home = homes.get(name, "")
        if home.startswith("import "):
            lines.add(home)
        elif home:
            from_modules.setdefault(home, []).append(name)
    return [*lines, *(_import_line(module, names) for module, names in from_modules.items())]


def _import_line(module: str, names: Iterable[str]) -> str:
    """Return an import: constants, classes, functions, each in alphabetic order; if it is long, a name on each line."""
    names = sorted(names, key=lambda name: (not name.isupper(), not name[:1].isupper(), name))
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= WIDTH else f"from {module} import (\n    {f',{chr(10)}    '.join(names)},\n)"


@cache
def _homes(_: int) -> dict[str, str]:
    """Return the module of each loaded name, or the whole import of a module."""
    others = ("learn", "cli", "pages", "pytest_plugin", "__main__")
    loaded = sorted(name for name in sys.modules if name.startswith("npbert.") and name.split(".")[1] not in others)
    homes: dict[str, str] = {}
    for module in map(sys.modules.__getitem__, loaded):
        for name, value in vars(module).items():
            home = getattr(value, "__module__", None)
            if isinstance(value, ModuleType) and not value.__name__.startswith("npbert."):
                whole = value.__name__ if value.__name__ == name else f"{value.__name__} as {name}"
                homes.setdefault(name, f"import {whole}")
            elif isinstance(home, str) and getattr(sys.modules.get(home), name, None) is value:
                homes[name] = home
    for room in [*(name for name in loaded if name.count(".") == 1), "npbert"]:
        homes |= dict.fromkeys(getattr(sys.modules[room], "__all__", ()), room)
    return homes


def _rank(line: str) -> int:
    """A sort key: the standard library, then NumPy, then npbert."""
    return {"numpy": 1, "npbert": 2}.get(line.split()[1].partition(".")[0], 0)
