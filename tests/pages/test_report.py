"""The report of a run: what is in its files is on the page, as text, whatever the text is; and how it looks."""

import itertools
import re
import shlex
from unittest.mock import Mock

import pytest

from npbert.io import METRICS_FILE, FileError
from npbert.pages.report import page
from npbert.pages.report.page import Run, comparison_page, report_page, write_report
from tests.pages.runs import METRICS, SHOWN, masked, write_run
from tests.pages.shared import Parsed, hostile
from tests.plots.hostile import HOSTILE

for module, extra in (("matplotlib", "plot"), ("tomlkit", "train"), ("tokenizers", "hf")):
    pytest.importorskip(module, reason=f"{module} is not installed: pip install -e '.[{extra}]'")

WANTED = {
    "masked": [
        "guesses for masked words",
        "unable [1] cat",
        "step 10 step 20",
        "1. the dog 50.0% the: 25.0% ✓ the 50.0%",
    ],
    "labels": ["examples, 40 are wrong at step 20. Here are 20 of", "first text second text good bad 98.7%"],
    "numbers": ["Of 1,234 held-out examples, these are furthest off", "far off 5 1.234"],
    "choices": ["ctx r w 50.0%"],
    "tags": ["true the model said Ann B-PER Lee I-PER sings Ann Lee B-LOC sings"],
    "answers": ["who? Ann Lee Ann Lee sings 50.0%", "… then Ann Lee sings again …"],
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory, checkpoints):
    """The report of a run with a model, all pictures drawn, which takes a second."""
    folder = write_run(tmp_path_factory.mktemp("drawn") / "run", shown=SHOWN["labels"])
    (folder / "model").symlink_to(checkpoints["classify"])
    write_report(folder)
    return folder / "report.html"


