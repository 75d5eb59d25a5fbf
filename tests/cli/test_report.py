"""`npbert report`: a page about a run, or one line that says why there is none."""

import sys

import pytest

from npbert import BertForSequenceClassification
from tests.pages.runs import METRICS, SHOWN, write_run
from tests.training.tiny import write_checkpoint


@pytest.fixture
def folder(tmp_path):
    write_checkpoint(tmp_path / "run" / "model", BertForSequenceClassification)
    return write_run(tmp_path / "run", metrics=METRICS[:2], layers=(), shown=SHOWN["masked"])


def test_the_page_is_in_the_folder_of_the_run_or_where_it_is_wanted(npbert, tmp_path, folder, monkeypatch):
    path = folder / "report.html"
    assert npbert("report", folder) == (0, f"{path} is written; open it in a browser\n".encode(), "")
    assert "What it guesses for hidden words" in path.read_text(encoding="utf-8")
    written = []
    monkeypatch.setattr("npbert.cli.pages.write_report", lambda *given: written.append(given))
    assert npbert("report", folder, "-q", "--output", tmp_path / "a.html") == (0, b"", "")
    assert written == [(str(folder), str(tmp_path / "a.html"))]


@pytest.mark.parametrize("given", [True, False])
def test_a_place_that_cannot_be_written_is_said_before_the_work(npbert, folder, monkeypatch, given):
    monkeypatch.setattr("npbert.cli.pages.write_report", lambda *_: pytest.fail("it begins"))
    path = folder / "report.html"
    path.mkdir()
    assert npbert("report", folder, *(["--output", path] if given else [])).error == f"{path}: Is a directory"


def test_one_line_says_what_is_wrong(npbert, tmp_path, folder, monkeypatch):
    assert "is not the folder of a run: it has no settings.toml" in npbert("report", tmp_path).error
    assert "none/a.html: No such file" in npbert("report", folder, "--output", tmp_path / "none" / "a.html").error
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "this needs the package matplotlib, which is not installed: " in npbert("report", folder).error
    assert not list(tmp_path.rglob("*.html"))
