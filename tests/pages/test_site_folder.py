"""The folder that the reading site is written into: whole or not at all, over nothing else, and from any line ends."""

import sys
from unittest.mock import Mock

import pytest

from npbert.cli import main
from npbert.gradcheck import GradientError
from npbert.io.extras import how_to_install
from npbert.pages.site import build, build_site
from npbert.pages.site.library import read_chapters
from npbert.pages.site.panels import read_bugs
from npbert.pages.site.sources import read_package
from tests.pages.built_site import ROOT, library


@pytest.fixture
def quick(monkeypatch):
    """build_site writes two files, and checks nothing."""
    files = {"index.html": b"new", "docs/a.html": b"new"}
    monkeypatch.setattr(build, "site_files", lambda library, proofs, number: dict(files))
    monkeypatch.setattr(build, "number_data", dict)
    monkeypatch.setattr(build, "Library", lambda root: type("Nothing", (), {"chapters": []})())
    monkeypatch.setattr(build, "prove", lambda processes: [])
    return files


def test_a_site_takes_the_place_of_an_earlier_one(tmp_path, quick):
    quick["old.html"] = b"old"
    assert build_site(tmp_path / "site") == 3
    del quick["old.html"]
    assert build_site(tmp_path / "site") == 2
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert found == ["site/docs/a.html", "site/index.html", "site/site-files.txt"]


@pytest.mark.parametrize(("name", "is_site"), [("notes.txt", False), ("index.html", False), ("docs/notes.txt", True)])
def test_a_folder_with_other_files_is_refused(name, is_site, tmp_path, quick, capsys):
    if is_site:
        build_site(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    assert main(["site", str(tmp_path)]) == 1
    said = f"{tmp_path}: holds {name}, which is not a part of a site: give a new folder\n"
    assert capsys.readouterr().err.endswith(f"npbert: error: {said}")
    assert (tmp_path / name).read_text() == "mine"


def test_a_file_is_no_folder(tmp_path, quick):
    (tmp_path / "site").write_text("mine")
    with pytest.raises(FileExistsError, match="is a file, wanted a folder"):
        build_site(tmp_path / "site")


def test_lines_may_end_as_on_windows(tmp_path):
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "tests" / "planted").glob("*.txt")]:
        there = tmp_path / path.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_chapters(tmp_path / "docs") == library().chapters
    own = [source for source in library().sources if source.path.startswith("npbert/")]
    assert read_package(tmp_path) == own
    assert read_bugs(tmp_path) == read_bugs(ROOT) != []


def test_the_command_says_where_to_begin(tmp_path, quick, capsys):
    assert main(["site", str(tmp_path / "a" / "site")]) == 0
    said = capsys.readouterr()
    assert said.out == f"2 pages; begin with {tmp_path / 'a' / 'site' / 'index.html'}\n"
    assert "checking every derivative" in said.err
    assert main(["-q", "site", str(tmp_path / "a" / "site")]) == 0
    assert capsys.readouterr() == ("", "")


def test_no_site_is_made_while_a_derivative_is_wrong(tmp_path, quick, monkeypatch, capsys):
    monkeypatch.setattr(build, "prove", Mock(side_effect=GradientError("Linear: FAIL")))
    assert main(["site", str(tmp_path / "site")]) == 1
    assert "no site is made while a derivative is wrong: Linear: FAIL" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["markdown_it", "jinja2", "pygments"])
def test_without_a_library_one_line_says_how_to_install_it(tmp_path, monkeypatch, capsys, module, quick):
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["site", str(tmp_path / "site")]) == 1
    package = module.replace("markdown_it", "markdown-it-py")
    (said,) = capsys.readouterr().err.splitlines()
    assert f"this needs the package {package}, which is not installed: {how_to_install('site')}" in said


def test_a_place_where_nothing_can_be_written_is_refused_before_the_check(tmp_path, quick, monkeypatch, capsys):
    monkeypatch.setattr(build, "prove", Mock(side_effect=AssertionError("it begins")))
    (tmp_path / "file").touch()
    assert main(["site", str(tmp_path / "file" / "site")]) == 1
    assert capsys.readouterr().err == f"npbert: error: {tmp_path}/file/site: cannot be written: Not a directory\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
