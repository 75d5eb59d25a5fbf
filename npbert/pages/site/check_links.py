"""Every link of the site leads to a page and a place on it that there are, and none leads outside."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from html import unescape
from urllib.parse import unquote

_ANCHOR = re.compile(r'\sid="([^"]*)"')
_LINK = re.compile(r'\s(?:href|src)="([^"]*)"')


def broken_links(pages: Mapping[str, str], files: set[str]) -> list[str]:
    """What is wrong, a line for each link. pages: HTML by path. files: the paths of all else that there is.

    In the site's HTML every address stands in double quotes, and in a text there are none: `escape` writes &quot;.
    """
    anchors, wrong = {}, []
    for path, text in pages.items():
        named = Counter(map(unescape, _ANCHOR.findall(text)))
        wrong += [f"{path}: two places are called {anchor}" for anchor, times in sorted(named.items()) if times > 1]
        anchors[path] = set(named)
    for path, text in pages.items():
        for link in dict.fromkeys(map(unescape, _LINK.findall(text))):
            there, _, anchor = unquote(link).partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), there)) if there else path
            if ":" in there or there.startswith("/") or target.startswith(".."):
                wrong.append(f"{path}: {link} leads outside")
            elif target not in pages and target not in files:
                wrong.append(f"{path}: {link} leads nowhere")
            elif anchor and anchor not in anchors.get(target, ()):
                wrong.append(f"{path}: {link}: there is no such place on that page")
    return wrong
