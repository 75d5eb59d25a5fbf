"""The report of a run: what is in its files is on the page, as text, whatever the text is; and how it looks."""

import itertools
import re
import shutil
from unittest.mock import Mock

import pytest

from npbert import BertForMaskedLM, BertForSequenceClassification
from npbert.io.files import FileError
from npbert.io.json_lines import METRICS_FILE
from npbert.pages.html import escape
from npbert.pages.report import pictures, read_run, report_page, write_report
from tests.pages.runs import METRICS, SHOWN, drawn_report, write_run
from tests.pages.shared import Parsed, hostile, strings, visible
from tests.plots.hostile import HOSTILE
from tests.training.tiny import write_checkpoint

for module, extra in (("matplotlib", "plot"), ("tomlkit", "train"), ("tokenizers", "hf")):
    pytest.importorskip(module, reason=f"{module} is not installed: pip install -e '.[{extra}]'")

WANTED = {
    "masked": ["guesses for hidden words", "unable [1] cat", "step 10 step 20", "1. the dog 50% the: 25% ✓ the 50%"],
    "labels": ["examples, 40 are wrong at step 20. Here are 20 of", "first text second text good bad 99%"],
    "numbers": ["Of 1,234 held-out examples, these are furthest off", "far off 5 1.234"],
    "choices": ["ctx r w 50%"],
    "tags": ["true Ann Lee PER sings the model said Ann Lee LOC sings"],
    "answers": ["who? Ann Lee Ann Lee sings 50%", "… then Ann Lee sings again …"],
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("model"), BertForSequenceClassification)


