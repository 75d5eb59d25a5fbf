"""Docstrings as HTML: formulas, shapes, paragraphs, and links to what they name."""

from __future__ import annotations

import ast
import inspect
import re

from npbert.files import FileError
from npbert.pages.html import escape
from npbert.pages.site.aligned import aligned
from npbert.pages.site.definitions import Definition
from npbert.pages.site.library import Library, relative
from npbert.pages.site.shapes import declared
from npbert.pages.site.sources import Source
from npbert.pages.site.statements import Function

_FORMULA = re.compile(r"[^\s:.`]{1,24}(?: [^\s:.`]{1,3}){0,2} = \S")
_TERM = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*(?: and [a-z_]\w*)?): ")
_ITEM = re.compile(r"\S(?:(?![.)]\s[a-z_]\w*(?:, [a-z_]\w*)*: ).)*[.)]?", re.DOTALL)  # to where another begins
_SHAPE = re.compile(r"((?:[^\W\d_]\S*,? ){1,4}\([^()]{1,12}\)(?:, or \([^()]{1,12}\))?)[:,]? ?(.*)", re.DOTALL)
_LINK = re.compile(
    r"`(?P<code>[^`]+)`|[Cc]hapters? (?P<chapters>\d+(?: and \d+)?) of docs/"
    r"|[Ee]xercise (?P<exercise>\d+)|(?<![\w/`])(?P<file>[a-z]\w*\.py)\b"
)


def _is_shapes(line: str) -> bool:
    """Whether a line declares shapes, and does not only begin with one."""
    found = _SHAPE.match(line)
    return bool(found and declared(line) and (not found[2] or "   " in line or line[found.end(1)] == ":"))


