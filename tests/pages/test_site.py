"""The reading site: its links, its order, that every line is in it, and that it is always the same."""

import ast
import hashlib
import os
import posixpath
import re
import subprocess
import sys
from copy import copy
from html import unescape
from urllib.parse import unquote

import pytest

import npbert
from npbert.files import FileError
from npbert.pages import site as site_package
from npbert.pages.site import build, build_site
from npbert.pages.site.aligned import aligned
from npbert.pages.site.check_links import broken_links
from npbert.pages.site.contents import contents_page
from npbert.pages.site.library import Library
from npbert.pages.site.proof_panel import Panels
from npbert.pages.site.reference import public_names
from npbert.pages.site.source_page import source_page
from tests.pages.built_site import ROOT, built, code_of, library, made_up_proofs, page, pages

TAGS = """html head meta title link script body a nav b span form input div button main header p h1 h2 h3 h4 ul ol li
details summary article section aside code pre table thead tbody tr th td dl dt dd small img figure figcaption strong em
hr blockquote br"""
LINK = re.compile(r'\b(?:href|src)="([^"]*)"')


def targets(path):
    """(page, anchor) of each link on a page."""
    for link in set(LINK.findall(page(path))):
        there, _, anchor = unquote(unescape(link)).partition("#")
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), there)) if there else path, anchor


def test_every_link_leads_to_a_page_and_a_place_that_there_are():
    anchors = {path: {unescape(name) for name in re.findall(r'\bid="([^"]*)"', page(path))} for path in pages()}
    for path in pages():
        for there, anchor in targets(path):
            assert there in built(), f"{path} links to {there}"
            assert not anchor or anchor in anchors[there], f"{path} links to {there}#{anchor}"


def test_nothing_points_outside():
    """Pages load their style, their script and pictures from the site; a link to another site is shown as text."""
    for path in pages():
        assert not re.search(r'<[^>]*\s(?:href|src|id)=[^"]', page(path)), "the search for links would not see it"
        assert not [link for link in LINK.findall(page(path)) if ":" in link or link.startswith(("/", "../../../.."))]
        assert set(re.findall(r"<(\w+)", page(path))) <= set(TAGS.split())
    for name in ("site.css", "site.js"):
        assert not re.search(r"https?:|url\(|@import|fetch\(|import ", built()[name].decode())


@pytest.mark.parametrize(
    ("html", "wrong"),
    [
        ('<a href="b.html#there">', None),
        ('<a href="b.html#here">', "there is no such place"),
        ('<a href="c.html">', "leads nowhere"),
        ('<a href="#up">', "there is no such place"),
        ('<img src="https://example.org/a.png">', "leads outside"),
        ('<a href="/b.html">', "leads outside"),
        ('<a href="../b.html">', "leads outside"),
        ('<a href="mailto:a@b">', "leads outside"),
        ('<b id="x"></b><i id="x"></i>', "two places are called x"),
    ],
)
def test_a_broken_link_is_seen(html, wrong):
    found = broken_links({"a.html": html, "b.html": '<p id="there">'}, set())
    assert [line.partition(": ")[0] for line in found] == ["a.html"] * bool(wrong)
    assert not wrong or wrong in found[0]


def test_a_broken_link_anywhere_stops_the_build(tmp_path, monkeypatch):
    """Here all links to other files, as only these two are shown."""
    alone = copy(library())
    alone.sources = [library().by_path[path] for path in ("npbert/__init__.py", "npbert/layers/linear.py")]
    alone.root, alone.chapters = tmp_path, []
    monkeypatch.setattr(build, "Library", lambda root: alone)
    monkeypatch.setattr(build, "reference_pages", lambda library: [])
    with pytest.raises(FileError, match=r"^\d+ links of the site are broken; the first: .*\.html: .* leads nowhere$"):
        build_site(tmp_path / "site", root=tmp_path, proofs=made_up_proofs())
    assert list(tmp_path.iterdir()) == []


def test_the_files_stand_in_the_order_of_the_readme():
    """Which is that of npbert.__all__: each file comes where its first public name does, within its room."""
    paths = [source.path for source in library().sources]
    tree = (ROOT / "README.md").read_text(encoding="utf-8").partition("npbert/\n├──")[2].partition("```")[0]
    rooms = re.findall(r"^(?:[├└]── | *)(\w+)(?:/|\.py) ", f"├──{tree}", re.MULTILINE)
    rooms = [room for room in rooms if any(path.startswith((f"npbert/{room}/", f"npbert/{room}.py")) for path in paths)]
    of_paths = list(dict.fromkeys(path.split("/")[1].removesuffix(".py") for path in paths))
    assert len(rooms) > 10 and [room for room in of_paths if room in rooms] == rooms
    homes = [getattr(getattr(npbert, name), "__module__", "").replace(".", "/") + ".py" for name in npbert.__all__]
    files = list(dict.fromkeys(home for home in homes if home in paths))
    for room in ("core", "layers", "blocks", "models", "optim"):
        of_room = [home for home in files if home.startswith(f"npbert/{room}/")]
        assert len(of_room) > 2 and sorted(of_room, key=paths.index) == of_room


