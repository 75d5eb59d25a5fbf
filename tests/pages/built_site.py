"""The reading site as the tests see it: built once for all of them, with made-up figures, as a check takes a minute."""

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from npbert.catalogue import CATALOGUE
from npbert.core import named_parts
from npbert.pages.site.build import site_files
from npbert.pages.site.library import Library
from npbert.pages.site.proofs import Proof

ROOT = Path(__file__).parent.parent.parent


def called(layer_class):
    return f"{layer_class.__module__}.{layer_class.__qualname__}"


@cache
def made_up_proofs():
    """A proof of each block of the catalogue: the first has 1,001 derivatives, the second 1,002, and so on."""
    return [
        Proof(
            block,
            called(setting.layer_class),
            frozenset(called(type(part)) for _, part in named_parts(setting.make()[0])),
            1000 + number,
            1.5e-13,
            2.5e-16,
        )
        for number, (block, setting) in enumerate(CATALOGUE.items(), 1)
    ]


@cache
def library():
    return Library(ROOT)


@cache
def built():
    """Every file of the site, by its path."""
    pytest.importorskip("markdown_it", reason="markdown-it-py is not installed: pip install 'npbert[site]'")
    return site_files(library(), made_up_proofs())


@cache
def page(path):
    """The HTML of one page."""
    return built()[path].decode()


def pages():
    """The path of every page."""
    return [path for path in built() if path.endswith(".html")]


class Code(HTMLParser):
    """The lines of code on a page, by their numbers, as text without the marks that the site puts in."""

    def __init__(self, html):
        super().__init__()
        self.lines, self.open, self.skips, self.depth = {}, None, 0, 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        classes = (attrs.get("class") or "").split()
        if tag == "span" and "line" in classes:
            self.open, self.depth = int(attrs["id"][1:]), 0
            assert self.open not in self.lines, f"line {self.open} stands there twice"
            self.lines[self.open] = ""
        elif tag == "span":
            self.depth += 1
        if tag == "a" and {"no", "mark"} & set(classes):
            self.skips = True

    def handle_endtag(self, tag):
        if tag == "a":
            self.skips = False
        if tag == "span" and self.open:
            if self.depth == 0:
                self.open = None
            self.depth -= 1

    def handle_data(self, data):
        if self.open and not self.skips:
            self.lines[self.open] += data


def links_of(path, line):
    """{name: (where it leads, its shape or None)} of the names in a line of code on a page."""
    found = re.search(rf'<span class="line" id="L{line}".*?</code></span>', page(path), re.DOTALL)[0]
    links = re.findall(r'<a class="(?!no|mark)[^"]*" href="([^"]*)"(?: data-shape="([^"]*)")?[^>]*>(\w+)</a>', found)
    return {name: (href, unescape(shape) or None) for href, shape, name in links}


def line_of(source, text):
    """The number of the first line of a file that has this text in it."""
    return next(number for number, line in enumerate(library().by_path[source].lines, 1) if text in line)
