"""What every page of the site has: its head, the bar above, and the way to the page before and the next."""

from __future__ import annotations

from dataclasses import dataclass

from npbert.pages.html import escape
from npbert.pages.site.library import relative

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{css}">
<script src="{names}" defer></script>
<script src="{script}" defer></script>
</head>
<body class="{kind}" data-root="{root}">
<a class="skip" href="#page-text">to the text</a>
<nav class="bar" aria-label="site">
<a class="home" href="{home}"><b>npbert</b> <span>to read</span></a>
<form role="search" class="screen-only"><input type="search" id="page-search" placeholder="find a name" \
aria-label="find a name" autocomplete="off" spellcheck="false"><div id="page-found" role="listbox" hidden></div></form>
<span class="ways">{before}{after}<button type="button" id="page-theme" class="screen-only" aria-label="light or dark" \
title="light or dark">◐</button></span>
</nav>
<main id="page-text">
{body}
</main>
<nav class="foot" aria-label="before and next">{foot}</nav>
</body>
</html>
"""


@dataclass(frozen=True)
class Page:
    """A page of the site. path: in the site. kind: its class in the style sheet. body: HTML."""

    path: str
    title: str
    kind: str
    body: str


def framed(page: Page, before: Page | None, after: Page | None) -> str:
    """The whole HTML of a page that stands between two others."""
    link = {name: relative(page.path, path) for name, path in _SHARED.items()}
    return _PAGE.format(
        title=escape(f"{page.title} · npbert"),
        kind=page.kind,
        body=page.body,
        root=escape(relative(page.path, "index.html").removesuffix("index.html")),
        before=_way(page, before, "prev", "←"),
        after=_way(page, after, "next", "→"),
        foot=_foot(page, before, "prev") + _foot(page, after, "next"),
        **link,
    )


_SHARED = {"css": "site.css", "script": "site.js", "names": "names.js", "home": "index.html"}


def _way(page: Page, other: Page | None, rel: str, arrow: str) -> str:
    if other is None:
        return ""
    label = f"{'before' if rel == 'prev' else 'next'}: {other.title}"
    href = escape(relative(page.path, other.path))
    return f'<a rel="{rel}" href="{href}" title="{escape(label)}" aria-label="{escape(label)}">{arrow}</a>'


def _foot(page: Page, other: Page | None, rel: str) -> str:
    if other is None:
        return "<span></span>"
    word = "Before" if rel == "prev" else "Next"
    href = escape(relative(page.path, other.path))
    return f'<a class="{rel}" href="{href}"><small>{word}</small>{escape(other.title)}</a>'
