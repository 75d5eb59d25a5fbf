"""The page's experiments, in a real browser: a number moved, a bug planted, a model trained; and how the page fits."""

import copy
import re

import pytest

from npbert.data import collate
from tests.pages.number import DENSE, EXAMPLES, STEP, TRACE, choose, go_to, heights, number, plant, small_model


def loss_with(value):
    """npbert's loss of the first sentence with another value of the weight that is moved."""
    model = copy.deepcopy(small_model())
    model.predictions.dense.weight.value[1, 2] = value
    return model.loss(collate(EXAMPLES[:1], pad_id=0)).loss


def test_a_weight_is_moved_the_loss_is_that_of_npbert_and_how_near_the_slope_was_is_said(page):
    start = small_model().predictions.dense.weight.value[1, 2]
    choose(page, DENSE, 1, 2)
    page.click("#tab-move")
    assert page.is_disabled("#move-back")
    assert number(page.get_attribute("#move-loss", "title")) == pytest.approx(loss_with(start), rel=1e-12)
    low, high = (float(page.get_attribute("#move-slider", end)) for end in ("min", "max"))
    assert [low, high] == pytest.approx([start - max(1, 2 * abs(start)), start + max(1, 2 * abs(start))])
    page.locator("#move-slider").fill(str(start + 0.5))
    moved = number(page.get_attribute("#move-value", "title"))
    assert moved == pytest.approx(start + 0.5, rel=1e-12)
    assert number(page.get_attribute("#move-loss", "title")) == pytest.approx(loss_with(moved), rel=1e-12)
    slope = page.evaluate(f"{TRACE}.arrays.get('d({DENSE})').values[1 * 4 + 2]")

    def off(to):
        change = loss_with(to) - loss_with(start)
        return pytest.approx(100 * abs((slope * (to - start) - change) / change), rel=0.06)

    assert number(page.inner_text("#move-slope")) == pytest.approx(slope, rel=1e-4)
    said = page.inner_text("#move-said")
    fell, promised = map(number, re.findall(r"(?:fell|rose|fall|rise) by ([\d.e\u2212]+\d)", said))
    assert fell == pytest.approx(abs(loss_with(moved) - loss_with(start)), rel=1e-4)
    assert promised == pytest.approx(abs(slope * (moved - start)), rel=1e-4)
    assert number(said.split("off by ")[1].split()[0]) == off(moved)
    assert page.locator("#move-chart path.curve").count() >= 3
    page.click("#move-back")
    assert number(page.get_attribute("#move-value", "title")) == start
    page.click("#move-more")
    said = page.inner_text("#move-said")
    assert "by +0.01," in said
    assert number(said.split("off by ")[1].split()[0]) == off(start + 0.01)
    page.select_option("#move-zoom", "100")
    ticks = [number(text) for text in page.locator("#move-chart .tick:not(.end)").all_text_contents()]
    assert len(set(ticks)) > 2 and max(ticks) - min(ticks) <= 0.04
    page.select_option("#move-zoom", "1")
    page.locator("#move-slider").fill(str(moved))
    page.click("#move-keep")
    assert page.evaluate(f"{TRACE}.loss") == pytest.approx(loss_with(moved), rel=1e-12)
    assert number(page.inner_text("#loss")) == pytest.approx(loss_with(moved), rel=1e-4)


def test_the_step_of_a_difference_has_two_sides(page):
    page.click("#tab-move")
    errors = {}
    for power in (-1, -5, -13):
        page.locator("#h-slider").fill(str(power))
        cells = page.locator("#h-table tr").evaluate_all(
            "rows => rows.map(row => [0, 3].map(n => row.cells[n].innerText))"
        )
        errors[power] = {name: number(text) for name, text in cells if text}
        assert number(page.inner_text("#h-value")) == 10.0**power
    assert errors[-1]["forward"] > errors[-5]["forward"] > errors[-5]["central"] < errors[-13]["central"]
    assert errors[-13]["complex"] < 1e-12
    best = [number(text) for text in re.findall(r"error ([\d.e\u2212]+)", page.inner_text("#h-said"))]
    assert errors[-5]["forward"] >= best[0] > best[1] > 0
    assert page.locator("#h-chart .curves path").count() == 3


