"""The names in a file: where each leads, and what shape it has, as docstrings and comments beside the code declare."""

import ast
import re
from dataclasses import dataclass
from functools import cache

from npbert.pages.site.definitions import Definition, Definitions, Scope
from npbert.pages.site.sources import Function, Source, assignments

Shapes = dict[str, str]
"""By variable, its shape: "(N, D)"."""

_GREEK = {"x̂": "x_hat", "σ": "sigma", "μ": "mu", "γ": "gamma", "β": "beta", "W₁": "w1", "W₂": "w2"}
_SIZE = r"(?:…|\.\.\.|n|d|[A-Z]|\d+|[A-Z] [·/] [A-Z]|\d ?· ?[A-Z]|R or T|heads)"
_DIMS = rf"\({_SIZE}(?:, ?{_SIZE})*,?\)"
_WORD = "[^\\W\\d_][\\w\N{COMBINING CIRCUMFLEX ACCENT}′]*"
_DECLARED = re.compile(rf"((?:{_WORD})(?: {_WORD})?(?:, {_WORD})*(?: and {_WORD})?)[:]? ({_DIMS})")
_IN_COMMENT = re.compile(rf".*  #.*?({_DIMS})")

Place = tuple[int, int]
"""Line, from 1, and column, from 0."""


@dataclass(frozen=True)
class Name:
    """A name at one place.

    address: page and anchor of its definition. shape: as "(N, D)", or "". local: whether it is a local variable.
    """

    address: str
    shape: str = ""
    local: bool = False


def names_in(source: Source, definitions: Definitions) -> dict[Place, Name]:
    """Every name of a file that leads somewhere, by its place."""
    finder = _Finder(source, definitions)
    finder.visit(source.tree)
    return finder.found


class _Finder(ast.NodeVisitor):
    """Walks through a file, and knows the class and the function that it is in."""

    def __init__(self, source: Source, definitions: Definitions) -> None:
        self.source, self.definitions = source, definitions
        self.found: dict[Place, Name] = {}
        self.owner: Definition | None = None
        self.function: Function | None = None
        self.shapes: Shapes = {}
        self.locals: dict[str, int] = {}

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        before = self.owner
        if self.function is None:
            self.owner = self.definitions.find(self.source.module, node.name)
        self.generic_visit(node)
        self.owner = before

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if self.function is not None:
            self.generic_visit(node)
            return
        self.function, self.locals = node, _locals_of(node)
        owner = self.owner.node if self.owner and isinstance(self.owner.node, ast.ClassDef) else None
        self.shapes = shapes_of(self.source, owner, node)
        self.generic_visit(node)
        self.function, self.locals, self.shapes = None, {}, {}

    def visit_arg(self, node: ast.arg) -> None:
        self.generic_visit(node)
        self._local(node, node.arg)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.locals:
            self._local(node, node.id)
        else:
            self._add(node.lineno, node.col_offset, node.id, self.definitions.find(self.source.module, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        found = self.definitions.meant(node, Scope(self.source.module, self.owner, self.function))
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        has_shape = is_own and not (found and isinstance(found.node, Function))
        shape = shape_of(node.attr, self.shapes) if has_shape else ""
        column = (node.end_col_offset or 0) - len(node.attr.encode())
        self._add(node.end_lineno or node.lineno, column, node.attr, found, shape)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            found = self.definitions.find(self.source.module, alias.asname or alias.name)
            self._add(alias.lineno, alias.col_offset, alias.name, found)
        module = self.definitions.sources.get(node.module or "")
        if module:
            line = self.source.lines[node.lineno - 1]
            last = module.module.rpartition(".")[2]
            column = line.find(f" {node.module} ") + 1 + len(module.module) - len(last)
            self._add(node.lineno, column, last, Definition(module, "", module.tree))

    def _local(self, node: ast.expr | ast.arg, name: str) -> None:
        if name in self.locals and name not in ("self", "cls"):
            address = f"{self.source.page}#L{self.locals[name]}"
            self._put(node.lineno, node.col_offset, name, Name(address, shape_of(name, self.shapes), local=True))

    def _add(self, line: int, column: int, name: str, found: Definition | None, shape: str = "") -> None:
        if found:
            self._put(line, column, name, Name(found.address, shape))

    def _put(self, line: int, column: int, text: str, name: Name) -> None:
        """(In f-strings of Python 3.11 the columns of a syntax tree are not to be trusted.)"""
        column = self.source.column(line, column)
        if self.source.lines[line - 1].startswith(text, column):
            self.found[line, column] = name


def _locals_of(function: Function) -> dict[str, int]:
    """The variables of a function and the functions in it, each with the line in which it is first given a value."""
    nodes = list(ast.walk(function))
    given = [(node.lineno, node.arg) for node in nodes if isinstance(node, ast.arg)]
    given += [
        (node.lineno, node.id) for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    given += [(node.lineno, node.name) for node in nodes if isinstance(node, Function) and node is not function]
    return {name: line for line, name in sorted(given, reverse=True)}


def declared(text: str) -> Shapes:
    """The shapes that a text declares, variable by variable: "x (N, I)   weight W (I, O)" or "k, v (N, D)"."""
    found: Shapes = {}
    for names, dims in _DECLARED.findall(text):
        for name in re.findall(_WORD, names):
            found.setdefault(name, dims)
            if name in _GREEK:
                found.setdefault(_GREEK[name], dims)
    for name in [name for name in found if len(name) == 1]:  # the papers' capitals are small letters in code
        found.setdefault(name.lower(), found[name])
    return found


def commented(source: Source, function: Function) -> Shapes:
    """The shapes in the comments behind assignments: `mu = …  # (N, 1)`."""
    found: Shapes = {}
    for node in assignments(function):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            line = source.lines[(node.end_lineno or node.lineno) - 1]
            if comment := _IN_COMMENT.match(line):
                found.setdefault(node.targets[0].id, comment[1])
    return found


def shapes_of(source: Source, owner: ast.ClassDef | None, function: Function) -> Shapes:
    """The shapes of the variables of a function: what is nearest has the last word.

    Near is what its own docstring and comments say, then those of the function that it is the backward of, then the
    docstring of its class, then the class's other methods. A gradient, dx, has the shape of x.
    """
    texts = [_both(source, function)]
    around = owner.body if owner else source.tree.body
    functions = [node for node in around if isinstance(node, Function) and node is not function]
    undone = function.name.removesuffix("_backward")
    texts += [_both(source, node) for node in functions if node.name == undone != function.name]
    if owner:
        texts.append(declared(ast.get_docstring(owner) or ""))
        texts += [_both(source, node) for node in functions if not node.name.endswith("_backward")]
    found: Shapes = {}
    for text in reversed(texts):
        found |= text
    return found


def shape_of(name: str, shapes: Shapes) -> str:
    """The shape of a variable, "" where nobody says it."""
    if name in shapes:
        return shapes[name]
    if name.startswith("d") and len(name) > 1:
        return shape_of(name[1:], shapes)
    return ""


@cache
def _both(source: Source, function: Function) -> Shapes:
    return {**declared(ast.get_docstring(function) or ""), **commented(source, function)}
