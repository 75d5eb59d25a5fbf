"""`npbert plot`, `npbert page` and `npbert report`: a file is written, or one line says why there is none."""

import json
import re
import shlex
import shutil

import pytest

from npbert.pages.site.build import number_data
from tests.pages.runs import METRICS, SHOWN, write_run

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install -e '.[plot]'")


@pytest.fixture
def folder(checkpoints):
    return checkpoints["fill-mask"]


@pytest.fixture
def run(checkpoints, tmp_path, monkeypatch):
    """The folder of a run, with a model. The pictures in its report, which take seconds, are not drawn."""
    monkeypatch.setattr("npbert.pages.report.page.as_bytes", lambda *_: b"")
    shutil.copytree(checkpoints["classify"], tmp_path / "run" / "model")
    return write_run(tmp_path / "run", metrics=METRICS[:2], layers=(), shown=SHOWN["masked"])


def data_of(path):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    return json.loads(found[1])


PICTURES = {
    "attention {folder} 'the cat sat' 'a dog $ran$ 😀'": ["share of attention", "cat", "dog"],
    "gradients {folder} 'the cat sat' .": ["layer 2"],
    "curves {run}": ["held out"],
    "embeddings {folder} {texts}": [" one", " two", " a road"],
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture(npbert, tmp_path, folder, run, name, monkeypatch):
    texts, path, saved = tmp_path / "texts", tmp_path / "picture.svg", []
    texts.write_text("the cat\tone\na dog\ttwo\nthe mat\tone\n\na road\n", encoding="utf-8")
    monkeypatch.setattr("npbert.cli.pages.save_figure", lambda *given: saved.append(given))
    result = npbert("plot", *shlex.split(name.format(folder=folder, run=run, texts=texts)), "--output", path)
    assert (result.status, result.out.decode(), result.err) == (0, f"{path} written\n", "")
    ((figure, place),) = saved
    shown = {text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))}
    assert place == path and set(PICTURES[name]) <= shown, shown


def test_a_page_is_written(npbert, folder, tmp_path):
    """The answer is the best guess, unless it is given."""
    path, texts = tmp_path / "page.html", ("the [MASK] sat", "a [MASK] [MASK]")
    said = f"{path} written; open it in a browser\n".encode()
    guesses = npbert("fill-mask", folder, "--top-k", 1, stdin="\n".join(texts).encode()).rows
    best = [mask[0]["token"] for row in guesses for mask in row["masks"]]
    for options, out, wanted in (
        ([], said, best),
        (["-q", "--answer", "cat", "dog", "ran"], b"", ["cat", "dog", "ran"]),
    ):
        assert npbert("page", folder, *texts, "--output", path, *options) == (0, out, "")
        data = data_of(path)
        right = [label for example in data["examples"] for label in example["labels"] if label != -100]
        assert [data["vocabulary"][label] for label in right] == wanted
        assert tuple(example["text"] for example in data["examples"]) == texts


def test_a_page_from_nothing_trains_a_model_for_it(npbert, tmp_path, monkeypatch):
    monkeypatch.setattr("npbert.pages.site.build.number_data", lambda: number_data(steps=1))
    monkeypatch.chdir(tmp_path)
    assert npbert("page") == (0, b"page.html written; open it in a browser\n", "")
    assert "[MASK]" in data_of(tmp_path / "page.html")["examples"][0]["text"]
    assert "page.html already exists; to replace it, give --output page.html" in npbert("page").err


def test_a_report_is_in_the_folder_of_the_run_or_where_it_is_wanted_but_in_no_other_file(
    npbert, tmp_path, run, monkeypatch
):
    path = run / "report.html"
    assert npbert("report", run) == (0, f"{path} written; open it in a browser\n".encode(), "")
    assert "What it guesses for masked words" in path.read_text(encoding="utf-8")
    assert npbert("report", run, "-q", "--output", path) == (0, b"", ""), "it takes the place of a page"
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run, tmp_path / "other")
    assert npbert("report", run, "other") == (0, b"compared.html written; open it in a browser\n", "")
    assert "None: all their settings are the same." in (tmp_path / "compared.html").read_text(encoding="utf-8")
    path.write_text("good\ta good film\n", encoding="utf-8")
    assert f"{path} is not a page of npbert, and would be lost" in npbert("report", run).err
    assert path.read_text(encoding="utf-8") == "good\ta good film\n"
    path.unlink()
    path.mkdir()
    assert npbert("report", run).error == f"{path} is a folder, wanted a file"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "plot attention {folder} cat --output a.gif",
            "--output is 'a.gif', wanted a name that ends in .png, .svg or .pdf",
        ),
        (
            "plot attention {folder} a b c --output a.png",
            "TEXT is ('a', 'b', 'c'), wanted one text or a pair",
        ),
        ("plot embeddings {folder} three --output a.png", "three, line 1: 3 columns, wanted a text, or a text and a l"),
        (
            "page {folder} '[mask]' --output a",
            "text 1 is '[mask]', wanted a [MASK] that is not cut off",
        ),
        ("page {folder} --output a", "TEXT is missing, wanted a line with [MASK]: npbert page FOLDER"),
        ("page {folder} [MASK] --answer cat dog --output a", "2 answers for 1 [MASK]: wanted one for each, or none"),
        ("page nowhere [MASK] --output none/a", "none/a: No such file or directory"),  # before any model is looked for
        ("report {folder}", "is not a run of npbert pretrain or npbert finetune: it has no settings.toml"),
    ],
)
def test_one_line_says_what_is_wrong(npbert, tmp_path, monkeypatch, folder, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name, text in {"one": "only one\n", "three": "a\tb\tc\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert message in npbert(*shlex.split(arguments.format(folder=folder))).error
    assert {path.name for path in tmp_path.iterdir()} == {"one", "three"}
