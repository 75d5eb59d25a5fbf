"""The reading site as the tests see it: made once for all of them, with made-up figures, as a check takes a minute."""

import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest

from npbert.catalogue import CATALOGUE
from npbert.core import named_parts
from npbert.pages.number.export import export
from npbert.pages.site.build import site_files
from npbert.pages.site.chapters import chapter_page
from npbert.pages.site.contents import contents_page, reference_pages, search_index
from npbert.pages.site.errors import errors_in
from npbert.pages.site.library import Library
from npbert.pages.site.panels import Panels, ProofPanel, _called, read_bugs
from npbert.pages.site.source_page import source_page
from tests.pages.number import EXAMPLES, VOCABULARY, small_model
from tests.pages.shared import once

for module, package in (("jinja2", "Jinja2"), ("pygments", "Pygments"), ("markdown_it", "markdown-it-py")):
    pytest.importorskip(module, reason=f"{package} is not installed: pip install 'npbert[site]'")
ROOT = Path(__file__).parent.parent.parent


@cache
def made_up_proofs():
    """A proof of each block of the catalogue: the first has 1,001 derivatives, the second 1,002, and so on."""
    return [
        ProofPanel(
            block,
            _called(setting.layer_class),
            frozenset(_called(type(part)) for _, part in named_parts(setting.make()[0])),
            1000 + number,
            1.5e-13,
            2.5e-16,
        )
        for number, (block, setting) in enumerate(CATALOGUE.items(), 1)
    ]


@cache
def made_up_number():
    """What the page "Follow one number back" of the site shows: a model that has learned nothing."""
    return export(small_model(), EXAMPLES, VOCABULARY)


@cache
def library():
    return Library(ROOT)


def some_pages():
    """By path, what stands on some pages of each kind; and what the search knows of the whole site."""
    bugs = read_bugs(ROOT)
    panels = Panels(library(), made_up_proofs(), bugs)
    found = [contents_page(library(), made_up_proofs(), len(bugs)), *reference_pages(library(), errors_in(library()))]
    found += [chapter_page(library(), chapter) for chapter in library().chapters]
    followed, layers = made_up_number()["source"]["files"], library().sources
    found += [source_page(library(), each, panels, each.path in followed) for each in layers if each.room == "layers"]
    return {page.path: page.body for page in found} | {
        "search.js": search_index(library(), found, errors_in(library()))
    }


@cache
def site_folder():
    """The site as files. Every link of it leads somewhere: site_files looks."""
    return once("site", _write)


def _write(folder):
    for path, content in site_files(library(), made_up_proofs(), made_up_number()).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


@cache
def built():
    """Every file of the site, by its path."""
    folder = site_folder()
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@cache
def page(path):
    """The HTML of one page."""
    return built()[path].decode()


LINE = re.compile(r'<span class="line" id="L(\d+)"[^>]*>(.*?)</code></span>', re.DOTALL)
MARK = re.compile(r'<a class="(?:no|mark)\b[^>]*>.*?</a>|<[^>]*>')


def code_of(html):
    """The lines of code on a page, by their numbers, as text without the marks that the site puts in."""
    lines = {}
    for number, line in LINE.findall(html):
        assert int(number) not in lines, f"line {number} stands there twice"
        lines[int(number)] = unescape(MARK.sub("", line))
    return lines


def links_of(path, line):
    """{name: (where it leads, its shape or None)} of the names in a line of code on a page."""
    found = re.search(rf'<span class="line" id="L{line}".*?</code></span>', page(path), re.DOTALL)[0]
    links = re.findall(r'<a class="(?!no|mark)[^"]*" href="([^"]*)"(?: data-shape="([^"]*)")?[^>]*>(\w+)</a>', found)
    return {name: (href, unescape(shape) or None) for href, shape, name in links}


def line_of(source, text):
    """The number of the first line of a file that has this text in it."""
    return next(number for number, line in enumerate(library().by_path[source].lines, 1) if text in line)
