"""The things that the pages speak of: files, names, chapters and exercises, and how to link to them."""

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

from npbert.io.files import FileError
from npbert.learn.exercises import EXERCISES
from npbert.pages.site.definitions import Definition, Definitions
from npbert.pages.site.sources import Source, first_sentence, read_package, read_source

_LINKED = re.compile(r"\]\(((?!\.\./npbert/)[\w./]+\.py)\)")


@dataclass(frozen=True)
class Chapter:
    """A page of docs/. number: of a chapter; 0 for another page. path: in the repository. text: its Markdown.

    about: what docs/README.md says of it, or else its first sentence.
    """

    number: int
    title: str
    path: str
    text: str
    about: str

    @property
    def page(self) -> str:
        """The path of its page in the site."""
        return f"{self.path.removesuffix('.md')}.html"


class Library:
    """All that there is to show of npbert and of the folder `root` that it is in: its chapters and other files.

    Where npbert is installed without them, there are none.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.chapters = read_chapters(root / "docs")
        found = [path for chapter in self.chapters for path in _LINKED.findall(chapter.text)]
        linked = sorted({posixpath.normpath(f"docs/{path}") for path in found})
        beside = [Source(path, read_source(root / path)) for path in linked if (root / path).is_file()]
        self.sources = [*read_package(root), *beside]
        self.definitions = Definitions(self.sources)
        self.by_path = {source.path: source for source in self.sources}
        self.exercises = EXERCISES

    def chapter(self, number: int) -> Chapter | None:
        """The chapter of this number."""
        return next((chapter for chapter in self.chapters if chapter.number == number != 0), None)

    def chapters_about(self, source: Source) -> list[Chapter]:
        """The chapters that name a file at their beginning, as what stands beside them."""
        beside = {chapter: chapter.text.partition("\n\n")[2].partition("\n\n")[0] for chapter in self.chapters}
        return [chapter for chapter, text in beside.items() if f"](../{source.path})" in text]

    def mentioned(self, words: str, source: Source, owner: Definition | None) -> Definition | None:
        """The class, function or module that a name in a docstring of this file (of this class) means."""
        if words.startswith("npbert."):
            return self.definitions.find("npbert", words.removeprefix("npbert."))
        found = self.definitions.member(owner, words) if owner else None
        found = found or self.definitions.find(source.module, words)
        first, _, rest = words.partition(".")
        named = [each for each in self.definitions.by_name.get(first, []) if each.source.path.startswith("npbert/")]
        if found is None and first[:1].isupper() and len(named) == 1:
            found = self.definitions.member(named[0], rest) if rest else named[0]
        return found

    def file_called(self, name: str, source: Source) -> Source | None:
        """The file that a text of another file calls by its name: in the same room, or the only one, or the first."""
        same = [each for each in self.sources if each.path.rpartition("/")[2] == name]
        return next((each for each in same if each.room == source.room), same[0] if same else None)


def relative(page: str, address: str) -> str:
    """The link from a page to an address, a page with perhaps an anchor."""
    path, hash_sign, anchor = address.partition("#")
    if path == page and anchor:
        return f"#{anchor}"
    return posixpath.relpath(path, posixpath.dirname(page) or ".") + hash_sign + anchor


def read_chapters(docs: Path) -> list[Chapter]:
    """In the order in which docs/README.md lists them, after docs/README.md itself.

    Raises: FileError for one that is not there.
    """
    if not (docs / "README.md").is_file():
        return []
    first = read_source(docs / "README.md")
    names = list(dict.fromkeys(re.findall(r"\]\(([\w-]+\.md)\)", first)))
    missing = [name for name in names if not (docs / name).is_file()]
    if missing:
        raise FileError(f"{docs / 'README.md'} links to {missing[0]}, which is not there")
    said = dict(re.findall(r"\]\(([\w-]+\.md)\):\s*((?:[^\n]+\n?)+?)(?=\d+\. |\n|\Z)", first))
    chapters = []
    for name in ("README.md", *names):
        text = read_source(docs / name)
        title = text.partition("\n")[0].removeprefix("# ")
        number = re.match(r"(\d+)\. ", title)
        about = " ".join(said.get(name, "").split()) or first_sentence(text.partition("\n\n")[2])
        about = about[:1].upper() + about[1:]
        chapters.append(Chapter(int(number[1]) if number else 0, title, f"docs/{name}", text, about))
    return chapters
