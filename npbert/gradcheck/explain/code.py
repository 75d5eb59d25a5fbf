"""Code: the author's function as a syntax tree, with edited copies that run."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import textwrap
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

HOOK, STEP = "__hook__", "__step__"
_FILE, _MAKER = "<edited>", "__maker__"

Replacement = ast.AST | list[ast.stmt] | Callable[[Any], Any]
Scope = Mapping[str, Any]


def filled(template: str, **parts: ast.AST) -> Any:
    """Return the template's expression or statement with nodes for its names: filled("a @ b", a=…, b=…)."""

    def made(node: Any) -> Any:
        if isinstance(node, list):
            return [made(each) for each in node]
        if not isinstance(node, ast.AST) or isinstance(node, ast.expr_context):
            return node
        if not isinstance(node, ast.Name) or node.id not in parts:
            fields = {name: made(value) for name, value in ast.iter_fields(node)}
            return ast.copy_location(type(node)(**fields), node)
        part: Any = parts[node.id]
        if type(getattr(part, "ctx", node.ctx)) is not type(node.ctx):  # a Store here, a Load there
            part = copy.copy(part)
            part.ctx = node.ctx
        return part

    return made(parsed(template))


@functools.lru_cache(4096)
def parsed(template: str) -> Any:
    """Return the expression or statement of a text."""
    statement = ast.parse(template.strip()).body[0]
    return statement.value if isinstance(statement, ast.Expr) else statement


def replaced(node: Any, changes: Mapping[int, Replacement], above: Container[int] | None = None) -> Any:
    """Return a copy of the tree with the nodes of these ids replaced. It shares unchanged nodes.

    changes: the new node, or a function from the node (with inner nodes replaced) to the new one. above: the ids of
    these nodes and their ancestors, if known.
    """
    if isinstance(node, list):
        twins = [replaced(each, changes, above) for each in node]
        if all(twin is each for twin, each in zip(twins, node, strict=True)):
            return node
        return [each for twin in twins for each in (twin if isinstance(twin, list) else [twin])] or [ast.Pass()]
    if not isinstance(node, ast.AST) or not (above is None or id(node) in above):
        return node
    change = changes.get(id(node))
    if change is not None and not callable(change):
        return change
    fields = {name: replaced(value, changes, above) for name, value in ast.iter_fields(node)}
    if any(fields[name] is not value for name, value in ast.iter_fields(node)):
        node = ast.copy_location(type(node)(**fields), node)
    return change(node) if callable(change) else node


@dataclass(frozen=True)
class Code:
    """A function or method; other functions in its source are its helpers.

    source: whole lines of the author's file   first: the number of the first line
    scope: the values of its names, with "__class__" for a method with super()
    tree: a module of functions; original: the same before any edit
    leaves_functions: its inner functions may be what is wrong, as an engine's operation leaves them for backward
    """

    source: str
    first: int
    scope: Scope
    tree: ast.Module
    original: ast.Module
    leaves_functions: bool = False

    @classmethod
    def parsed(cls, source: str, scope: Scope, first: int = 1) -> Code:
        """Return the Code of a source. Raises: SyntaxError."""
        is_indented = source[:1].isspace()
        tree = ast.parse(f"if 1:\n{source}" if is_indented else source)
        if is_indented and isinstance(tree.body[0], ast.If):
            tree = ast.Module(tree.body[0].body, [])
        ast.increment_lineno(tree, first - 1 - is_indented)
        tree = ast.Module([each for each in tree.body if isinstance(each, ast.FunctionDef)], [])
        if not tree.body:
            raise ValueError("there is no function in the source")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list, node.returns = [], None
            elif isinstance(node, ast.arg):
                node.annotation = None
            elif isinstance(node, ast.For | ast.While):
                node.body.insert(0, ast.copy_location(ast.Expr(parsed(f"{STEP}()")), node))
        return cls(source, first, scope, tree, tree)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Code:
        """Return the Code of a function. Raises: OSError or TypeError if it has no source file."""
        function = inspect.unwrap(function)
        lines, first = inspect.getsourcelines(function)
        closed = inspect.getclosurevars(function).nonlocals
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if "__class__" in cells:
            closed = {**closed, "__class__": cells["__class__"].cell_contents}
        return cls.parsed("".join(lines), {**function.__globals__, **closed}, first)

    @property
    def entry(self) -> ast.FunctionDef:
        """The called function: the first."""
        function = self.tree.body[0]
        assert isinstance(function, ast.FunctionDef)
        return function

    def edited(self, changes: Mapping[int, Replacement]) -> Code:
        """Return a copy with these nodes replaced."""
        above, waiting = set(changes), list(changes)
        while waiting:
            holders = self._holders.get(waiting.pop(), set()) - above
            above |= holders
            waiting += holders
        return replace(self, tree=replaced(self.tree, changes, above))

    @functools.cached_property
    def _holders(self) -> dict[int, set[int]]:
        """The id of each node's parents, by its own id."""
        found: dict[int, set[int]] = {}
        for holder in ast.walk(self.tree):
            for node in ast.iter_child_nodes(holder):
                found.setdefault(id(node), set()).add(id(holder))
        return found

    def compiled(self, step: Callable[[], bool], hook: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Return the runnable function. step: called in each round of a loop; hook: see places.py.

        Raises: SyntaxError, ValueError or TypeError if an edit is not valid code.
        """
        maker: Any = filled(f"def {_MAKER}(__class__): return {self.entry.name}")
        module = ast.Module([ast.fix_missing_locations(maker)], [])
        maker.body = [*self.tree.body, *maker.body]
        scope = {**self.scope, "__builtins__": _BUILTINS, STEP: step, HOOK: hook}
        try:
            code = compile(module, _FILE, "exec")
        except TypeError:  # an edit has no line number yet
            code = compile(ast.fix_missing_locations(module), _FILE, "exec")
        exec(code, scope)
        function: Callable[..., Any] = scope[_MAKER](self.scope.get("__class__"))
        return function

    def standing(self, node: Any) -> tuple[str, str, int]:
        """Return the author's lines of a node, its source, and its place in these lines."""
        lines = self.source.splitlines()[node.lineno - self.first : node.end_lineno - self.first + 1]
        text = textwrap.dedent("\n".join(lines))
        left_out = len(lines[0]) - len(text.partition("\n")[0])
        column = len(lines[0].encode()[: node.col_offset].decode()) - left_out
        piece = ast.get_source_segment("\n" * (self.first - 1) + self.source, node)
        return text, piece or text_of(node), column

    def is_original(self, node: ast.AST) -> bool:
        """True if the author wrote it, not an edit."""
        return any(node is each for each in ast.walk(self.original))


def text_of(node: ast.AST) -> str:
    """Return the node's source, as Python unparses it."""
    node = node if isinstance(node, ast.expr) else ast.fix_missing_locations(node)
    return ast.unparse(node)


def _nothing(*args: Any, **more: Any) -> None:
    """Replaces functions that print, ask or open a file."""


_BUILTINS = {**vars(builtins), **dict.fromkeys(("print", "open", "input", "breakpoint"), _nothing)}
