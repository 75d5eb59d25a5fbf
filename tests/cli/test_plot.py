"""`npbert plot`: a file with a picture, or one line that says why there is none."""

import pytest

from tests.pages.runs import write_run

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install -e '.[plot]'")


@pytest.fixture
def folder(checkpoints):
    return checkpoints["fill-mask"]


PICTURES = {
    "attention": (["the cat sat", "a dog $ran$ 😀"], "share of attention"),
    "gradients": (["the cat sat", "."], "layer 2"),
    "curves": ([], "held out"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture(npbert, tmp_path, folder, name):
    options, wanted = PICTURES[name]
    source = write_run(tmp_path / "run") if name == "curves" else folder
    path = tmp_path / "picture.svg"
    result = npbert("plot", name, source, *options, "--output", path)
    assert (result.status, result.out.decode(), result.err) == (0, f"{path} is written\n", "")
    assert wanted in path.read_text(encoding="utf-8")
    if name == "curves":
        assert npbert("plot", name, source, *options, "--output", path, "-q").out == b""


def test_a_map_of_texts_with_labels_or_without(npbert, tmp_path, folder):
    (tmp_path / "a.txt").write_text("the cat\tone\na dog\ttwo\nthe mat\tone\n\na road\n", encoding="utf-8")
    path = tmp_path / "picture.svg"
    assert npbert("plot", "embeddings", folder, tmp_path / "a.txt", "--output", path).err == ""
    svg = path.read_text(encoding="utf-8")
    assert all(f"> {label}<" in svg for label in ("one", "two", "a road"))
    for wrong, message in (
        ("a\tb\tc\n", "a.txt, line 1: 3 columns, wanted a text, or a text and a label"),
        ("only one\n", "a.txt has 1 text; a map needs at least 2"),
    ):
        (tmp_path / "a.txt").write_text(wrong, encoding="utf-8")
        assert npbert("plot", "embeddings", folder, tmp_path / "a.txt", "--output", path).error.endswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("attention FOLDER cat --output a.gif", "a.gif: a picture's name ends in .png, .svg or .pdf"),
        ("attention FOLDER cat --output none/a.png", "none/a.png: No such file or directory"),
        ("attention FOLDER a b c --output a.png", "there are 3 texts, wanted one or a pair: a text with spaces needs"),
        ("gradients FOLDER cat --seed -1 --output a.png", "--seed is -1, wanted at least 0"),
        ("attention FOLDER cat --layers 7 --output a.png", "layer is 7, wanted 1 to 2, or -2 to -1 from the end"),
        ("attention nowhere cat --output a.png", "nowhere"),
        ("gradients FOLDER EMPTY --output a.png", "there is no word to hide in '': give a text"),
        ("curves FOLDER --output a.png", "metrics.jsonl: there are no numbers of a run to draw"),
    ],
)
def test_one_line_says_what_is_wrong(npbert, tmp_path, monkeypatch, folder, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = npbert("plot", *({"FOLDER": str(folder), "EMPTY": ""}.get(word, word) for word in arguments.split()))
    assert message in result.error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [[], ["heads"], ["curves", "run"]])
def test_what_is_missing_is_said_with_the_usage(npbert, arguments):
    with pytest.raises(SystemExit, match="2"):
        npbert("plot", *arguments)
