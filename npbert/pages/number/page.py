"""The page itself: one HTML file with data, style and program."""

import json
import re
from pathlib import Path
from typing import Any

from npbert.io import write_where_asked
from npbert.pages.html import PAGES, page, resource

FOLDER = "number"
STYLES = ("page", "stage", "panels", "fit")
_PART = re.compile(r"<!-- (\w+\.html) -->")
_IMPORT_OR_EXPORT = re.compile(r"^import [^;]*;\n|^export (?=\S)", re.MULTILINE)
_CHAPTER = re.compile(r'<a\s+href="docs/([\w-]+)\.md">([^<]*)</a>')


def write_number_page(data: dict[str, Any], path: str | Path) -> None:
    """Write the page of a small model: one HTML file, which needs no network. data: from `export`, or `dialogue_data`.

    Raises: OSError if the file cannot be written.
    """
    write_where_asked(path, [number_page(data).encode()])


def number_page(data: dict[str, Any]) -> str:
    """Return the page as HTML. data: from `export`; for the site, which has the chapters, also `is_in_site`;
    `is_guessed` where the labels are the model's own guesses."""
    chapter = r'<a href="docs/\1.html">\2</a>' if "is_in_site" in data else r"\2"
    body = _PART.sub(lambda part: resource(f"{FOLDER}/{part[1]}"), resource(f"{FOLDER}/page.html"))
    parts = [_CHAPTER.sub(chapter, body), json_script(data), program()]
    style = "\n".join(resource(f"{FOLDER}/css/{name}.css") for name in STYLES)
    return page("Follow one number back", "\n".join(parts), style=style)


def json_script(value: Any) -> str:
    """Return a <script> for JavaScript to read `value`: JSON.parse(document.getElementById("data").textContent).

    Raises: ValueError for NaN or infinity, which JSON does not have.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":  # no "</script>" or "<!--" can be in it
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="data">{text}</script>'


def program() -> str:
    """Return a <script> of all ES modules of the page, main.js last: only main.js runs when it is read.

    Only imports and the word `export` are removed. So imports rename nothing, there is no default export, and top-level
    names are unique.
    """
    modules = sorted((PAGES / FOLDER / "js").rglob("*.js"), key=lambda path: (path.name == "main.js", path))
    text = "\n".join(_IMPORT_OR_EXPORT.sub("", path.read_text(encoding="utf-8")) for path in modules)
    inside = text.replace("</script", "<\\/script")  # equal within a string
    return f'<script>\n(() => {{\n"use strict";\n{inside}\n}})();\n</script>'
