"""The chapters of docs/ as pages: Markdown with formulas, code, and links to the source of this site."""

import posixpath
import re
import textwrap
from collections.abc import Mapping
from typing import Any

import npbert
from npbert.io.extras import import_extra
from npbert.io.files import FileError
from npbert.pages.html import escape
from npbert.pages.site.library import Chapter, Library, relative
from npbert.pages.site.names import Name, Place
from npbert.pages.site.number import NUMBER_PAGE
from npbert.pages.site.rendering import Page, diff_html, highlighted

_OF_NUMBER_PAGE = re.compile(r"docs/pictures/page\w*\.png")
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def chapter_page(library: Library, chapter: Chapter) -> Page:
    """The page of a chapter.

    Raises: FileError for a link that leads nowhere; MissingExtraError without markdown-it-py.
    """
    return Page(chapter.page, chapter.title, "chapter", _Renderer(library, chapter).html(), chapter.about)


class _Renderer:
    """One chapter, with the rules of its own for what markdown-it would show otherwise."""

    def __init__(self, library: Library, chapter: Chapter) -> None:
        self.library, self.chapter = library, chapter
        self.headings: set[str] = set()
        self._open: list[str] = []
        markdown = import_extra("markdown_it", extra="site").MarkdownIt("commonmark", {"html": False}).enable("table")
        for kind in ("fence", "code_block", "code_inline", "link_open", "link_close", "image", "heading_open"):
            markdown.add_render_rule(kind, _rule(getattr(self, f"_{kind}")))
        self.markdown = markdown

    def html(self) -> str:
        tokens = self.markdown.parse(self.chapter.text)
        for token in tokens:
            for child in token.children or []:  # what is inside a line knows its block's lines alone
                child.map = token.map
        return f"<article>{self.markdown.renderer.render(tokens, self.markdown.options, {})}</article>"

    def _fence(self, token: Any, tokens: list[Any], index: int) -> str:
        kind, _, file = token.info.strip().partition(" ")
        text = textwrap.dedent(token.content.rstrip("\n")) if kind == "python" else token.content.rstrip("\n")
        if kind == "diff":
            code = diff_html((line[:1] if line[:1] in "+-" else " ", line[1:]) for line in text.split("\n"))
        elif kind == "python":
            names = {} if file.endswith(".py") else public_names_in(text, self.library)
            code = "\n".join(highlighted(text, self._to, names))
            code = f'<pre class="python" translate="no">{code}</pre>'
        else:
            code = f'<pre class="{"output" if kind == "text" else "plain"}" translate="no">{escape(text)}</pre>'
        return self._figure(file, code, text, kind, token) if file.endswith(".py") else code

    def _figure(self, file: str, code: str, text: str, kind: str, token: Any) -> str:
        """A block from a file, under a link to it: to its first line, if that is where it was taken from."""
        source = self.library.by_path.get(file)
        if source is None:
            raise self._broken(token, f"there is no file {file}")
        first = text.strip().partition("\n")[0].strip()
        lines = [number for number, line in enumerate(source.lines, 1) if line.strip() == first]
        address = f"{source.page}#L{lines[0]}" if len(lines) == 1 else source.page
        before = "change to try in " if kind == "diff" else ""
        return f"<figure><figcaption>{before}{self._link(address, escape(file))}</figcaption>{code}</figure>"

    def _code_block(self, token: Any, tokens: list[Any], index: int) -> str:
        """A formula, which stands indented."""
        lines = [re.split(r" {3,}", line.strip()) for line in token.content.strip("\n").split("\n")]
        if all(lines) and not any(line.startswith(" ") for line in token.content.split("\n")):
            rows = "".join(
                f'<span class="row">{"".join(f"<span>{escape(part)}</span>" for part in row)}</span>' for row in lines
            )
            return f'<p class="formula">{rows}</p>'
        return f'<pre class="aligned">{escape(token.content)}</pre>'

    def _code_inline(self, token: Any, tokens: list[Any], index: int) -> str:
        code = f"<code>{escape(token.content)}</code>"
        name = token.content.removeprefix("npbert.")
        public = name in npbert.__all__ and not any(each.type == "link_open" for each in tokens[:index][-1:])
        found = self.library.definitions.find("npbert", name) if public else None
        return self._link(found.address, code) if found else code

    def _link_open(self, token: Any, tokens: list[Any], index: int) -> str:
        href = str(token.attrs.get("href", ""))
        is_notebook = href.endswith(".ipynb") and (self.library.root / "docs" / href).is_file()
        if _OUTSIDE.match(href) or href.startswith("//") or is_notebook:
            self._open.append("</span>")
            return f'<span class="outside" title="{escape(href)}">'
        self._open.append("</a>")
        return f'<a href="{escape(self._to(self._address(href, token)))}">'

    def _link_close(self, token: Any, tokens: list[Any], index: int) -> str:
        return self._open.pop()

    def _address(self, href: str, token: Any) -> str:
        """The page in the site of a file that a chapter links to."""
        path, _, anchor = href.partition("#")
        file = posixpath.normpath(posixpath.join("docs", path)) if path else self.chapter.path
        pages = {each.path: each.page for each in self.library.chapters}
        pages |= {each.path: each.page for each in self.library.sources}
        page = "index.html" if file == "README.md" else pages.get(file)
        if page is None:
            raise self._broken(token, f"there is no page for {href}")
        return f"{page}#{anchor}" if anchor else page

    def _image(self, token: Any, tokens: list[Any], index: int) -> str:
        path = posixpath.normpath(posixpath.join("docs", str(token.attrs.get("src", ""))))
        if not (self.library.root / path).is_file() or path.startswith(".."):
            raise self._broken(token, f"there is no picture {path}")
        image = f'<img src="{escape(self._to(path))}" alt="{escape(token.content)}">'
        caption = "<small>Try it: follow one number back.</small>"
        return self._link(NUMBER_PAGE, image + caption) if _OF_NUMBER_PAGE.fullmatch(path) else image

    def _heading_open(self, token: Any, tokens: list[Any], index: int) -> str:
        return f'<{token.tag} id="{escape(anchor_of(tokens[index + 1].content, self.headings))}">'

    def _to(self, address: str) -> str:
        return relative(self.chapter.page, address)

    def _link(self, address: str, html: str) -> str:
        return f'<a href="{escape(self._to(address))}">{html}</a>'

    def _broken(self, token: Any, why: str) -> FileError:
        line = f", line {token.map[0] + 1}" if token.map else ""
        return FileError(f"{self.chapter.path}{line}: {why}")


def anchor_of(heading: str, known: set[str]) -> str:
    """The name of a heading's place, another one than the places that are known, to which it is added."""
    anchor = re.sub(r"[^\w-]+", "-", heading.lower()).strip("-") or "part"
    while anchor in known:
        anchor += "-"
    known.add(anchor)
    return anchor


def _rule(method: Any) -> Any:
    """A method of ours, as markdown-it calls it."""
    return lambda _renderer, tokens, index, _options, _env: method(tokens[index], tokens, index)


def pictures_of(library: Library) -> dict[str, bytes]:
    """Every picture of the chapters, by its path in the site."""
    folder = library.root / "docs" / "pictures"
    paths = [*sorted(folder.glob("*.svg")), *sorted(folder.glob("*.png"))]
    return {f"docs/pictures/{path.name}": path.read_bytes() for path in paths}


def public_names_in(text: str, library: Library) -> Mapping[Place, Name]:
    """The names of npbert in an example, by their places."""
    found = {}
    for number, line in enumerate(text.split("\n"), 1):
        for word in re.finditer(r"(?<![\w.])\w+", line):
            definition = library.definitions.find("npbert", word[0]) if word[0] in npbert.__all__ else None
            if definition:
                found[number, word.start()] = Name(definition.address)
    return found
