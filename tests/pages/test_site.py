"""The reading site: its links, its order, that every line is in it, and that it is always the same."""

import ast
import json
import os
import posixpath
import re
import runpy
import subprocess
import sys
from copy import copy
from html import unescape
from importlib import import_module

import numpy as np
import pytest

import npbert
from npbert.io.files import FileError
from npbert.pages.html import ICON
from npbert.pages.number.page import number_page
from npbert.pages.site import build, build_site
from npbert.pages.site.build import broken_links
from npbert.pages.site.contents import contents_page, public_names
from npbert.pages.site.examples import example_of, examples_in
from npbert.pages.site.library import read_chapters
from npbert.pages.site.number import NUMBER_PAGE, number_data
from npbert.pages.site.panels import Panels
from npbert.pages.site.source_page import source_page
from npbert.pages.site.sources import read_package
from tests.pages.built_site import ROOT, built, code_of, library, made_up_number, made_up_proofs, page

TAGS = """html head meta title link noscript style script body a nav b span form input div button main header p h1 h2 h3
h4 ul ol li details summary article section aside code pre table thead tbody tr th td dl dt dd small img figure
figcaption strong em hr blockquote br"""
is_page = re.compile(r".*\.html").fullmatch


def test_nothing_points_outside():
    """Every link is looked at when the site is built, if it stands in quotes: see test_a_broken_link_is_seen."""
    for path in filter(is_page, built()):
        assert page(path).count(f'<link rel="icon" href="{ICON}">') == 1 and "<noscript>" in page(path)
        assert len(re.findall(r'<meta name="description" content="[^"]+">', page(path))) == 1
        if path == NUMBER_PAGE:
            continue
        if re.search(r'\s(?:href|src|id)=[^"]', page(path)):  # in a text, or in a tag?
            assert not re.search(r'<[^>]*\s(?:href|src|id)=[^"]', page(path)), "the search for links would not see it"
        assert set(re.findall(r"<(\w+)", page(path))) <= set(TAGS.split())
    for name in ("site.css", "site.js"):
        assert not re.search(r"https?:|url\(|@import|fetch\(|import ", built()[name].decode())


@pytest.mark.parametrize(
    ("html", "wrong"),
    [
        ('<a href="b.html#there">', None),
        ('<a href="b.html#here">', "there is no such place"),
        ('<a href="c.html">', "leads nowhere"),
        ('<a href="number.html#file=a.py">', None),
        ('<a href="number.html#file=b.py">', "there is no such place"),
        ('<link rel="icon" href="data:image/svg+xml,">', None),
        ('<a href="#up">', "there is no such place"),
        ('<img src="https://example.org/a.png">', "leads outside"),
        ('<a href="/b.html">', "leads outside"),
        ('<a href="../b.html">', "leads outside"),
        ('<b id="x"></b><i id="x"></i>', "two places are called x"),
    ],
)
def test_a_broken_link_is_seen(html, wrong):
    found = broken_links({"a.html": html, "b.html": '<p id="there">'}, {"number.html": ["file=a.py"]})
    assert [line.partition(": ")[0] for line in found] == ["a.html"] * bool(wrong)
    assert not wrong or wrong in found[0]


def test_a_broken_link_anywhere_stops_the_build(tmp_path, monkeypatch):
    """Here all links to other files, as only these two are shown."""
    alone = copy(library())
    alone.sources = [library().by_path[path] for path in ("npbert/__init__.py", "npbert/layers/linear.py")]
    alone.root, alone.chapters = tmp_path, []
    monkeypatch.setattr(build, "Library", lambda root: alone)
    monkeypatch.setattr(build, "reference_pages", lambda *_: [])
    with pytest.raises(FileError, match=r"^\d+ links of the site are broken; the first: .*\.html: .* leads nowhere$"):
        build_site(tmp_path / "site", root=tmp_path, proofs=made_up_proofs(), number=made_up_number())
    assert list(tmp_path.iterdir()) == []


def test_the_files_stand_in_the_order_of_the_readme():
    """It is that of npbert.__all__: each file comes where its first public name does, within its room."""
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
    listed = re.findall(r'href="(npbert/layers/[^"#]*)"', page("index.html").partition('id="chapters"')[2])
    assert list(dict.fromkeys(listed)) == [path for path in order if path in listed] != []
    path, walked = "index.html", []
    while following := re.search(r'<a rel="next" href="([^"]*)"', page(path)):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), following[1]))
        walked.append(path)
    assert walked[: len(order)] == order
    assert sorted([*walked, "index.html", NUMBER_PAGE]) == sorted(filter(is_page, built()))


def test_the_number_page_and_the_files_that_it_shows_lead_to_each_other():
    followed = made_up_number()["source"]["files"]
    assert "npbert/layers/linear.py" in followed
    for source in library().sources:
        href = f'href="{posixpath.relpath(NUMBER_PAGE, posixpath.dirname(source.page))}#file={source.path}"'
        assert (href in page(source.page)) == (source.path in followed)
    assert f'href="{NUMBER_PAGE}"' in page("index.html") and f'href="../{NUMBER_PAGE}"' in page("docs/see.html")
    assert '<a href="index.html">' in page(NUMBER_PAGE) and '<a href="index.html">' not in number_page(made_up_number())


