"""The reading site: what its own part adds to Sphinx's, that it is whole or not at all, and what the search finds."""

import sys
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import Mock

import pytest

from npbert.catalogue import CATALOGUE
from npbert.cli import main
from npbert.io import FileError, how_to_install
from npbert.pages.site import build, sources
from tests.pages.number import exported

if not all(map(find_spec, ("sphinx", "myst_parser", "furo"))):  # imported by the tests alone, as that takes a second
    pytest.skip("Sphinx is not installed: pip install -e '.[site]'", allow_module_level=True)
ROOT = Path(__file__).parent.parent.parent
PROOFS = {block: f"PASS of {block}" for block in CATALOGUE}
CHAPTER = """# 1. One

[linear.py](../npbert/layers/linear.py) and [the model](../npbert/models/bert.py), <script>alert(1)</script>

```python npbert/layers/linear.py
x = tape.take(self)
```
"""
PROVE = build.prove
LINEAR = "npbert/layers/linear.html"


def write_site(folder, chapter=CHAPTER, files=("linear", "gelu", "elementwise")):
    """A site of a chapter, some layers, and the page of a model that has learned nothing."""
    root = folder.with_suffix(".root")
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "1.md").write_text(chapter, encoding="utf-8")
    (root / "tests").mkdir()
    (root / "tests" / "planted").symlink_to(ROOT / "tests" / "planted")
    (root / "npbert").symlink_to(sources.PACKAGE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "SHOWN", ("layers",))
        patch.setattr(sources, "REFERENCE", ("plots",) if files else ())
        patch.setattr(sources, "files_of", lambda room: [f"npbert/layers/{name}.py" for name in files])
        patch.setattr(build, "PACKAGE", root / "npbert")
        patch.setattr(build, "prove", lambda: PROOFS)
        patch.setattr(build, "number_data", exported)
        return build.build_site(folder)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "site"
    write_site(folder)
    return folder


def text_of(site, path):
    return unescape((site / path).read_text(encoding="utf-8"))


def test_a_layer_has_forward_beside_backward_the_tape_the_check_bugs_chapter_and_exercise(site):
    text = text_of(site, LINEAR)
    pair = text.partition('class="pair')[2].partition("<section")[0]
    assert 0 < pair.index(">forward<") < pair.index(">backward<") and "dW = xᵀ dy" in pair
    assert "Linear: x (8, 6)" in text
    assert "Linear: PASS of Linear" in text
    assert "<details><summary><b>" in text
    assert 'href="../../docs/1.html"' in text and f"number.html#file={LINEAR.replace('html', 'py')}" in text
    assert "Exercise 02: write it yourself" in text


def test_links_to_files_lead_to_their_pages(site):
    chapter = text_of(site, "docs/1.html")
    assert f'href="../{LINEAR}"' in chapter and 'href="../npbert/models/bert.html"' in chapter
    assert 'id="L-1"' in text_of(site, "npbert/models/bert.html")


def test_an_activation_is_its_value_beside_its_slope_and_a_base_class_has_the_checks_of_all(site):
    pair = text_of(site, "npbert/layers/gelu.html").partition('class="pair')[2]
    assert 0 < pair.index(">value<") < pair.index(">value_and_slope<")
    for block in ("GELU", "ReLU", "Tanh"):
        assert f"{block}: PASS of {block}" in text_of(site, "npbert/layers/elementwise.html")


def test_a_link_that_leads_nowhere_stops_the_build_and_is_named(tmp_path):
    with pytest.raises(FileError, match=r"docs/1\.md:3: WARNING: .*nowhere\.md"):
        write_site(tmp_path / "site", "# 1. One\n\n[two](nowhere.md)\n", files=())
    assert list((tmp_path / "site").iterdir()) == []


@pytest.fixture
def quick(monkeypatch):
    """build_site writes one page, and checks nothing."""

    def run(source, made):
        made.mkdir()
        (made / ".buildinfo").touch()
        (made / "index.html").write_text("new")

    monkeypatch.setattr(build, "_run_sphinx", run)
    monkeypatch.setattr(build, "site_sources", lambda *_: {})
    monkeypatch.setattr(build, "number_data", lambda: {"": ""})
    monkeypatch.setattr(build, "prove", dict)


def test_a_site_takes_the_place_of_an_earlier_one_and_of_nothing_else(tmp_path, quick, capsys):
    folder = tmp_path / "a" / "site"
    assert main(["site", str(folder)]) == 0
    assert capsys.readouterr().out == f"1 pages written; open {folder / 'index.html'}\n"
    (folder / "index.html").write_text("old")
    assert main(["-q", "site", str(folder)]) == 0
    assert capsys.readouterr() == ("", "") and (folder / "index.html").read_text() == "new"
    assert sorted(path.name for path in folder.iterdir()) == [".buildinfo", "index.html"]
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["site", str(tmp_path)]) == 1
    assert f"{tmp_path} has files that are not of a site; choose a new folder" in capsys.readouterr().err


def test_no_site_is_made_while_a_derivative_is_wrong_or_without_a_library(tmp_path, quick, monkeypatch, capsys):
    wrong = Mock(ok=False, __str__=lambda self: "FAIL")
    monkeypatch.setattr(build, "check_gradients", lambda *_, **__: wrong)
    monkeypatch.setattr(build, "prove", PROVE)
    assert main(["site", str(tmp_path / "site")]) == 1
    assert "a derivative is wrong, so no site is written: Linear: FAIL" in capsys.readouterr().err
    assert list((tmp_path / "site").iterdir()) == []
    monkeypatch.setitem(sys.modules, "furo", None)
    assert main(["site", str(tmp_path / "site")]) == 1
    assert f"the package furo is missing; to install it: {how_to_install('site')}" in capsys.readouterr().err


def test_it_asks_for_nothing_else_and_forward_is_beside_backward_on_a_phone_above_it(open_page, site):
    page = open_page(site / LINEAR, within=site)
    for width, beside in ((1600, True), (390, False)):
        page.set_viewport_size({"width": width, "height": 900})
        forward, backward = (each.bounding_box() for each in page.locator(".pair > *").all())
        assert (backward["x"] > forward["x"]) == beside and (backward["y"] > forward["y"]) != beside
        assert page.evaluate("document.documentElement.scrollWidth") <= width
