"""The files that are shown: their text, the order to read them in, and the names that their statements give."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path

import npbert
from npbert.io.files import FileError, read_text

PACKAGE = Path(npbert.__file__).resolve().parent
Function = ast.FunctionDef | ast.AsyncFunctionDef
_ROOM = re.compile(r"^[├└]── (\w+)(?:/|\.py)(.*?)(?=^[├└`]|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A Python file.

    path: where it stands in the repository, as npbert/layers/linear.py.   text: all of it.
    """

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax. Raises: FileError that names file and line where it is no Python."""
        try:
            return ast.parse(self.text)
        except SyntaxError as error:
            raise FileError(f"{self.path}, line {error.lineno}: no Python: {error.msg}") from error

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, without their ends."""
        return self.text.split("\n")

    @property
    def module(self) -> str:
        """The name that it is imported by."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def room(self) -> str:
        """The folder of npbert that it is in, with those above: `models/hugging_face`, or "" for npbert itself."""
        return "/".join(self.path.split("/")[1:-1])

    @property
    def stem(self) -> str:
        """The name of the file without .py."""
        return self.path.rpartition("/")[2].removesuffix(".py")

    @property
    def page(self) -> str:
        """The path of its page in the site."""
        return f"{self.path.removesuffix('.py')}.html"

    @property
    def summary(self) -> str:
        """The first paragraph of its docstring, on one line."""
        return " ".join((ast.get_docstring(self.tree) or "").partition("\n\n")[0].split())

    def column(self, line: int, byte: int) -> int:
        """The column in characters of a column in bytes, as a syntax tree counts."""
        return len(self.lines[line - 1].encode()[:byte].decode(errors="replace"))

    def part(self, node: ast.AST) -> str:
        """The source of a node as it stands, without its indentation."""
        first, last = first_line(node), getattr(node, "end_lineno", 0)
        lines = self.lines[first - 1 : last]
        indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        return "\n".join(line[indent:] for line in lines)


def first_sentence(text: str) -> str:
    """The first sentence of a text, on one line."""
    return re.split(r"(?<=[.!?]) ", " ".join(text.partition("\n\n")[0].split()))[0]


def first_line(node: ast.AST) -> int:
    """The line that a definition begins in, with its decorators."""
    lines = [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
    return min([getattr(node, "lineno", 1), *lines])


def read_source(path: Path) -> str:
    """The text of a file, with the line ends of Unix: a checkout on Windows may have others. Raises: as read_text."""
    return read_text(path).replace("\r\n", "\n")


def read_package(root: Path) -> list[Source]:
    """Every file of npbert, in the order of `root`'s README; those that it does not name come after, by name."""
    wheels = PACKAGE / "demo.py"  # the program at the top of the repository, which a wheel has inside
    paths = [path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts and path != wheels]
    sources = [Source(f"npbert/{path.relative_to(PACKAGE).as_posix()}", read_source(path)) for path in paths]
    readme = root / "README.md"
    rooms = dict(_ROOM.findall(read_source(readme))) if readme.is_file() else _order_of_names()
    return sorted(sources, key=partial(_place, rooms=rooms))


def _order_of_names() -> dict[str, str]:
    """The same without a README: the rooms and the files in the order of what npbert makes public."""
    rooms: dict[str, str] = {}
    for name in npbert.__all__:
        home = getattr(getattr(npbert, name), "__module__", "").split(".")
        if len(home) > 2 and home[0] == "npbert":
            rooms[home[1]] = f"{rooms.get(home[1], '')} {' '.join(home[2:])}"
    return rooms


def _place(source: Source, rooms: dict[str, str]) -> tuple[object, ...]:
    """The place of a file in the reading order. rooms: in order, each with the words that name its files.

    The files of a folder in a room stand where the words name the folder. A name that is also a word is named last.
    """
    room, *folders, name = f"{source.room or source.stem}/{source.stem}".split("/")
    order, text = ["__init__", *rooms], rooms.get(room, "")
    begin = text.find(f"{folders[0]}/") if folders else 0
    if begin < 0:
        begin = len(text)
    following = re.compile(r"\b\w+/").search(text, begin + len(folders[0]) + 2 if folders else 0)
    part = text[begin : following.start() if following else len(text)]
    named = [-1] if name == "__init__" else [match.start() for match in re.finditer(rf"\b{name}\b", part)]
    in_part = named[-1] if named else len(part)
    return order.index(room) if room in order else len(order), begin, source.room, in_part, name


def statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside a node, the outermost first; ast.walk would go through all expressions, too."""
    found = [node]
    while found:
        found = [inner for each in found for part in _PARTS for inner in getattr(each, part, ())]
        yield from found


_PARTS = ("body", "handlers", "cases", "orelse", "finalbody")


def defined_in(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """(name, node) of what these statements define, and the attributes that methods set on `self`."""
    for node in body:
        if isinstance(node, ast.ClassDef | Function):
            yield f"{prefix}{node.name}", node
        if isinstance(node, ast.ClassDef):
            yield from defined_in(node.body, f"{prefix}{node.name}.")
            for method in node.body:
                yield from _set_on_self(method, f"{prefix}{node.name}.") if isinstance(method, Function) else ()
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from defined_in(node.body, prefix)
        else:
            yield from ((f"{prefix}{target.id}", node) for target in _targets(node) if isinstance(target, ast.Name))


def _set_on_self(method: Function, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    for node in statements_in(method):
        for target in _targets(node):
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield f"{prefix}{target.attr}", node


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a statement gives a value to."""
    given = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in given:
        yield from target.elts if isinstance(target, ast.Tuple) else [target]


def imported_in(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """(name here, module, name there) of each import of ours; the last is "" for a module."""
    for node in statements_in(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name, "") if alias.asname else (first, first, "")


def arguments(function: Function) -> list[ast.arg]:
    """The arguments of a function, but for * and **."""
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


@cache
def assignments(function: Function) -> list[ast.Assign]:
    """The assignments anywhere in a function. They are looked at again for each name in it, so they are found once."""
    return [node for node in statements_in(function) if isinstance(node, ast.Assign)]


def last_assigned(function: Function, name: ast.Name) -> ast.expr | None:
    """The value that a local variable was given last, above where it is used."""
    values = [
        node.value
        for node in assignments(function)
        if node.lineno < name.lineno
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == name.id
    ]
    return values[-1] if values else None