def test_the_number_page_is_that_of_the_demo(tmp_path, monkeypatch):
    """Of as many steps."""
    written = tmp_path / "page.html"
    monkeypatch.setattr(sys, "argv", ["demo.py", "--page", str(written), "--epochs", "1"])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # which the demo would set
    monkeypatch.setattr("npbert.compute.keep_freed_memory", lambda: None)
    runpy.run_path(str(ROOT / "demo.py"), run_name="__main__")
    assert written.read_text(encoding="utf-8") == number_page(number_data(steps=8))


def test_every_line_of_every_file_is_shown_but_for_docstrings():
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for source in library().sources:
        shown, docstrings = code_of(page(source.page)), set()
        for node in ast.walk(source.tree):
            if isinstance(node, documented) and ast.get_docstring(node):
                docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        for number, text in shown.items():
            assert text.strip() == source.lines[number - 1].strip(), f"{source.path}, line {number}"
        whole = {number for number, line in enumerate(source.lines, 1) if line.strip()}
        assert whole - set(shown) <= docstrings, source.path
        assert len(shown.keys() & docstrings) < 2, "but for the line in a function inside of a function"
        assert not shown.keys() & set(range(1, source.tree.body[0].end_lineno + 1)), "it stands beside the code"
    bert = library().by_path["docs/bert.py"]  # each backward beside its forward
    assert page(bert.page).count('class="pair"') == len(re.findall(r"^def \w+_backward", bert.text, re.MULTILINE)) >= 10


def test_the_reference_has_every_public_name_and_says_how_a_thing_is_called_and_what_it_is():
    for room in ("npbert", "npbert.training", "npbert.data", "npbert.gradcheck"):
        names = public_names(library().definitions.sources[room])
        assert names == import_module(room).__all__
        assert re.findall(r'<section class="entry" id="([^"]*)"', page(f"api/{room}.html")) == names
    entry = page("api/npbert.html").partition('id="Linear"')[2].partition("<section")[0]
    assert "__init__(in_features: int, out_features: int, init: Init)" in re.sub("<[^>]*>", "", entry)
    assert "y = x W + b" in entry and "Linear.backward" in entry and "dW = xᵀ dy" in entry


def test_each_public_name_has_an_example_that_the_tests_run():
    examples = examples_in(library())
    assert [name for name in npbert.__all__ if not example_of(name, examples)] == ["__version__"]
    entry = page("api/npbert.html").partition('id="Pooler"')[2].partition("<section")[0]
    assert ">Pooler</a>" in entry and 'href="../docs/in_short.html#the-parts-of-an-encoder"' in entry


@pytest.mark.parametrize(
    ("fails", "explains"),
    [
        (lambda: npbert.Dropout(2), "Raises: ValueError unless 0 ≤ p < 1."),
        (lambda: npbert.BertConfig(vocab_size=9, hidden_size=9), "names the field, its value and what was wanted"),
        (lambda: npbert.Embedding(3, 2, npbert.Init(None))(np.array([7])), "IndexError for an id"),
        (lambda: npbert.Linear(2, 3, npbert.Init(None))(np.ones((4, 5))), "ValueError when x is not (N, I)"),
        (lambda: npbert.Tape().take(None), "TapeError when something else is on top, or nothing."),
    ],
)
def test_an_error_stands_below_what_explains_it_and_the_search_knows_it(fails, explains):
    with pytest.raises(Exception, match=r"\w") as stopped:
        fails()
    printed, found = str(stopped.value.args[-1]), page("errors.html")
    texts = map(unescape, re.findall(r'<li><a href="npbert/[^"]*">([^<]*)</a></li>', found))
    fit = [text for text in texts if re.fullmatch(".*".join(map(re.escape, text.split("…"))), printed, re.DOTALL)]
    text = max(fit, key=len)
    parts = [unescape(re.sub("<[^>]*>", "", part)).replace("\n", " ") for part in found.split("<section")]
    assert any(explains in part and text in part for part in parts)
    assert json.dumps(text, ensure_ascii=False) in built()["search.js"].decode()


def test_a_warning_stands_there_too():
    assert "longer than the … tokens that …, and … cut;" in unescape(page("errors.html"))


def test_it_is_the_same_whenever_it_is_built():
    """In another process, whose sets have another order."""
    code = "import json; from tests.pages.built_site import some_pages; print(json.dumps(some_pages()))"
    run = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "OPENBLAS_NUM_THREADS": "1"}
    elsewhere = json.loads(subprocess.run(run, capture_output=True, check=True, env=environment, cwd=ROOT).stdout)
    assert len(elsewhere) > 50
    assert [path for path, text in elsewhere.items() if text not in page(path)] == []


def test_where_the_chapters_and_the_planted_bugs_are_not_installed_it_says_so(tmp_path):
    """As with a wheel, where npbert stands in a folder with other packages."""
    alone = copy(library())
    alone.root, alone.chapters = tmp_path, read_chapters(tmp_path / "docs")
    assert "The chapters stand in docs/" in contents_page(alone, made_up_proofs(), 0).body
    linear = source_page(alone, alone.by_path["npbert/layers/linear.py"], Panels(alone, made_up_proofs(), []))
    assert "The planted bugs stand in tests/planted" in linear.body and "1,001 derivatives" in linear.body
    folded = re.findall(r'<details class="imports">(.*?)</details>', linear.body, re.DOTALL)
    assert len(folded) == 1 and "import" in folded[0]
    paths = [source.path for source in read_package(tmp_path)]
    assert paths.index("npbert/layers/linear.py") < paths.index("npbert/layers/gelu.py")
