"""The files that are shown: their text, their syntax tree, and the order to read them in."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import npbert
from npbert.files import FileError, read_text

PACKAGE = Path(npbert.__file__).resolve().parent
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

    def part(self, node: ast.AST) -> str:
        """The source of a node as it stands, without its indentation."""
        first, last = first_line(node), getattr(node, "end_lineno", 0)
        lines = self.lines[first - 1 : last]
        indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        return "\n".join(line[indent:] for line in lines)


def first_line(node: ast.AST) -> int:
    """The line that a definition begins in, with its decorators."""
    lines = [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
    return min([getattr(node, "lineno", 1), *lines])


def read_source(path: Path) -> str:
    """The text of a file, with the line ends of Unix: a checkout on Windows may have others. Raises: as read_text."""
    return read_text(path).replace("\r\n", "\n")


def read_package(root: Path) -> list[Source]:
    """Every file of npbert, in the order of `root`'s README; those that it does not name come after, by name."""
    paths = [path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts]
    sources = [Source(f"npbert/{path.relative_to(PACKAGE).as_posix()}", read_source(path)) for path in paths]
    readme = root / "README.md"
    named = reading_order(read_source(readme)) if readme.is_file() else _order_of_names()
    places = {path: place for place, path in enumerate(_all_named(named, sources))}
    places["npbert/__init__.py"] = -1
    return sorted(sources, key=lambda source: (places.get(source.path, len(places)), _by_name(source)))


def reading_order(readme: str) -> dict[str, str]:
    """The rooms in the order of the README's tree, each with the words that stand there."""
    return dict(_ROOM.findall(readme))


def _order_of_names() -> dict[str, str]:
    """The same without a README: the rooms and the files in the order of what npbert makes public."""
    rooms: dict[str, str] = {}
    for name in npbert.__all__:
        home = getattr(getattr(npbert, name), "__module__", "").split(".")
        if len(home) > 2 and home[0] == "npbert":
            rooms[home[1]] = f"{rooms.get(home[1], '')} {' '.join(home[2:])}"
    return rooms


def _all_named(rooms: dict[str, str], sources: list[Source]) -> list[str]:
    """The paths of the files of these rooms: first what the room is, then its files as the text names them."""
    paths: list[str] = []
    for room, text in rooms.items():
        own = [source for source in sources if f"{source.room}/".startswith(f"{room}/")]
        paths += sorted((source.path for source in own), key=partial(_place, text=text))
        paths += [source.path for source in sources if source.path == f"npbert/{room}.py"]
    return paths


def _place(path: str, text: str) -> tuple[int, int, str]:
    """Where the text of a room names a file: those of a folder in it stand where the folder does.

    A name that is also a word of the text is named last.
    """
    *folders, name = path.removesuffix(".py").split("/")[2:] or [""]
    begin = text.find(f"{folders[0]}/") if folders else 0
    if begin < 0:
        begin = len(text)
    following = re.compile(r"\b\w+/").search(text, begin + 1 + len(folders[0]) + 1 if folders else 0)
    part = text[begin : following.start() if following else len(text)]
    if name == "__init__":
        return begin, -1, ""
    found = [match.start() for match in re.finditer(rf"\b{name}\b", part)]
    return (begin, found[-1] if found else len(part), name)


def _by_name(source: Source) -> tuple[str, bool, str]:
    return (source.room, source.stem != "__init__", source.stem)
