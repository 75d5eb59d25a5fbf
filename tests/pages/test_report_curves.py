"""The curves of a report, its facts, and runs beside each other."""

import html
import json
import re

import numpy as np
import pytest

import npbert
from npbert.pages.report import comparison_page, pictures, read_run, report_page
from npbert.pages.report.facts import command_of, facts_of
from tests.pages.runs import METRICS, SHOWN, masked, write_run
from tests.pages.shared import Parsed
from tests.training.tiny import make_trainer

for module, extra in (("matplotlib", "plot"), ("tomlkit", "train"), ("tokenizers", "hf")):
    pytest.importorskip(module, reason=f"{module} is not installed: pip install -e '.[{extra}]'")


def test_the_curves(tmp_path):
    """Training and held-out numbers in one chart, the best model ringed there alone, and a number that was not finite
    marked where it came."""
    best = [{**SHOWN["masked"][-1], "best_step": 10, "baselines": {"loss": 3.0}}]
    whole, steps = pictures.curves(read_run(write_run(tmp_path / "run", shown=best)))
    loss, accuracy = whole.charts
    assert loss.count('<path class="curve training ') == loss.count('<path class="curve held-out ') == 1
    assert loss.count('class="dot best"') == 1 and loss.count('class="baseline"') == 1 and "cross" not in loss
    assert "✕ held out: no number at 1 of its steps, first at 20." in accuracy and accuracy.count('class="cross"') == 1
    assert "not finite (NaN or infinite)" in whole.words
    assert len(steps.charts) == 2 and "best" not in "".join(steps.charts)


def test_a_long_run_is_smoothed_before_its_raw_points(tmp_path):
    rows = [{"step": step, "loss": 4 - step / 1000 + (-1) ** step} for step in range(1, 2001)]
    ((drawn,), *_) = (one.charts for one in pictures.curves(read_run(write_run(tmp_path / "run", metrics=rows))))
    raw, smooth = re.findall('<path class="curve training (.*?)" d="(.*?)"', drawn)
    heights = [[float(pair.split()[1]) for pair in re.split("[ML]", path)[1:]] for _, path in (raw, smooth)]
    turns = [np.abs(np.diff(each[len(each) // 2 :])).max() for each in heights]
    assert raw[0].endswith("raw") and turns[0] > 50 and turns[1] < 5 and len(drawn) < 40_000
    stops = json.loads(html.unescape(re.search('data-stops="(.*?)"', drawn)[1]))
    assert stops["names"] == ["training, smoothed"] and stops["rows"][-1][0] == 2000
    assert stops["rows"][-1][2] == pytest.approx(2, abs=0.1)


def test_runs_compared(tmp_path):
    changes = {"one/run": {"seed": 0}, "two/run": {"seed": 1, "metrics": METRICS[:2]}, "two/again": {"seed": 1}}
    for name in changes:
        (tmp_path / name).parent.mkdir(exist_ok=True)
    runs = [read_run(write_run(tmp_path / name, **change)) for name, change in changes.items()]
    words = Parsed(comparison_page(runs)).words
    assert "Runs compared: one/run, two/run, two/again" in words and "seed 0 1 1" in words and "corpus" not in words
    assert "loss, held out, last 2.75 3.25 2.75" in words and "two/run, held out" in words
    assert "all their settings are the same" in Parsed(comparison_page([runs[0], runs[0]])).words


def test_facts(tmp_path):
    folder = make_trainer(tmp_path / "run", steps=4, learning_rate=0.5).folder
    make_trainer(folder, steps=4, learning_rate=0.5).train()
    facts = facts_of(read_run(folder))
    assert facts["steps"] == "4" and re.fullmatch(r"\d+\.\d s", facts["time"]) and "tokens a second" in facts["speed"]
    assert facts["made by"] == f"npbert {npbert.__version__}"
    made = command_of(read_run(write_run(tmp_path / "made", seed=3, held_out=["a b"], keep_state=False)))
    assert made == f"npbert pretrain {tmp_path}/made --no-keep-state --corpus books --held-out 'a b' --seed 3"


def test_the_same_guess_is_folded(tmp_path):
    shown = [masked(10, "dog"), masked(20, "dog"), masked(30, "the")]
    folded = Parsed(report_page(read_run(write_run(tmp_path / "run", shown=shown, layers=())))).words
    assert "1. the dog 50% → 50% the: 25% → 25% ✓ the 50%" in folded


def test_a_token_of_any_length_fits(open_page, tmp_path):
    long = masked(10, "x" * 10_000)
    long["sentences"][0]["tokens"][2] = "y" * 10_000
    run = write_run(tmp_path / "run", shown=[long], layers=())
    (tmp_path / "long.html").write_text(report_page(read_run(run)), encoding="utf-8")
    page = open_page(tmp_path / "long.html", width=360)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.hover("figure.chart svg")
    assert re.match(r"step \d+: training [\d.]+", page.inner_text("figure.chart output"))
    page.focus("figure.chart svg")
    page.keyboard.press("Home")
    assert page.inner_text("figure.chart output") == "step 10: training 3, held out 3.25"
