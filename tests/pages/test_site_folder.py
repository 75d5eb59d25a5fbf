"""The folder that the reading site is written into: whole or not at all, over nothing else, and from any line ends."""

import sys
from pathlib import Path

import pytest

from npbert.cli import main
from npbert.gradcheck import GradientError
from npbert.pages.site import build, build_site
from npbert.pages.site.library import Library
from npbert.pages.site.planted import read_bugs
from tests.pages.built_site import ROOT, library


@pytest.fixture
def quick(monkeypatch):
    """build_site writes two files, and checks nothing."""
    files = {"index.html": b"new", "docs/a.html": b"new"}
    monkeypatch.setattr(build, "site_files", lambda library, proofs: dict(files))
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


@pytest.mark.parametrize("before", [{"notes.txt": "mine"}, {"index.html": "mine"}])
def test_a_folder_with_other_files_is_refused(before, tmp_path, quick, capsys):
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    assert main(["site", str(tmp_path)]) == 1
    (name,) = before
    assert capsys.readouterr().err == (
        f"npbert: error: {tmp_path}: holds {name}, which is no part of a site: give a new folder\n"
    )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_of_a_whole_disk_no_more_is_looked_at_than_one_file(tmp_path, quick, monkeypatch):
    def disk(folder, _):
        yield folder / "notes.txt"
        pytest.fail("it goes on")

    monkeypatch.setattr(Path, "rglob", disk)
    with pytest.raises(FileExistsError, match=r"holds notes\.txt"):
        build_site(tmp_path)


def test_lines_may_end_as_on_windows(tmp_path):
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "tests" / "planted").glob("*.py")]:
        there = tmp_path / path.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    there = Library(tmp_path)
    assert there.chapters == library().chapters
    own = [source.path for source in library().sources if source.path.startswith("npbert/")]
    assert [source.path for source in there.sources if source.path.startswith("npbert/")] == own
    bugs = [read_bugs(each.root, each.definitions) for each in (there, library())]
    assert [bug.says for bug in bugs[0]] == [bug.says for bug in bugs[1]]
    assert [bug.source.text for bug in bugs[0]] == [bug.source.text for bug in bugs[1]]


def test_a_file_in_an_earlier_site_is_not_lost(tmp_path, quick):
    build_site(tmp_path)
    (tmp_path / "docs" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"holds docs/notes\.txt"):
        build_site(tmp_path)
    assert (tmp_path / "docs" / "notes.txt").read_text() == "mine"


def test_a_file_is_no_folder(tmp_path, quick):
    (tmp_path / "site").write_text("mine")
    with pytest.raises(FileExistsError, match="is a file, wanted a folder"):
        build_site(tmp_path / "site")


def test_the_command_says_where_to_begin(tmp_path, quick, capsys):
    assert main(["site", str(tmp_path / "a" / "site")]) == 0
    said = capsys.readouterr()
    assert said.out == f"2 pages; begin with {tmp_path / 'a' / 'site' / 'index.html'}\n"
    assert "checking every derivative" in said.err
    assert main(["-q", "site", str(tmp_path / "a" / "site")]) == 0
    assert capsys.readouterr() == ("", "")


def test_no_site_is_made_while_a_derivative_is_wrong(tmp_path, quick, monkeypatch, capsys):
    def wrong(processes):
        raise GradientError("Linear: WRONG")

    monkeypatch.setattr(build, "prove", wrong)
    assert main(["site", str(tmp_path / "site")]) == 1
    assert "no site is made while a derivative is wrong: Linear: WRONG" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_the_library_for_markdown_one_line_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    monkeypatch.setattr(build, "Library", lambda root: library())
    assert main(["site", str(tmp_path / "site")]) == 1
    said = capsys.readouterr().err
    assert "this needs the package markdown-it-py, which is not installed" in said.splitlines()[-1]
    assert "checking every derivative" not in said


@pytest.mark.parametrize("place", ["file/site", "nowhere/there"])
def test_a_place_where_nothing_can_be_written_is_refused_before_the_check(tmp_path, quick, monkeypatch, capsys, place):
    (tmp_path / "file").touch()

    def full(prefix, dir):
        raise OSError(30, "Read-only file system", f"{dir}/{prefix}abc")

    if place != "file/site":
        monkeypatch.setattr(build.tempfile, "mkdtemp", full)
    assert main(["site", str(tmp_path / place)]) == 1
    said = capsys.readouterr().err
    why = "Not a directory" if place == "file/site" else "Read-only file system"
    assert said == f"npbert: error: {tmp_path / place}: cannot be written: {why}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
