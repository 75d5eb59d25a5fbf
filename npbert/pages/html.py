"""The frame of every page: escaped text, one style, and all in one file."""

import html
import re
from pathlib import Path

PAGES = Path(__file__).parent
ICON = (
    "data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 4 4%22%3E%3Cpath fill=%22%232166ac"
    "%22 d=%22M0 0h4v4H0z%22/%3E%3Cpath fill=%22%23e89a5b%22 d=%22M2 0h2v2H2zM0 2h2v2H0z%22/%3E%3C/svg%3E"
)
"""The icon of every page: a heat map of four numbers, two above 0 and two below."""


_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def escape(text: object) -> str:
    """Return text as HTML that shows it unchanged, also as the value of an attribute. An invisible character becomes
    U+FFFD.

    A text from right to left does not turn its neighbors if it is put into a <bdi>.
    """
    return html.escape(visible(text))


def visible(text: object) -> str:
    """Return the text with U+FFFD for each character that cannot be shown."""
    return _NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", str(text))


def page(title: str, body: str, *, style: str) -> str:
    """Return a whole HTML file: `body` in the shared style, with `style` as more CSS.

    title: plain text.
    body: HTML, with all user text through `escape`.
    """
    return resource("page.html").format(
        title=escape(title),
        icon=ICON,
        style=f"{resource('look.css')}\n{style}",
        body=body,
    )


def resource(path: str) -> str:
    """Return the text of a file of npbert/pages, by its path there."""
    return (PAGES / path).read_text(encoding="utf-8")