@pytest.fixture
def run(tmp_path, model, monkeypatch):
    """run(shown=…): the page of a run that has left these files, in a folder with a model. Its pictures are not drawn:
    that would take most of the time."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model").symlink_to(model)
    stub = '<svg id="{}" aria-label="{}"></svg>'.format
    monkeypatch.setattr(pictures, "inline_svg", lambda _, name, alt: stub(name, escape(alt)))
    for name in ("plot_layers", "plot_update_ratios", "attention_figure"):
        monkeypatch.setattr(pictures, name, Mock())
    return lambda **files: report_page(read_run(write_run(tmp_path / "run", **files)))


@pytest.mark.parametrize("kind", SHOWN)
def test_what_a_run_has_left_is_on_its_page(run, kind):
    html = run(shown=SHOWN[kind])
    page = Parsed(html)
    assert page.open == []
    always = ["It has ended, after 20 steps", "corpus books", "loss 3.25 2.75", "is right 0.25 –", "steps 20 "]
    always += [
        "npbert pretrain",
        "seed 0 where all random",
        "accuracy, the share",
        "What the words mean embeddings The tables",
    ]
    assert [wanted for wanted in [*WANTED[kind], *always] if wanted not in page.words] == []
    pictures = 8 + (kind in ("labels", "tags", "numbers"))
    assert page.tags.count("figcaption") == pictures
    named = page.values("aria-label")
    assert len(named) == len(set(named)) == pictures
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert all(link.startswith(("#", "data:")) for link in page.values("src", "href"))
    captions = re.findall("^<figcaption>(.*)</figcaption>", html, re.MULTILINE)
    assert len(captions) == pictures - 4 and min(map(len, captions)) > 60, "each says how it is read"


@pytest.mark.parametrize(("kind", "kept"), [*((kind, ()) for kind in SHOWN), ("tags", ("true", "predicted"))])
def test_text_shows_as_text(run, kind, kept):
    """kept: tags as they should be, so that there are names, of hostile words."""
    usual, texts = Parsed(run(shown=SHOWN[kind])), itertools.cycle([*HOSTILE, "[MASK]"])
    several = [{**row, "worst": 5 * row.get("worst", [])[:1]} for _ in range(6) for row in SHOWN[kind]]
    rows = [hostile(row, texts, ("kind", "step", *kept)) for row in several]
    html = run(shown=rows, corpus=["<script>", '"', "\u202e"])
    page = Parsed(html)
    assert page.open == []
    assert set(page.tags) <= {*usual.tags, "sub", "bdi", "u", "mark", "span", "br"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    html.encode()
    worst = rows[-1].get("worst", [])
    for text in strings([one["words"] for one in worst] if kept else worst):
        shown = visible(text)
        assert any(" ".join(each.split()) in page.words for each in (shown, f"{shown[:59]}…")), "a long label is cut"


def test_the_file_has_its_pictures_in_it():
    html = drawn_report().read_text(encoding="utf-8")
    page = Parsed(html)
    assert page.open == [] and page.tags.count("figure") == 9
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert all(link.startswith(("#", "data:image/")) for link in page.values("src", "href"))
    assert not re.findall(r"https?://(?!www\.w3\.org/)", html)


def test_a_run_that_goes_on_and_has_left_little(run, tmp_path):
    write_run(tmp_path / "young", metrics=METRICS[:1], layers=(), ended=False)
    words = Parsed(report_page(read_run(tmp_path / "young"))).words  # `run` leaves the pictures out
    assert "It had not ended when this page was made: it was at step 10. It may still be running" in words
    assert "This run wrote nothing down about its layers" in words
    assert "No picture here: no example was written down." in words
    path = tmp_path / "young" / METRICS_FILE
    path.write_text(path.read_text(encoding="utf-8") + '{"step": 20, "lo', encoding="utf-8")
    assert read_run(tmp_path / "young").step == 10, "a half line is not there yet"
    write_run(tmp_path / "young", shown=SHOWN["labels"])
    assert "No picture here: no model has been saved yet." in Parsed(report_page(read_run(tmp_path / "young"))).words


def test_without_the_weights_of_the_model_the_rest_is_there(run, tmp_path, model):
    (tmp_path / "run" / "model").unlink()
    shutil.copytree(model, tmp_path / "run" / "model", ignore=shutil.ignore_patterns("model.safetensors"))
    page = Parsed(run(shown=SHOWN["labels"]))
    assert "No picture here, as the model cannot be read: " in page.words
    assert "has no model.safetensors" in page.words
    assert page.tags.count("figure") == 8


_ANSWER, _LABEL = (SHOWN[kind][0]["worst"][0] for kind in ("answers", "labels"))
_SAME = "It gives every example the same label"
SAID = {
    "the baselines, beside the numbers and in the curves": (
        {"shown": [{**SHOWN["masked"][-1], "baselines": {"loss": 3.125, "accuracy": 0.125}, "best_step": 10}]},
        [
            "held out step 10 (the best) step 20 knowing frequencies loss 3.25 2.75 3.125 accuracy, the share",
            "The model in model/ is that of step 10.",
            "The rings mark step 10, whose model is the best.",
            "The dashed line, the baseline, is what knowing only how frequent words and labels are gives.",
        ],
        ["percent"],
    ),
    "only what is in the pictures": (
        {"shown": SHOWN["answers"], "metrics": [{"step": 10, "loss": 3.0, "eval_loss": 2.5, "eval_f1": 1.8}]},
        ["The f1 and the exact match are in percent.", "F1 (percent) 1.8"],
        ["An accuracy is", "baseline"],
    ),
    "squares in place of nats": ({"shown": SHOWN["numbers"], "task": "regression"}, ["square"], [" nats", "percent"]),
    "a model that always says the same": (
        {"shown": [{**SHOWN["labels"][0], "counts": [[0, 8], [0, 11]]}]},
        [_SAME],
        [],
    ),
    "a text from right to left in order": (
        {"shown": [{**SHOWN["answers"][0], "worst": [
            {**_ANSWER, "excerpt": "אחת שתיים שלוש", "true": [0, 3], "predicted": [4, 9]}]}]},
        ["<bdi>… <mark>אחת</mark> <u>שתיים</u> שלוש …</bdi>"],
        [],
    ),
    "a long label cut": (
        {"shown": [{**SHOWN["labels"][0], "worst": [{**_LABEL, "true": "x" * 10_000}]}]},
        [f"<bdi>{'x' * 59}…</bdi>"],
        ["x" * 60],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SAID)
def test_what_is_said_and_what_not(run, what):
    files, wanted, unwanted = SAID[what]
    html = run(**files)
    text = f"{html} {Parsed(html).words}"
    assert [words for words in wanted if words not in text] == []
    assert [words for words in unwanted if words in Parsed(html).words] == []


def test_what_is_no_run(tmp_path):
    file = tmp_path / "page.html"
    file.touch()
    for folder, message in (
        (tmp_path, "is not the folder of a run: it has no settings.toml; npbert pretrain and npbert finetune make one"),
        (tmp_path / "none", "is not the folder of a run: there is no such folder"),
        (file, "is not the folder of a run: it is a file"),
        (write_run(tmp_path / "run", metrics=()), "metrics.jsonl has no numbers yet: there is nothing to report"),
        (write_run(tmp_path / "b", metrics=[{"step": 1, "loss": "x"}]), "metrics.jsonl: loss is 'x', wanted a number"),
    ):
        with pytest.raises(FileError, match=f"^{re.escape(str(folder))}.*{re.escape(message)}"):
            write_report(folder, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists(), "whole, or not there"


def test_a_row_that_no_run_writes(run):
    for row in [
        {"kind": "another"},
        {"kind": ["labels"]},
        {"kind": "masked"},
        {"kind": "labels", "worst": 1},
        {**SHOWN["labels"][0], "counts": [[1]]},
        {**SHOWN["tags"][0], "worst": [{"words": ["a"], "true": [], "predicted": []}]},
        {**SHOWN["answers"][0], "worst": [{}]},
        {**SHOWN["numbers"][0], "pairs": [["a", "b"]]},
    ]:
        with pytest.raises(FileError, match=r"run: shown\.jsonl has a row that is not as a run writes it"):
            run(shown=[{"step": 1, **row}])


@pytest.mark.parametrize("longest", [10, 32])
def test_the_heads_read_as_much_as_a_picture_and_the_model_have_room_for(tmp_path, monkeypatch, longest):
    drawn = []
    monkeypatch.setattr(pictures, "picture", Mock())
    monkeypatch.setattr(pictures, "attention_figure", lambda _, tokens: drawn.append(tokens))
    write_checkpoint(tmp_path / "run" / "model", BertForMaskedLM, max_position_embeddings=longest)  # it has no pooler
    row = SHOWN["labels"][-1]
    long = {**row["worst"][0], "texts": ["the cat sees a dog . " * 9]}
    pictures.attention(read_run(write_run(tmp_path / "run", shown=[{**row, "worst": [long]}])))
    assert [len(tokens) for tokens in drawn] == [min(longest, 16)]


def test_it_fits_and_is_readable(open_page):
    page = open_page(drawn_report())
    for width, scheme in itertools.product((360, 1600), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width, "only tables and pictures scroll"
        light = []
        for where, what in (("svg text", "fill"), ("body", "backgroundColor")):
            color = page.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
            light.append(sum(map(float, re.findall(r"[\d.]+", color)[:3])))
        assert (light[0] - light[1] > 400) == (scheme == "dark")
        assert abs(light[0] - light[1]) > 400
        assert page.locator("table.wrong thead").is_visible() == (width > 360), "on a phone each cell has a line"
