"""Docstrings as HTML: formulas, shapes, paragraphs, tables, and links to what they name."""

import ast
import inspect
import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

from npbert.io.files import FileError
from npbert.pages.html import escape
from npbert.pages.site.definitions import Definition
from npbert.pages.site.library import Library, relative
from npbert.pages.site.names import declared
from npbert.pages.site.sources import Function, Source

_FORMULA = re.compile(r"[^\s:.`]{1,24}(?: [^\s:.`]{1,3}){0,2} = \S")
_TERM = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*(?: and [a-z_]\w*)?): ")
_ITEM = re.compile(r"\S(?:(?![.)]\s[a-z_]\w*(?:, [a-z_]\w*)*: ).)*[.)]?", re.DOTALL)  # to where another begins
_SHAPE = re.compile(r"((?:[^\W\d_]\S*,? ){1,4}\([^()]{1,12}\)(?:, or \([^()]{1,12}\))?)[:,]? ?(.*)", re.DOTALL)
_LINK = re.compile(
    r"`(?P<code>[^`]+)`|[Cc]hapters? (?P<chapters>\d+(?: and \d+)?) of docs/"
    r"|[Ee]xercise (?P<exercise>\d+)|(?<![\w/`])(?P<file>[a-z]\w*\.py)\b"
)
_LONGEST_FORMULA = 40
"""A cell of a table with more letters is words, which may go on in another line."""


