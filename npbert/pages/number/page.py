"""The page itself: one HTML file with data, style and program."""

import re
from pathlib import Path
from typing import Any

from npbert.io import write_where_asked
from npbert.pages.html import PAGES, json_script, module_script, page, resource

FOLDER = "number"
STYLES = ("page", "stage", "panels", "fit")
_PART = re.compile(r"<!-- (\w+\.html) -->")
_CHAPTER = re.compile(r'<a\s+href="docs/([\w-]+)\.md">([^<]*)</a>')


def write_number_page(data: dict[str, Any], path: str | Path) -> None:
    """Write the page of a small model: one HTML file, which needs no network. data: from `export`, or `dialogue_data`.

    Raises: OSError if the file cannot be written.
    """
    write_where_asked(path, [number_page(data).encode()])


def number_page(data: dict[str, Any]) -> str:
    """Return the page as HTML. data: from `export`; for the site, which has the chapters, also `is_in_site`."""
    chapter = r'<a href="docs/\1.html">\2</a>' if "is_in_site" in data else r"\2"
    body = _PART.sub(lambda part: resource(f"{FOLDER}/{part[1]}"), resource(f"{FOLDER}/page.html"))
    parts = [_CHAPTER.sub(chapter, body), json_script("data", data), module_script(modules())]
    style = "\n".join(resource(f"{FOLDER}/css/{name}.css") for name in STYLES)
    return page("Follow one number back", "\n".join(parts), style=style)


def modules() -> list[str]:
    """Return the paths in pages/ of all modules of the page, main.js last: only main.js runs when it is read."""
    scripts = [path.relative_to(PAGES).as_posix() for path in (PAGES / FOLDER / "js").rglob("*.js")]
    return sorted(scripts, key=lambda path: (path.endswith("/main.js"), path))
