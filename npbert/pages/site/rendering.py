"""The HTML of the site: templates, filled in by Jinja2, which escapes all that they do not call `safe`; and Python, of
which Pygments finds the tokens, and names get their links here, and lines their numbers."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from npbert.io.extras import import_extra
from npbert.pages.html import ICON, escape, templates
from npbert.pages.site.library import relative
from npbert.pages.site.names import Name, Place


@dataclass(frozen=True)
class Page:
    """A page of the site. path: in the site. kind: its class in the style sheet. body: HTML. about: a summary."""

    path: str
    title: str
    kind: str
    body: str
    about: str


def render(template: str, path: str, **values: Any) -> str:
    """A template of site/templates, filled in, as a part of the page at `path`: `address | to` is a link from there.

    Raises: MissingExtraError without Jinja2.
    """
    return str(_environment().get_template(f"{template}.html").render(values, path=path))


@cache
def _environment() -> Any:
    made = templates("site/templates", "site")
    made.globals["icon"] = ICON
    made.filters["code"] = lambda text: re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    made.filters["to"] = import_extra("jinja2", extra="site").pass_context(
        lambda context, address: relative(context["path"], address)
    )
    return made


Link = Callable[[str], str]
"""From page and anchor in the site to what a link of this page says."""

_CLASSES = {
    "Token.Keyword": "kw",
    "Token.Operator.Word": "kw",
    "Token.Name.Builtin.Pseudo": "self",
    "Token.Literal.String": "st",
    "Token.Literal.Number": "nu",
    "Token.Comment": "co",
}
_WORDS, _LINES = re.compile(r"\n|\w+|[^\w\n]+"), re.compile(r"\n| +|[^ \n][^\n]*")


def highlighted(
    text: str, link: Link, names: Mapping[Place, Name] | None = None, marks: Mapping[Place, str] | None = None
) -> list[str]:
    """Each line of a Python text as HTML. marks: HTML to put before the token at a place.

    A text that is no Python (a part of a file, with … for what is left out) is coloured as far as it can be read.
    Raises: MissingExtraError without Pygments.
    """
    lines, column = [""], 0
    linked: set[str] = set()
    lexer = import_extra("pygments.lexers.python", extra="site").PythonLexer()
    for start, token, value in lexer.get_tokens_unprocessed(text):
        is_defined = text.endswith(("def ", "class "), 0, start)
        kind = "def" if is_defined else _class_of(token)
        for part in (_WORDS if token[:1] == ("Name",) else _LINES).findall(value):
            if part == "\n":
                lines.append("")
                column = 0
                continue
            place = len(lines), column
            name = (names or {}).get(place)
            lines[-1] += (marks or {}).get(place, "") + _part(part, kind, name, link, linked)
            column += len(part)
    return lines


@cache
def _class_of(token: Any) -> str:
    """The class in the style sheet of a kind of token, "" for what looks like any text."""
    return next((name for kind, name in _CLASSES.items() if str(token).startswith(kind)), "")


def _part(text: str, kind: str, name: Name | None, link: Link, linked: set[str]) -> str:
    """A token; of a local variable with a shape, the first link alone can be reached with the tab key."""
    if name is None:
        return f'<span class="{kind}">{escape(text)}</span>' if kind and text.strip() else escape(text)
    classes = f"{kind} {'local' if name.local else 'name'}".strip()
    shape = f' data-shape="{escape(f"{text} {name.shape}")}"' if name.shape else ""
    still = ' tabindex="-1"' if name.local and (text in linked or not shape) else ""
    linked.add(text)
    return f'<a class="{classes}" href="{escape(link(name.address))}"{shape}{still}>{escape(text)}</a>'


def listing(rows: list[tuple[int, str, str]]) -> str:
    """Lines as a block of code: (number, the line as it stands, as HTML).

    A line that is too long for the screen goes on below, further in.
    """
    base = min((_indent(text) for _, text, _ in rows if text.strip()), default=0)
    lines = []
    for number, text, html in rows:
        indent = max(_indent(text) - base, 0)
        label = f'<a class="no" href="#L{number}" tabindex="-1" aria-hidden="true">{number}</a>'
        code = f"<code>{' ' * indent}{html.lstrip(' ')}</code>"
        lines.append(f'<span class="line" id="L{number}" style="--i:{indent}">{label}{code}</span>')
    return f'<div class="code" translate="no">{"".join(lines)}</div>'


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def diff_html(lines: Iterable[tuple[str, str]]) -> str:
    """(mark, line) of each line of a change as a block of code: "+" for what is new, "-" for what goes."""
    names = {"+": "plus", "-": "minus", " ": "same"}
    rows = (
        f'<span class="{names[mark]}"><b aria-hidden="true">{mark}</b>{escape(line)}\n</span>' for mark, line in lines
    )
    return f'<pre class="diff" translate="no">{"".join(rows)}</pre>'
