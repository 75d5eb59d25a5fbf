"""Python as HTML: tokens get their colours, names their links, lines their numbers."""

from __future__ import annotations

import builtins
import io
import keyword
import tokenize
from collections.abc import Callable, Mapping

from npbert.pages.html import escape
from npbert.pages.site.names import Name, Place

_BUILTINS = {name for name in dir(builtins) if name.islower()}
_STRINGS = {tokenize.STRING} | {
    getattr(tokenize, name) for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END") if hasattr(tokenize, name)
}

Link = Callable[[str], str]
"""From page and anchor in the site to what a link of this page says."""


def highlighted(
    text: str, link: Link, names: Mapping[Place, Name] | None = None, marks: Mapping[Place, str] | None = None
) -> list[str]:
    """Each line of a Python text as HTML. marks: HTML to put before the token at a place.

    A text that is no Python (a part of a file, with … for what is left out) is coloured as far as it can be read.
    """
    lines = text.split("\n")
    shown: list[list[str]] = [[] for _ in lines]
    done: Place = (1, 0)
    seen: set[str] = set()

    def plain(to: Place) -> None:
        nonlocal done
        while done < to:
            (line, column), last = done, done[0] == to[0]
            shown[line - 1].append(escape(lines[line - 1][column : to[1] if last else None]))
            done = to if last else (line + 1, 0)

    for token in _tokens(text):
        kind = _kind(token)
        name = (names or {}).get(token.start)
        mark = (marks or {}).get(token.start)
        if token.start < done or (kind is None and name is None and mark is None):
            continue
        plain(token.start)
        if mark:
            shown[done[0] - 1].append(mark)
        if token.start[0] == token.end[0] and name:
            shown[done[0] - 1].append(_link(token.string, kind, name, link, seen))
            done = token.end
        else:
            _several_lines(token, kind, lines, shown)
            done = token.end
    plain((len(lines), len(lines[-1])))
    return ["".join(parts) for parts in shown]


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    """The tokens, as many as can be read, each with its place in the line as a character."""
    found: list[tokenize.TokenInfo] = []
    try:
        found.extend(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        found = _of_each_line(text)
    after_def = False
    result = []
    for token in found:
        if token.type == tokenize.NAME and after_def:
            token = token._replace(type=tokenize.NT_OFFSET)  # what is defined here
        after_def = token.type == tokenize.NAME and token.string in ("def", "class")
        result.append(token)
    return result


def _of_each_line(text: str) -> list[tokenize.TokenInfo]:
    """The tokens of each line that can be read by itself."""
    found: list[tokenize.TokenInfo] = []
    for number, line in enumerate(text.split("\n")):
        read: list[tokenize.TokenInfo] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
                read.append(token)
        except (tokenize.TokenError, SyntaxError):
            pass
        shift = len(line) - len(line.lstrip())
        for token in read:
            if token.start[0] == token.end[0] == 1 and token.string.strip():
                start, end = (number + 1, token.start[1] + shift), (number + 1, token.end[1] + shift)
                found.append(token._replace(start=start, end=end))
    return found


def _kind(token: tokenize.TokenInfo) -> str | None:
    """The class of a token in the style sheet; None for what looks like any text."""
    if token.type == tokenize.NT_OFFSET:
        return "def"
    if token.type == tokenize.NAME:
        if keyword.iskeyword(token.string):
            return "kw"
        if token.string == "self":
            return "self"
        return "bi" if token.string in _BUILTINS else None
    if token.type in _STRINGS:
        return "st"
    return {tokenize.COMMENT: "co", tokenize.NUMBER: "nu"}.get(token.type)


def _link(text: str, kind: str | None, name: Name, link: Link, seen: set[str]) -> str:
    """A link; of a local variable the first one alone can be reached with the tab key."""
    classes = " ".join(filter(None, [kind if kind != "bi" else None, "local" if name.local else "name"]))
    shape = f' data-shape="{escape(f"{text} {name.shape}")}"' if name.shape else ""
    first = text not in seen and bool(name.shape)
    seen.add(text)
    still = ' tabindex="-1"' if name.local and not first else ""
    return f'<a class="{classes}" href="{escape(link(name.address))}"{shape}{still}>{escape(text)}</a>'


def _several_lines(token: tokenize.TokenInfo, kind: str | None, lines: list[str], shown: list[list[str]]) -> None:
    (first, column), (last, end) = token.start, token.end
    for line in range(first, last + 1):
        begin, stop = column if line == first else 0, end if line == last else None
        part = lines[line - 1][begin:stop]
        body = part.lstrip(" ")
        if body and kind:
            part, body = part[: len(part) - len(body)], f'<span class="{kind}">{escape(body)}</span>'
            shown[line - 1].append(part + body)
        else:
            shown[line - 1].append(escape(part))


def listing(
    rows: list[tuple[int, str, str]],
    *,
    numbers: bool = True,
    classes: str = "",
    starts: Mapping[int, str] | None = None,
) -> str:
    """Lines as a block of code: (number, the line as it stands, as HTML). starts: anchors that stand at a line.

    A line that is too long for the screen goes on below, further in.
    """
    out = []
    base = min((len(text) - len(text.lstrip()) for _, text, _ in rows if text.strip()), default=0)
    for number, text, html in rows:
        indent = max(len(text) - len(text.lstrip()) - base, 0)
        body = html[len(text) - len(text.lstrip()) :] if text.strip() else ""
        anchor = f' id="L{number}"' if numbers else ""
        label = f'<a class="no" href="#L{number}" tabindex="-1" aria-hidden="true">{number}</a>' if numbers else ""
        also = "".join(f'<span class="at" id="{escape(name)}"></span>' for name in [(starts or {}).get(number)] if name)
        spaces = " " * indent
        out.append(f'<span class="line"{anchor} style="--i:{indent}">{also}{label}<code>{spaces}{body}</code></span>')
    return f'<div class="code {classes}" translate="no">{"".join(out)}</div>'