class Texts:
    """The docstrings of one file, as HTML for one page. Raises: FileError for a link that leads nowhere."""

    def __init__(self, library: Library, source: Source, page: str) -> None:
        self.library, self.source, self.page = library, source, page

    def docstring(self, node: ast.AST, owner: Definition | None = None) -> str:
        """The docstring of a module, a class or a function, "" where there is none."""
        return "\n".join(filter(None, self.first_and_rest(node, owner)))

    def first_and_rest(self, node: ast.AST, owner: Definition | None = None) -> tuple[str, str]:
        """The docstring in two: its first paragraph, of a layer or a derivative a formula, and the others."""
        if not isinstance(node, ast.Module | ast.ClassDef | Function) or not (text := ast.get_docstring(node)):
            return "", ""
        first, _, rest = text.partition("\n\n")
        line = node.body[0].lineno
        return self.html(first, line, owner, first=True), self.html(rest, line + first.count("\n") + 2, owner)

    def html(self, text: str, line: int, owner: Definition | None = None, *, first: bool = False) -> str:
        """A text that begins in a line. first: whether it is the beginning, where a formula may stand, but no terms."""
        paragraphs: list[str] = []
        for part in re.split(r"(\n\s*\n)", text):  # what parts the paragraphs, too, so that lines can be counted
            if part.strip():
                paragraphs.append(self._paragraph(part, line, owner, first=first and not paragraphs))
            line += part.count("\n")
        return "\n".join(paragraphs)

    def _paragraph(self, text: str, line: int, owner: Definition | None, *, first: bool) -> str:
        lines = text.strip("\n").split("\n")
        if all(each.startswith("    ") for each in lines):
            return table(lines, escape) or f'<pre class="aligned">{escape(inspect.cleandoc(text))}</pre>'
        if lines[0].startswith("- "):
            return self._list(text, line, owner)
        if first and _FORMULA.match(text):
            return self._formula(text, line, owner)
        if _is_shapes(lines[0]) or (_TERM.match(text) and not first):
            return self._terms(lines, line, owner)
        kind = ' class="raises"' if text.startswith("Raises:") else ""
        return f"<p{kind}>{self.inline(text, line, owner)}</p>"

    def _formula(self, text: str, line: int, owner: Definition | None) -> str:
        """Formulas, which two spaces keep apart, and what is said behind a colon."""
        formula, colon, rest = text.partition(": ")
        parts = re.split(r"(?<=\S)(?<!with)(?<!and) {2,}|(?<=,)\n", formula.rstrip("." if not colon else ""))
        formulas = "".join(f"<span>{self.inline(part.rstrip(','), line, owner)}</span>" for part in parts)
        more = f"<p>{self.inline(rest[:1].upper() + rest[1:], line, owner)}</p>" if rest else ""
        return f'<p class="formula">{formulas}</p>{more}'

    def _terms(self, lines: list[str], line: int, owner: Definition | None) -> str:
        """Arguments and their shapes, three spaces apart or in lines of their own."""
        items: list[tuple[int, str]] = []
        for number, each in enumerate(lines, line):
            for place, part in enumerate(re.split(r" {3,}", each.strip())):
                if items and place == 0 and not _is_shapes(part) and not _TERM.match(part):
                    items[-1] = (items[-1][0], f"{items[-1][1]}\n{part}")
                else:
                    items.append((number, part))
        terms = [
            self._term(part[0], number + item.count("\n", 0, part.start()), owner)
            for number, item in items
            for part in _ITEM.finditer(item)
        ]
        return f'<dl class="terms">{"".join(terms)}</dl>'

    def _term(self, item: str, line: int, owner: Definition | None) -> str:
        if (shape := _SHAPE.match(item)) and declared(item):
            name, rest = shape.groups()
        elif term := _TERM.match(item):
            name, rest = term[1], item[term.end() :]
        else:
            name, _, rest = item.partition(" ")
        said = " class=said" if rest else ""
        return f"<div{said}><dt>{self.inline(name, line, owner)}</dt><dd>{self.inline(rest, line, owner)}</dd></div>"

    def _list(self, text: str, line: int, owner: Definition | None) -> str:
        if cells := table([each[2:] for each in text.split("\n")], lambda part: self.inline(part, line, owner)):
            return cells
        items = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
        return f"<ul>{''.join(f'<li>{self.inline(item, line, owner)}</li>' for item in items)}</ul>"

    def inline(self, text: str, line: int, owner: Definition | None = None) -> str:
        """A text with its links. line: where it begins."""
        html, done = "", 0
        for found in _LINK.finditer(text):
            html += escape(text[done : found.start()])
            html += self._linked(found, line + text.count("\n", 0, found.start()), owner)
            done = found.end()
        return html + escape(text[done:])

    def _linked(self, found: re.Match[str], line: int, owner: Definition | None) -> str:
        """A name or a number that was found, as HTML, with a link if it leads anywhere."""
        words, file = found[0], found["file"]
        if code := found["code"]:
            return self._link(self._address(code, line, owner), f"<code>{escape(code)}</code>")
        if found["chapters"]:
            return re.sub(r"[Cc]hapter \d+|\d+", lambda part: self._chapter(part[0], line), words)
        if file:
            source = self.library.file_called(file, self.source)
            if source is None and not (self.library.root / file).is_file():  # demo.py is one without a page
                raise self._broken(line, f"there is no file {file}")
            return self._link(source.page if source else "", escape(words))
        if self.library.exercises and int(found["exercise"]) not in self.library.exercises:
            raise self._broken(line, f"there is no exercise {found['exercise']}")
        return escape(words)

    def _link(self, address: str, html: str) -> str:
        return f'<a href="{escape(relative(self.page, address))}">{html}</a>' if address else html

    def _chapter(self, words: str, line: int) -> str:
        number = words.rpartition(" ")[2]
        chapter = self.library.chapter(int(number))
        if chapter is None and self.library.chapters:
            raise self._broken(line, f"there is no chapter {number} in docs/")
        return self._link(chapter.page if chapter else "", escape(words))

    def _address(self, code: str, line: int, owner: Definition | None) -> str:
        """The page and place of what a name in backticks means, "" for other code."""
        name = re.fullmatch(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?", code)
        if not name or code.startswith("_"):
            return ""
        found = self.library.mentioned(name[1], self.source, owner)
        if found is None:
            known = self.library.definitions.by_name.get(name[1].partition(".")[0], [])
            if name[1].startswith("npbert.") or (known and "." in name[1] and isinstance(known[0].node, ast.ClassDef)):
                raise self._broken(line, f"`{code}` names nothing")
            return ""
        return found.address if not found.name or isinstance(found.node, ast.ClassDef | Function) else ""

    def _broken(self, line: int, why: str) -> FileError:
        return FileError(f"{self.source.path}, line {line}: {why}")


def _is_shapes(line: str) -> bool:
    """True for a line that declares shapes, and does not only begin with one."""
    found = _SHAPE.match(line)
    return bool(found and declared(line) and (not found[2] or "   " in line or line[found.end(1)] == ":"))


def table(lines: list[str], html: Callable[[str], str]) -> str:
    """Text in columns as a table: two spaces or more keep them apart, and what begins in one column stands in one.

    It is "" where a line has but one column, unless it stands among several with two. html: a cell's text as HTML.
    """
    rows = [_cells(line) for line in lines]
    widths = [len(row) for row in rows]
    if len(rows) < 2 or (min(widths) < 2 and (max(widths) > 2 or widths.count(2) < 2)):
        return ""
    if all(row[-1][1].startswith("=") for row in rows):  # what is equal stands below each other
        last = max(row[-1][0] for row in rows)
        rows = [[*row[:-1], (last, row[-1][1])] for row in rows]
    columns = {start: place for place, start in enumerate(sorted({start for row in rows for start, _ in row}))}
    cells = ""
    for row in rows:
        ends = [*(columns[start] for start, _ in row), len(columns)]
        cells += "<tr>" + (f'<td colspan="{ends[0]}"></td>' if ends[0] else "")
        for (_, text), (begin, end) in zip(row, pairwise(ends), strict=True):
            words = ' class="words"' if len(text) > _LONGEST_FORMULA else ""
            wide = f' colspan="{end - begin}"' if end - begin > 1 else ""
            cells += f"<td{words}{wide}>{html(text)}</td>"
        cells += "</tr>"
    return f'<div class="scrolls"><table class="aligned">{cells}</table></div>'


def _cells(line: str) -> list[tuple[int, str]]:
    """(the column that it begins in, text) of each cell; an accent takes no column of its own."""
    found = re.finditer(r"\S+(?: \S+)*", line)
    return [(sum(not unicodedata.combining(each) for each in line[: cell.start()]), cell[0]) for cell in found]
