"""Every link of the site leads to a page and a place on it that there are, and none leads outside."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import unquote


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.anchors.append(value or "")
            elif name in ("href", "src"):
                self.links.append(value or "")


def broken_links(pages: Mapping[str, str], files: set[str]) -> list[str]:
    """What is wrong, a line for each link. pages: HTML by path. files: the paths of all else that there is."""
    read = {}
    wrong = []
    for path, text in pages.items():
        read[path] = _Links()
        read[path].feed(text)
        twice = {anchor for anchor in read[path].anchors if read[path].anchors.count(anchor) > 1}
        wrong += [f"{path}: two places are called {anchor}" for anchor in sorted(twice)]
    anchors = {path: set(links.anchors) for path, links in read.items()}
    for path, links in read.items():
        for link in dict.fromkeys(links.links):
            there, _, anchor = unquote(link).partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), there)) if there else path
            if ":" in there or there.startswith("/") or target.startswith(".."):
                wrong.append(f"{path}: {link} leads outside")
            elif target not in pages and target not in files:
                wrong.append(f"{path}: {link} leads nowhere")
            elif anchor and anchor not in anchors.get(target, ()):
                wrong.append(f"{path}: {link}: there is no such place on that page")
    return wrong
