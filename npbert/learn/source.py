"""The library's source without the lines for the learner; and what a file defines."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Collection
from types import ModuleType

import npbert

_GIVEN = ("tape.take(", "check_like(")


def import_of(name: str) -> str:
    """Return the import of a public name of npbert, of NumPy or of a module of Python; "" for any other name."""
    if name in vars(npbert)["__all__"]:
        return f"from npbert import {name}"
    if name == "np":
        return "import numpy as np"
    return f"import {name}" if name in sys.stdlib_module_names else ""


def blanked(source: str, name: str, text: str, given: int, without: Collection[str] = ()) -> str:
    """Return the source with an empty body for one function, and without some other functions.

    text: the new docstring, as its own has the answer. given: the least number of statements that stay; those that take
    from the tape and check dy always do.
    """
    source = textwrap.dedent(source)
    lines = source.splitlines()
    functions = {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
    for each in without:
        first, last = functions[each].lineno - 1, functions[each].end_lineno or 0
        lines[first:last] = [""] * (last - first)  # which keeps line numbers
    node = functions[name]
    lines[node.body[0].lineno - 1 : node.end_lineno] = _blank(node, text, given, lines)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def _blank(node: ast.FunctionDef, text: str, given: int, lines: list[str]) -> list[str]:
    """Return the new lines of a function's body: a docstring, the given statements, and a raise."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    for number, statement in enumerate(body, 1):
        if any(word in ast.unparse(statement) for word in _GIVEN):
            given = max(given, number)
    given_lines = lines[body[0].lineno - 1 : body[given - 1].end_lineno] if given else []
    end = "\n" if "\n" in text else ""
    indent = " " * (node.col_offset + 4)
    docstring = textwrap.indent(f'"""{text}{end}"""', indent).splitlines()
    return [*docstring, *given_lines, f'{indent}raise NotImplementedError("{node.name} is yours to write")']


def with_helpers(source: str, module: ModuleType) -> list[str]:
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
        elif isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0])] = node
    return found
