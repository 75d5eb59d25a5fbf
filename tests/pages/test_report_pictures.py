"""What the pictures of a report are drawn from, and how a probability is written."""

import pytest

from npbert import BertForSequenceClassification
from npbert.pages.report import read_run
from npbert.pages.report.parts import percent
from npbert.pages.report.pictures import attention_section, curves_section
from tests.pages.runs import SHOWN, write_run
from tests.training.tiny import write_checkpoint

for module, extra in (("matplotlib", "plot"), ("tomlkit", "train"), ("tokenizers", "hf")):
    pytest.importorskip(module, reason=f"{module} is not installed: pip install -e '.[{extra}]'")


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    monkeypatch.setattr("npbert.pages.report.pictures.picture", lambda *_: "")


def test_the_best_step_is_ringed_in_the_curves_alone(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr("npbert.pages.report.pictures.plot_curves", lambda *_, **how: given.append(how))
    curves_section(read_run(write_run(tmp_path / "run", shown=[{**SHOWN["masked"][-1], "best_step": 10}])))
    assert [how.get("best_step") for how in given] == [10, None]


@pytest.mark.parametrize("longest", [10, 32])
def test_the_heads_read_as_much_as_a_picture_and_the_model_have_room_for(tmp_path, monkeypatch, longest):
    drawn = []
    monkeypatch.setattr("npbert.pages.report.pictures.attention_figure", lambda _, tokens: drawn.append(tokens))
    write_checkpoint(tmp_path / "run" / "model", BertForSequenceClassification, max_position_embeddings=longest)
    row = SHOWN["labels"][-1]
    long = {**row["worst"][0], "texts": ["the cat sees a dog . " * 9]}
    attention_section(read_run(write_run(tmp_path / "run", shown=[{**row, "worst": [long]}])))
    assert [len(tokens) for tokens in drawn] == [min(longest, 16)]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (None, "–"),
        (0.0, "0%"),
        (0.0009, "&lt;\u00a00.1%"),
        (0.001, "0.1%"),
        (0.0994, "9.9%"),
        (0.0995, "10%"),
        (1.0, "100%"),
    ],
)
def test_a_probability_is_short_and_html(share, shown):
    assert percent(share) == shown