def test_a_planted_bug_turns_the_check_red_where_it_is(page):
    plant(page, "scores-root")
    page.wait_for_selector("#check-said.bad")
    rows = page.locator(".wrong-row")
    assert "query" in rows.first.inner_text()
    assert "it is 1.41 times what it should be" in rows.first.inner_text()  # √d, for a head of two features
    assert "The first that is wrong on the way back is dQ" in page.text_content(":has(> .first-wrong button)")
    page.click(".first-wrong button")
    assert "dQ = dS K" in page.inner_text("#stage-head .wrong")
    page.click("#tab-break")
    page.wait_for_selector("#check-said.bad")
    assert "√d" in page.inner_text("#bug-note")
    rows.first.locator("button").click()
    assert page.evaluate("npbert.state.view") == "step"
    assert "query" in page.evaluate("npbert.state.chosen.name")
    assert page.locator("#stage td.chosen").count() == 1
    for bug, kind in (("table-decoder", "Decoder"), ("residual-past", "Fork")):
        plant(page, bug)
        page.locator(".first-wrong button").first.click()
        assert page.evaluate(f"{TRACE}.steps[{STEP}].kind") == kind
    plant(page, "loss-mean")
    page.wait_for_selector("#check-said.good")
    assert "In this sentence the bug changes nothing" in page.inner_text("#check-list")
    page.click("#check-list button")  # to a sentence with two hidden words
    page.wait_for_selector("#check-said.bad")
    page.click("#bug-out")
    page.click("#tab-break")
    page.wait_for_selector("#check-said.good")
    assert page.is_hidden("#bug-note")


def test_with_the_bug_the_loss_still_falls(page):
    page.click("#tab-break")
    assert page.is_disabled("#race")
    page.check("input[value='softmax-shares']")
    page.evaluate("globalThis.setTimeout = (work) => Promise.resolve().then(work)")  # no step waits for the next
    page.click("#race")
    page.wait_for_function("document.getElementById('race-said').textContent.startsWith('After 150 steps')")
    for curve in heights(page, "#race-chart")[:2]:
        assert curve[-1] > curve[0] + 10
    right, broken, start = map(float, re.findall(r"\d+\.\d+", page.inner_text("#race-said")))
    assert right < start
    assert broken < 0.9 * start
    assert "It fell in spite of the bug" in page.inner_text("#race-said")


def test_training_changes_the_guesses_and_can_be_taken_back(page):
    page.click("#tab-train")
    first = page.evaluate(f"{TRACE}.loss")
    page.click("#train-one")
    assert "1\xa0step," in page.inner_text("#train-said")
    assert page.evaluate(f"{TRACE}.loss") != first
    page.click("#train-ten")
    assert "11\xa0steps" in page.inner_text("#train-said")
    page.click("#train-fresh")
    assert page.inner_text("#train-said") == "no step yet"
    fresh, attention = page.evaluate(f"{TRACE}.loss"), page.inner_html("#train-attention")
    page.locator("#train-rate").fill("-1.5")
    assert page.inner_text("#train-rate-value") == "0.032"
    page.click("#train-run")
    page.wait_for_function(f"{TRACE}.loss < {fresh} / 4")
    page.click("#train-run")
    stopped = page.evaluate(f"{TRACE}.loss")
    page.evaluate("new Promise((done) => setTimeout(done, 50))")  # one more step would be done by then
    assert page.evaluate(f"{TRACE}.loss") == stopped
    assert page.inner_html("#train-attention") != attention
    assert page.locator("#train-chart path.solid").count() >= 1
    page.click("#train-trained")
    assert page.evaluate(f"{TRACE}.loss") == first


def test_tabs_answer_to_the_keyboard(page):
    page.focus("#tab-step")
    for key, view in [("ArrowRight", "move"), ("ArrowRight", "break"), ("ArrowLeft", "move"), ("ArrowLeft", "step"),
                      ("ArrowLeft", "train")]:  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate("[npbert.state.view, document.activeElement.id]") == [view, f"tab-{view}"]
        assert [page.is_visible(f"#view-{other}") for other in ("step", "move", "break", "train")].count(True) == 1
        assert page.is_visible(f"#view-{view}")


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1600, "dark")])
def test_it_fits_the_window(open_page, path, width, scheme):
    """Nothing sticks out, nothing is moved for readers who want that, and ink stands out against its ground."""
    page = open_page(path, width=width, color_scheme=scheme, reduced_motion="reduce")
    go_to(page, "s.tape.keeps.length")
    assert page.evaluate("getComputedStyle(document.querySelector('.tape .new')).animationName") == "none"
    page.locator("#stage td[data-row]").first.click()
    for view in ("step", "move", "break", "train"):
        page.click(f"#tab-{view}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        outside = page.evaluate(
            "width => [...document.querySelectorAll('main *, header *')]"
            ".filter(e => e.getBoundingClientRect().right > width && !e.closest('.scrolls, pre, .hidden'))"
            ".map(e => e.outerHTML.slice(0, 80))", width
        )  # fmt: skip
        assert outside == []
    ink, ground = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor"))
    brightness = [sum(map(int, colour[4:-1].split(","))) for colour in (ink, ground)]
    assert (brightness[0] < brightness[1]) == (scheme == "light")
    assert abs(brightness[0] - brightness[1]) > 500
