"""The pictures of a report: what they are drawn from, and how they look in a real browser."""

import itertools
import re

import pytest

from npbert import BertForSequenceClassification
from npbert.pages.report import read_run
from npbert.pages.report.page import percent
from npbert.pages.report.pictures import attention, curves
from tests.pages.runs import SHOWN, drawn_report, write_run
from tests.training.tiny import write_checkpoint

for module, extra in (("matplotlib", "plot"), ("tomlkit", "train"), ("tokenizers", "hf")):
    pytest.importorskip(module, reason=f"{module} is not installed: pip install -e '.[{extra}]'")


@pytest.fixture
def no_pictures(monkeypatch):
    monkeypatch.setattr("npbert.pages.report.pictures.picture", lambda *_: "")


def test_the_best_step_is_ringed_in_the_curves_alone(tmp_path, monkeypatch, no_pictures):
    given = []
    monkeypatch.setattr("npbert.pages.report.pictures.plot_curves", lambda *_, **how: given.append(how))
    curves(read_run(write_run(tmp_path / "run", shown=[{**SHOWN["masked"][-1], "best_step": 10}])))
    assert [how.get("best_step") for how in given] == [10, None]


@pytest.mark.parametrize("longest", [10, 32])
def test_the_heads_read_as_much_as_a_picture_and_the_model_have_room_for(tmp_path, monkeypatch, no_pictures, longest):
    drawn = []
    monkeypatch.setattr("npbert.pages.report.pictures.attention_figure", lambda _, tokens: drawn.append(tokens))
    write_checkpoint(tmp_path / "run" / "model", BertForSequenceClassification, max_position_embeddings=longest)
    row = SHOWN["labels"][-1]
    long = {**row["worst"][0], "texts": ["the cat sees a dog . " * 9]}
    attention(read_run(write_run(tmp_path / "run", shown=[{**row, "worst": [long]}])))
    assert [len(tokens) for tokens in drawn] == [min(longest, 16)]


def test_a_probability_is_short():
    shown = {None: "–", 0.0: "0%", 0.0009: "<\u00a00.1%", 0.001: "0.1%", 0.0994: "9.9%", 0.0995: "10%", 1.0: "100%"}
    assert {share: percent(share) for share in shown} == shown


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
    assert page.locator("svg[role=img]").count() == page.locator("figcaption").count() == 7
