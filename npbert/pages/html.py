"""What every page shares: text that stays text, one look, and all in one file."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
{body}
{scripts}
</body>
</html>
"""


def page(title: str, body: str, *, style: str = "", scripts: str = "") -> str:
    """A whole HTML file: `body` in the look that all pages share, which `style`, more CSS, may add to.

    title: plain text. body and scripts: HTML; what comes from a user in them went through `escape` or `json_script`.
    """
    return _PAGE.format(title=escape(title), style=f"{resource('look.css')}\n{style}", body=body, scripts=scripts)


def escape(text: object) -> str:
    """Text as HTML: it shows as it is, also as the value of an attribute. What cannot be shown is U+FFFD.

    A text that runs from right to left does not turn what stands beside it, when it is put into a <bdi>.
    """
    return html.escape(_NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", str(text)), quote=True)


_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def json_script(name: str, value: Any) -> str:
    """A <script> from which JavaScript reads `value`: JSON.parse(document.getElementById(name).textContent).

    Raises: ValueError for NaN or an infinity, which JSON does not have.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":  # no "</script>" or "<!--" can be in it
        text = text.replace(character, f"\\u{ord(character):04x}")
    text = re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def module_script(paths: Iterable[str]) -> str:
    """A <script> of the ES modules at these paths in npbert/pages, in this order, as one.

    The modules are joined as they are, but for their imports and the word `export`: so an import stands on one line and
    renames nothing, there is no default export, and what is named at the top of a module is named once in all.
    """
    joined = "\n".join(_IMPORT_OR_EXPORT.sub("", resource(path)) for path in paths)
    joined = joined.replace("</script", "<\\/script")  # in a string, both say the same
    return f'<script>\n(() => {{\n"use strict";\n{joined}\n}})();\n</script>'


_IMPORT_OR_EXPORT = re.compile(r"^import .*;\n|^export (?:\{.*\}.*;\n)?(?=\S|$)", re.MULTILINE)


def resource(path: str) -> str:
    """The text of a file that belongs to npbert/pages, by its path there."""
    return files("npbert.pages").joinpath(path).read_text(encoding="utf-8")
