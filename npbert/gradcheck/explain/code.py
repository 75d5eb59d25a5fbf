"""Code: the author's function as text, with edited copies that run.

An edit is a piece of text in the place of another. So the author's spelling is kept, line numbers stay, and the parser
is Python's own.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from operator import itemgetter
from types import CodeType
from typing import Any

from npbert.gradcheck.inputs import Function

HOOK, STEP = "__hook__", "__step__"
_FILE, _MAKER = "<edited>", "__maker__"

Change = tuple[int, int, str]
"""The start and the end of a piece of text, and what replaces it."""


@dataclass(frozen=True, eq=False)
class Code:
    """A function or method; other functions in its source are its helpers.

    text: whole lines of the author's file, in UTF-8, as `ast` counts columns in bytes   first: the first line's number
    scope: the values of its names, with "__class__" for a method with super()
    leaves_functions: its inner functions may be what is wrong, as an engine's operation leaves them for backward
    """

    text: bytes
    first: int
    scope: Mapping[str, Any]
    leaves_functions: bool = False

    @classmethod
    def parsed(cls, source: str, scope: Mapping[str, Any], first: int = 1) -> Code:
        """Return the Code of a source. Raises: SyntaxError; ValueError without a function."""
        is_indented = source[:1].isspace()
        code = cls((f"if 1:\n{source}" if is_indented else source).encode(), first - is_indented, scope)
        if not code.functions:
            raise ValueError("there is no function in the source")
        return code

    @classmethod
    def of(cls, function: Function) -> Code:
        """Return the Code of a function. Raises: OSError or TypeError if it has no source file."""
        function = inspect.unwrap(function)
        lines, first = inspect.getsourcelines(function)
        closed = inspect.getclosurevars(function).nonlocals  # with __class__
        return cls.parsed("".join(lines), {**function.__globals__, **closed}, first)

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """The called function, and its helpers, with the lines of the author's file."""
        functions = _functions_in(self.text)
        for function in functions:
            ast.increment_lineno(function, self.first - 1)
        return functions

    @cached_property
    def _starts(self) -> list[int]:
        """The start of each line."""
        return [0, *accumulate(map(len, self.text.splitlines(keepends=True)))]

    def span(self, node: Any) -> tuple[int, int]:
        """Return the start and the end of a node in the text."""
        start = self._starts[node.lineno - self.first] + node.col_offset
        return start, self._starts[node.end_lineno - self.first] + node.end_col_offset

    def source(self, node: Any) -> str:
        """Return the node as the author wrote it."""
        return self.piece(self.span(node))

    def lines(self, start: int, end: int) -> tuple[str, int]:
        """Return the whole lines of a piece of text without their indent, and the column of its start in them."""
        before = self.text[:start].rpartition(b"\n")[2].decode()
        after = self.text[end:].partition(b"\n")[0].decode()
        whole = f"{before}{self.piece((start, end))}{after}"
        place = textwrap.dedent(whole)
        indent = len(whole.partition("\n")[0]) - len(place.partition("\n")[0])
        return place, len(before) - indent

    def value(self, text: str, env: Mapping[str, Any]) -> Any:
        """Return the value of an expression of the code. env: its local variables. Raises: what it raises."""
        return eval(_expression(text), {**self.scope, **env})

    def edited(self, changes: Iterable[Change]) -> Code:
        """Return a copy with other pieces of text. Of two insertions in one place, the second comes first."""
        return replace(self, text=self.piece((0, len(self.text)), changes).encode())

    def hooked(self, expr: ast.expr) -> Code:
        """Return a copy in which the hook gives the value of an expression, from the variables there, and from what
        computes it."""
        start, end = self.span(expr)  # an inner function knows the names it reads
        return self.edited([(start, start, f"{HOOK}(locals(), lambda: ("), (end, end, "))")])

    def piece(self, span: tuple[int, int], changes: Iterable[Change] = ()) -> str:
        """Return the text from the start to the end of the span, with other pieces of text there."""
        start, end = span
        text = self.text[:end]
        for first, last, new in sorted(changes, key=itemgetter(0, 1), reverse=True):
            text = text[:first] + new.encode() + text[last:]
        return text[start:].decode()

    def compiled(self, step: Function, hook: Function | None = None) -> Function:
        """Return the runnable function. step: called in each round of a loop, with the local variables; hook: called
        where an edit says so.

        Raises: SyntaxError, ValueError or TypeError if an edit is not valid code.
        """
        scope = {**self.scope, "__builtins__": vars(builtins) | _SILENT, STEP: step, HOOK: hook}
        exec(self._maker, scope)  # compiled in this file, so that no annotations are evaluated, as here
        return scope[_MAKER](self.scope.get("__class__"))

    @cached_property
    def _maker(self) -> CodeType:
        """The compiled code of a function that returns the function."""
        functions = _functions_in(self.text)
        maker: Any = ast.parse(f"def {_MAKER}(__class__): return {functions[0].name}").body[0]
        maker.body = [*functions, *maker.body]
        for node in ast.walk(maker):
            if isinstance(node, ast.For | ast.While):
                node.body[:0] = ast.parse(f"{STEP}(locals())").body
        return compile(ast.Module([maker], []), _FILE, "exec")


def _functions_in(text: bytes) -> list[ast.FunctionDef]:
    """Return the functions of a source, without decorators."""
    body = ast.parse(text).body
    if body and isinstance(body[0], ast.If):
        body = body[0].body
    functions = [each for each in body if isinstance(each, ast.FunctionDef)]
    for each in functions:
        each.decorator_list = []
    return functions


@lru_cache(4096)
def text_of(node: ast.AST) -> str:
    """Return the node's source, as Python unparses it."""
    return ast.unparse(node)


@cache
def names_in(tree: ast.AST) -> list[ast.Name]:
    """Return the names that are read for their numbers, not for their shape."""
    shapes = [n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in ("shape", "size", "ndim")]
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return [name for name in names if name not in shapes]


def depends(one: ast.stmt, other: ast.stmt) -> bool:
    """True if one of the statements changes what the other uses."""
    (changed, used), (others_changed, others_used) = variables_of(one), variables_of(other)
    return bool(changed & others_used or others_changed & used)


@cache
def variables_of(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the variables and attributes that a statement changes, and all that it uses."""
    changed, used = set[str](), set[str]()
    for node in ast.walk(statement):
        base = node
        while isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name | ast.Attribute):
            used.add(text_of(base))
            if isinstance(getattr(node, "ctx", None), ast.Store):
                changed.add(text_of(base))
    return changed, used


def tidied(text: str) -> str:
    """Return the text as Python unparses it, or as it is if it is not whole."""
    try:
        return ast.unparse(ast.parse(text))
    except SyntaxError:
        return text


@lru_cache(4096)
def _expression(text: str) -> CodeType:
    return compile(f"({text})", _FILE, "eval")


def _nothing(*args: Any, **more: Any) -> None:
    """Replaces functions that print, ask or open a file."""


_SILENT = dict.fromkeys(("print", "open", "input", "breakpoint"), _nothing)