def test_the_contents_and_the_way_from_page_to_page_have_that_order():
    order = [chapter.page for chapter in library().chapters] + [source.page for source in library().sources]
    listed = re.findall(r'href="((?:docs|npbert)/[^"#]*)"', page("index.html").partition('id="chapters"')[2])
    of_files = [path for path in dict.fromkeys(listed) if path in order and path != "npbert/__init__.html"]
    in_rooms = [path for path in order if path in of_files]
    assert sorted(of_files) == sorted(in_rooms) and [path for path in of_files if "/layers/" in path] == [
        path for path in in_rooms if "/layers/" in path
    ]
    path, walked = "index.html", []
    while following := re.search(r'<a rel="next" href="([^"]*)"', page(path)):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), following[1]))
        walked.append(path)
    assert walked[: len(order)] == order and sorted([*walked, "index.html"]) == sorted(pages())


def test_every_line_of_every_file_is_shown_but_for_docstrings():
    for source in library().sources:
        shown = code_of(page(source.page))
        docstrings = set()
        for number, line in enumerate(source.lines, 1):
            if line.strip() and number not in shown:
                docstrings.add(number)
        for number, text in shown.items():
            assert text.strip() == source.lines[number - 1].strip(), f"{source.path}, line {number}"
        left_out = [number for number in docstrings if not _in_docstring(source, number)]
        assert left_out == [], source.path


def _in_docstring(source, number):
    """Whether a line belongs to the first statement of a module, a class or a function, and that is a text."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, documented) and ast.get_docstring(node)]
    return any(node.body[0].lineno <= number <= node.body[0].end_lineno for node in nodes)


@pytest.mark.parametrize("room", ["npbert", "npbert.training", "npbert.data", "npbert.gradcheck"])
def test_the_reference_has_every_public_name(room):
    source = library().definitions.sources[room]
    names = public_names(source)
    module = __import__(room, fromlist=["__all__"])
    assert names == module.__all__
    assert re.findall(r'<section class="entry" id="([^"]*)"', page(f"api/{room}.html")) == names


def test_the_reference_says_how_a_thing_is_called_and_what_it_is():
    entry = page("api/npbert.html").partition('id="Linear"')[2].partition("<section")[0]
    assert "__init__(in_features: int, out_features: int, init: Init)" in re.sub("<[^>]*>", "", entry)
    assert "y = x W + b" in entry and "Linear.backward" in entry and "dW = xᵀ dy" in entry


def test_it_is_the_same_whenever_it_is_built():
    """In another process, whose sets have another order."""
    code = (
        "import hashlib, sys; sys.path.insert(0, sys.argv[1])\n"
        "from tests.pages.built_site import new_site\n"
        "print(hashlib.sha256(repr(sorted(new_site().items())).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "OPENBLAS_NUM_THREADS": "1"}
    here = hashlib.sha256(repr(sorted(built().items())).encode()).hexdigest()
    run = [sys.executable, "-c", code, str(ROOT)]
    there = subprocess.run(run, capture_output=True, text=True, check=True, env=environment, cwd=ROOT)
    assert there.stdout.strip() == here


def test_a_list_of_steps_is_a_table_whose_words_go_on_in_another_line():
    lines = ["one step, as it is", f"second    {'what it does ' * 5}", "another", "last      and more"]
    html = aligned(lines, str)
    assert html.count("<tr>") == 4
    assert '<td colspan="2">one step, as it is</td>' in html
    assert f'<td class="words">{("what it does " * 5).strip()}</td>' in html
    assert aligned(["one(", "two(  # words"], str) == "", "code is no table"


def test_where_the_chapters_and_the_planted_bugs_are_not_installed_it_says_so(tmp_path):
    """As with a wheel, where npbert stands in a folder with other packages."""
    alone = Library(tmp_path)
    assert "The chapters stand in docs/" in contents_page(alone, made_up_proofs(), 0).body
    linear = source_page(alone, alone.by_path["npbert/layers/linear.py"], Panels(alone, made_up_proofs(), []))
    assert "The planted bugs stand in tests/planted" in linear.body and "1,001 derivatives" in linear.body
    paths = [source.path for source in alone.sources]
    assert paths.index("npbert/layers/linear.py") < paths.index("npbert/layers/gelu.py")


def test_what_the_room_hands_out():
    assert site_package.__all__ == ["Proof", "build_site", "prove"]