class Texts:
    """The docstrings of one file, as HTML for one page. Raises: FileError for a link that leads nowhere."""

    def __init__(self, library: Library, source: Source, page: str) -> None:
        self.library, self.source, self.page = library, source, page

    def of(self, node: ast.AST, owner: Definition | None = None) -> str:
        """The docstring of a module, a class or a function, "" where there is none."""
        return "\n".join(filter(None, self.first_and_rest(node, owner)))

    def first_and_rest(self, node: ast.AST, owner: Definition | None = None) -> tuple[str, str]:
        """The same, its first paragraph by itself: that of a layer or of a derivative is a formula."""
        if not isinstance(node, ast.Module | ast.ClassDef | Function):
            return "", ""
        text = ast.get_docstring(node) or ""
        first, _, rest = text.partition("\n\n")
        line = node.body[0].lineno if text else 0
        shown = self.html(first, line, owner, first=True)
        return shown, self.html(rest, line + first.count("\n") + 2, owner)

    def html(self, text: str, line: int, owner: Definition | None = None, *, first: bool = False) -> str:
        """A text that begins in a line. first: whether it is the beginning, where a formula may stand, but no terms."""
        paragraphs = [part for part in re.split(r"\n\s*\n", text.strip("\n")) if part.strip()]
        shown = []
        for number, part in enumerate(paragraphs):
            start = line + text[: text.find(part)].count("\n")
            shown.append(self._paragraph(part, start, owner, first=first and number == 0))
        return "\n".join(shown)

    def _paragraph(self, text: str, line: int, owner: Definition | None, *, first: bool) -> str:
        lines = text.split("\n")
        if all(each.startswith("    ") for each in lines):
            return aligned(lines, escape) or f'<pre class="aligned">{escape(inspect.cleandoc(text))}</pre>'
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
        parts = re.split(r"(?<=\S) {2,}|(?<=,)\n", formula.rstrip("." if not colon else ""))
        joined: list[str] = []
        for part in parts:  # "with" belongs to what it introduces
            if joined and joined[-1] in ("with", "and"):
                joined[-1] += f" {part}"
            else:
                joined.append(part)
        shown = "".join(f"<span>{self.inline(part.rstrip(','), line, owner)}</span>" for part in joined)
        more = f"<p>{self.inline(rest[:1].upper() + rest[1:], line, owner)}</p>" if rest else ""
        return f'<p class="formula">{shown}</p>{more}'

    def _terms(self, lines: list[str], line: int, owner: Definition | None) -> str:
        """Arguments and their shapes, three spaces apart or in lines of their own."""
        items: list[tuple[int, str]] = []
        for number, each in enumerate(lines):
            for place, part in enumerate(re.split(r" {3,}", each.strip())):
                if items and place == 0 and not _is_shapes(part) and not _TERM.match(part):
                    items[-1] = (items[-1][0], f"{items[-1][1]}\n{part}")
                else:
                    items.append((line + number, part))
        each_alone = [
            (number + item[: part.start()].count("\n"), part[0])
            for number, item in items
            for part in re.finditer(_ITEM, item)
        ]
        shown = "".join(self._term(item, number, owner) for number, item in each_alone)
        return f'<dl class="terms">{shown}</dl>'

    def _term(self, item: str, line: int, owner: Definition | None) -> str:
        shape, term = _SHAPE.match(item), _TERM.match(item)
        if shape and declared(item):
            name, rest = shape.groups()
        elif term:
            name, rest = term[1], item[term.end() :]
        else:
            name, _, rest = item.partition(" ")
        told = f"<dd>{self.inline(rest, line, owner)}</dd>" if rest else "<dd></dd>"
        return f"<div{' class=told' if rest else ''}><dt>{self.inline(name, line, owner)}</dt>{told}</div>"

    def _list(self, text: str, line: int, owner: Definition | None) -> str:
        table = aligned([each[2:] for each in text.split("\n")], lambda part: self.inline(part, line, owner))
        if table:
            return table
        items = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
        return f"<ul>{''.join(f'<li>{self.inline(item, line, owner)}</li>' for item in items)}</ul>"

    def inline(self, text: str, line: int, owner: Definition | None = None) -> str:
        """A text with its links. line: where it begins."""
        shown, done = [], 0
        for found in _LINK.finditer(text):
            shown.append(escape(text[done : found.start()]))
            shown.append(self._link(found, line + text.count("\n", 0, found.start()), owner))
            done = found.end()
        return "".join([*shown, escape(text[done:])])

    def _link(self, found: re.Match[str], line: int, owner: Definition | None) -> str:
        words = found[0]
        if found["code"] is not None:
            address = self._code_address(found["code"], line, owner)
            code = f"<code>{escape(found['code'])}</code>"
            return f'<a href="{escape(relative(self.page, address))}">{code}</a>' if address else code
        if found["chapters"]:
            named = r"[Cc]hapter \d+|\d+"
            return re.sub(named, lambda part: self._chapter(part[0], line), words)
        if found["exercise"]:
            if self.library.exercises and int(found["exercise"]) not in self.library.exercises:
                raise self._broken(line, f"there is no exercise {found['exercise']}")
            return escape(words)
        file = self.library.file_called(found["file"], self.source)
        if file is None:
            if (self.library.root / found["file"]).is_file():  # as demo.py, which has no page
                return escape(words)
            raise self._broken(line, f"there is no file {found['file']}")
        return f'<a href="{escape(relative(self.page, file.page))}">{escape(words)}</a>'

    def _chapter(self, words: str, line: int) -> str:
        number = int(words.rpartition(" ")[2])
        chapter = self.library.chapter(number)
        if chapter is None:
            if not self.library.chapters:
                return escape(words)
            raise self._broken(line, f"there is no chapter {number} in docs/")
        return f'<a href="{escape(relative(self.page, chapter.page))}" title="{escape(chapter.title)}">{words}</a>'

    def _code_address(self, code: str, line: int, owner: Definition | None) -> str:
        """What a name in backticks leads to, "" for other code."""
        name = re.fullmatch(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?", code)
        if not name or code.startswith("_"):
            return ""
        found = self.library.mentioned(name[1], self.source, owner)
        if found is None:
            known = self.library.definitions.by_name.get(name[1].partition(".")[0], [])
            if name[1].startswith("npbert.") or (known and "." in name[1] and isinstance(known[0].node, ast.ClassDef)):
                raise self._broken(line, f"`{code}` names nothing")
            return ""
        is_thing = not found.name or isinstance(found.node, ast.ClassDef | Function)
        return found.address if is_thing else ""

    def _broken(self, line: int, why: str) -> FileError:
        return FileError(f"{self.source.path}, line {line}: {why}")
