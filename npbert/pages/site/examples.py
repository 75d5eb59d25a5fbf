"""Examples of the public names: the blocks of Python in the chapters, which the tests run as they stand there."""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from npbert.pages.site.chapters import anchor_of
from npbert.pages.site.library import Chapter, Library
from npbert.pages.site.sources import imported_in

_PART = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```|^#+ ([^\n]*)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class CodeExample:
    """A block of code. title: of its chapter. address: the heading that it stands below. names: of npbert, in it."""

    code: str
    title: str
    address: str
    names: frozenset[str]


def examples_in(library: Library) -> list[CodeExample]:
    """All of them, in the order of the chapters."""
    return [example for chapter in library.chapters for example in _in_chapter(chapter)]


def _in_chapter(chapter: Chapter) -> Iterator[CodeExample]:
    anchors: set[str] = set()
    known: set[str] = set()  # what blocks above have imported can be used below
    for kind, file, content, heading in _PART.findall(chapter.text):
        if heading:
            anchor = anchor_of(heading, anchors)
        elif kind == "python" and not file.endswith(".py"):
            code = textwrap.dedent(content.rstrip("\n"))
            tree = ast.parse(code)
            known |= {name for name, module, _ in imported_in(tree) if module.startswith("npbert")}
            yield CodeExample(code, chapter.title, f"{chapter.page}#{anchor}", frozenset(_used(tree, known)))


def _used(tree: ast.Module, known: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in known:
            yield node.id
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value).partition(".")[0] == "npbert":
            yield node.attr


def example_of(name: str, examples: list[CodeExample]) -> CodeExample | None:
    """The best of those that use a name: one that begins with imports, and so can be run alone, and is short."""
    named = [example for example in examples if name in example.names]
    return min(named, key=lambda each: (not each.code.startswith(("import ", "from ")), len(each.code)), default=None)