@pytest.fixture
def run(tmp_path, checkpoints, monkeypatch):
    """run(shown=…): the page of a run that has left these files, in a folder with a model. Most of its pictures are not
    drawn: that would take most of the time."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model").symlink_to(checkpoints["classify"])
    monkeypatch.setattr(page, "as_bytes", lambda *_: b"<svg/>")
    for name in ("plot_curves", "plot_layers", "plot_update_ratios", "plot_attention"):
        monkeypatch.setattr(page.plots, name, Mock())
    return lambda **files: report_page(Run(write_run(tmp_path / "run", **files)))


@pytest.mark.parametrize("kind", SHOWN)
def test_what_a_run_has_left_is_on_its_page(run, kind):
    found = Parsed(run(shown=SHOWN[kind]))
    assert found.open == [] and "script" not in found.tags
    always = ["The run was at step 20 when", "loss 3.25 2.75", "accuracy 0.25 –", "npbert pretrain FOLDER --settings"]
    assert [wanted for wanted in [*WANTED[kind], *always, "corpus books seed 0"] if wanted not in found.words] == []
    pictures = 5 + (kind in ("labels", "tags", "numbers"))
    assert found.tags.count("figcaption") == pictures == len(set(found.values("alt")))


@pytest.mark.parametrize("kind", SHOWN)
def test_text_shows_as_text(run, kind):
    usual, texts = Parsed(run(shown=SHOWN[kind])), itertools.cycle([*HOSTILE, "[MASK]"])
    several = [{**row, "worst": 5 * row.get("worst", [])[:1]} for _ in range(6) for row in SHOWN[kind]]
    html = run(shown=[hostile(row, texts) for row in several], corpus=["<script>", '"', "\u202e"])
    found = Parsed(html)
    assert found.open == [] and set(found.tags) <= {*usual.tags, "sub", "bdi", "u", "mark", "span", "br"}
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert HOSTILE[0] in found.words
    html.encode()


def test_the_file_has_its_pictures_in_it(drawn):
    found = Parsed(drawn.read_text(encoding="utf-8"))
    assert found.open == [] and found.tags.count("img") == found.tags.count("figure") == 6
    assert all(link.startswith(("#", "data:image/")) for link in found.values("src", "href"))


def test_a_run_that_goes_on_and_has_left_little(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "as_bytes", lambda *_: b"<svg/>")
    folder = write_run(tmp_path / "young", metrics=METRICS[:1], layers=(), shown=SHOWN["labels"])
    words = Parsed(report_page(Run(folder))).words
    for wanted in (
        "The run was at step 10 when this page was made",
        "No picture here: layers.jsonl has no gradient_norms above 0",
        "There is no evaluation on held-out data",
        "Which label it takes for which",
        "model is not a checkpoint",
    ):
        assert wanted in words
    path = folder / METRICS_FILE
    path.write_text(path.read_text(encoding="utf-8") + '{"step": 20, "lo', encoding="utf-8")
    assert Run(folder).step == 10, "a half line is not there yet"


def test_baselines_and_the_best_are_beside_the_numbers(run):
    words = Parsed(run(shown=[{**SHOWN["masked"][-1], "baselines": {"loss": 3.125}, "best_step": 10}])).words
    assert "held out step 10 (the best) step 20 baseline loss 3.25 2.75 3.125" in words
    assert "model/ is that of step 10." in words


def test_a_text_from_right_to_left_is_in_order(run):
    (row,) = SHOWN["answers"]
    html = run(shown=[{**row, "worst": [{**row["worst"][0], "excerpt": ["", "אחת", " שתיים שלוש"]}]}])
    assert "<bdi>… <mark>אחת</mark> שתיים שלוש …</bdi>" in html


@pytest.mark.parametrize(
    ("value", "baseline", "said"),
    [
        (0.05, 0.046, "5.0% of masked words right; the baseline that always predicts the most frequent answer "
            "gets 4.6%: it has barely learned."),
        (0.04, 0.046, "it has learned nothing yet"),
        (0.3, 0.046, "it has begun to learn"),
        (0.8, 0.046, "it has learned."),
        (0.8, None, "80.0% of masked words right."),
        (None, 0.046, "There is no evaluation on held-out data"),
    ],
)  # fmt: skip
def test_the_first_sentence_is_how_good_it_is(tmp_path, value, baseline, said):
    rows = [{"step": 10, "mlm_loss": 3.0}, {"step": 10, "eval_mlm_accuracy": value}]
    shown = [{**SHOWN["masked"][0], "baselines": {"mlm_accuracy": baseline}}]
    assert said in Run(write_run(tmp_path / "run", metrics=rows, shown=shown)).verdict()


def test_a_lower_loss_is_a_better_one(tmp_path):
    shown = [{**SHOWN["labels"][0], "goal": "loss", "baselines": {"loss": 0.69}}]
    folder = write_run(tmp_path / "run", metrics=[{"step": 10, "eval_loss": 0.3}], shown=shown)
    assert re.fullmatch(r"Loss 0\.3; .*gets 0\.69: it has learned\.", Run(folder).verdict())


def test_what_to_look_at(tmp_path):
    rows = [{"step": step, "eval_loss": loss} for step, loss in ((10, 3.0), (20, 2.0), (30, 2.5))]
    shown = [{**SHOWN["labels"][0], "counts": [[0, 8], [0, 11]]}]
    run = Run(write_run(tmp_path / "run", metrics=[*rows, {"step": 40, "loss": None}], shown=shown))
    for said, words in zip(run.notes(), ("step 20", "not finite", "every example the same label"), strict=True):
        assert words in said
    assert list(Run(write_run(tmp_path / "good", metrics=rows[:2])).notes()) == []


def test_runs_compared(tmp_path, run):
    changes = {"one": {"seed": 0}, "two": {"seed": 1, "metrics": METRICS[:2]}, "again": {"seed": 1}}
    runs = [Run(write_run(tmp_path / name, **change)) for name, change in changes.items()]
    words = Parsed(comparison_page(runs)).words
    assert re.search("Runs compared: 1. .*/one, 2. .*/two, 3. .*/again", words)
    assert "seed 0 1 1" in words and "corpus" not in words
    assert "came to There is no evaluation on held-out data" in words


def test_the_command_that_makes_it_again(tmp_path):
    folder = write_run(tmp_path / "a run")
    command = Run(folder).command()
    assert shlex.split(command) == ["npbert", "pretrain", "FOLDER", "--settings", f"{folder}/settings.toml"]


def test_a_run_without_numbers_has_no_report(tmp_path):
    folder = write_run(tmp_path / "run", metrics=())
    with pytest.raises(FileError, match=f"^{folder}.*metrics.jsonl has no numbers yet, wanted at least one step"):
        write_report(folder)
    assert not (folder / "report.html").exists(), "whole, or not there"


def test_it_fits_and_is_readable(open_page, drawn):
    page = open_page(drawn)
    for width, scheme in ((390, "dark"), (1600, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width, "only tables and pictures scroll"
        image = page.locator("figure img").first
        assert image.evaluate("(each) => getComputedStyle(each).backgroundColor") == "rgb(255, 255, 255)"
        assert image.evaluate("(each) => each.naturalWidth") > 300
        assert page.locator("table.wrong thead").is_visible() == (width > 390), "on a phone each cell has a line"


@pytest.mark.thorough
def test_a_token_of_any_length_fits(open_page, tmp_path):
    long = masked(10, "x" * 10_000)
    long["sentences"][0]["tokens"][2] = "y" * 10_000
    run = write_run(tmp_path / "run", shown=[long], layers=())
    (tmp_path / "long.html").write_text(report_page(Run(run)), encoding="utf-8")
    page = open_page(tmp_path / "long.html", width=360)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
