"""The page "Follow one number back" as a reader uses it: stepping, pointing, following, in a real browser."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import npbert
from tests.pages.models import loss_and_gradients
from tests.pages.number import (
    EXAMPLES,
    HOSTILE,
    LAYER,
    STEP,
    TRACE,
    VOCABULARY,
    go_to,
    number,
    small_model,
)

QUERY = f"{LAYER}.attention.query"
FOCUS = "Object.values(document.activeElement.dataset).map(Number)"


def cell(name, row, column):
    return f'#stage table[data-array="{name}"] td[data-row="{row}"][data-column="{column}"]'


def test_it_proves_its_own_backward_when_it_opens(open_page, path):
    page = open_page(path)
    page.wait_for_selector("#proof.good")
    report = page.evaluate("npbert.proof")
    count = sum(parameter.value.size for parameter in small_model().parameters())
    assert report["ok"] and report["count"] == count and 0 < report["worst"]["error"] < 1e-7
    assert f"✓ Checked: all {count}\xa0derivatives" in page.inner_text("#proof")
    page.select_option("#sentences", "1")  # what was checked was another sentence
    page.wait_for_function(f"npbert.state.report && npbert.proof.worst.error !== {report['worst']['error']!r}")


def test_keys_and_buttons_step_and_one_shows_more_digits(page):
    cell = page.locator("#stage td[data-row]").first
    narrow = cell.bounding_box()["width"]
    page.click("#digits")
    assert cell.bounding_box()["width"] > narrow
    last = page.evaluate(f"{TRACE}.steps.length") - 1
    loss = page.evaluate(f"{TRACE}.steps.findLastIndex(step => step.phase === 'forward')")
    for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("ArrowRight", last),
                      ("Home", 0), ("ArrowLeft", 0)]:  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate(STEP) == step, key
    for button, step in [("forward", 1), ("forward", 2), ("back", 1), ("loss", loss), ("last", last), ("first", 0)]:
        page.click(f"#go-{button}")
        assert page.evaluate(STEP) == step, button
        assert page.inner_text("#step-count") == f"{step + 1} / {last + 1}"
    page.locator("#scrubber").fill("5")
    assert page.evaluate(STEP) == 5
    assert page.inner_text("#step-title") == page.evaluate(f"{TRACE}.steps[5].title")
    assert "step 6 of" in page.text_content("#step-said")
    page.click("#map button.backward:has-text('layer 0 attention')")
    assert page.evaluate(f"{TRACE}.steps[{STEP}].part").startswith("bert.encoder.layers.0.attention")
    assert page.inner_text(".phase") == "backward"
    assert page.get_attribute("#map .here", "data-from") == str(page.evaluate(STEP)), "its first step"


def test_space_plays_until_it_is_pressed_again(page):
    page.evaluate("globalThis.setInterval = (play) => { globalThis.tick = play; return 1; }")  # no test waits for it
    page.evaluate("globalThis.clearInterval = () => { globalThis.tick = () => {}; }")
    page.keyboard.press(" ")
    for step in (1, 2):
        page.evaluate("tick()")
        assert page.evaluate(STEP) == step
    page.keyboard.press(" ")
    assert page.get_attribute("#go-play", "aria-pressed") == "false"
    page.evaluate("tick()")
    assert page.evaluate(STEP) == 2


def test_the_tape_fills_then_empties(page):
    sizes = page.evaluate(
        f"{TRACE}.steps.map((_, step) => (npbert.goToStep(step), document.querySelectorAll('#tape-stack li').length))"
    )
    top = sizes.index(max(sizes))
    assert sizes == sorted(sizes[: top + 1]) + sorted(sizes[top + 1 :], reverse=True)
    assert sizes[0] == sizes[-3] == 1  # the table of words is looked up first: it keeps its ids
    assert max(sizes) > 10 and sizes[-2:] == [0, 0]  # after it, there is only the update
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#tape-news").startswith("This step took 6\xa0ids off. The tape is empty again")


def test_the_lines_that_compute_a_step_are_lit(page):
    go_to(page, f"s.part === '{QUERY}' && s.phase === 'backward'")
    assert any("matmul(x.T, dy)" in text for text in page.locator("#source details[open] .lit").all_text_contents())
    lines = (Path(npbert.__file__).parent / "layers/linear.py").read_text(encoding="utf-8").splitlines()
    shown = page.locator("#source details[open] .line").evaluate_all(
        "all => all.map(e => [e.dataset.line, e.textContent])"
    )
    assert len(shown) > 10
    for number_of_line, text in shown:
        assert text.strip() == lines[int(number_of_line) - 1].strip()


def test_a_number_is_told_when_it_is_pointed_at_or_has_the_focus_and_tab_returns_to_the_last_one(page):
    go_to(page, f"s.part === '{QUERY}'")
    value = small_model().bert.encoder.layers[0].attention.query.weight.value
    page.hover(cell(f"{QUERY}.weight", 1, 2))
    assert page.inner_text("#readout strong").endswith(f"[1, 2] = {value[1, 2]}".replace("-", "\u2212"))
    page.focus(cell(f"{QUERY}.weight", 0, 0))
    for key, row, column in [("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("End", 1, 3), ("ArrowRight", 1, 3),
                             ("ArrowUp", 0, 3), ("Home", 0, 0), ("ArrowLeft", 0, 0)]:  # fmt: skip
        page.keyboard.press(key)
        focus, told = page.evaluate(f"[{FOCUS}, document.querySelector('#readout strong').innerText]")
        assert focus == [row, column] and f"[{row}, {column}] = " in told, key
    step = page.evaluate(STEP)
    page.keyboard.press("Enter")
    assert page.evaluate("npbert.state.chosen") == {"name": f"{QUERY}.weight", "row": 0, "column": 0}
    assert page.evaluate("document.activeElement.id") == "followed-title"
    page.keyboard.press("Tab")
    assert page.evaluate("Boolean(document.activeElement.closest('#followed'))")
    page.keyboard.press("Escape")  # follow nothing: the cell has the focus, as before
    assert page.is_hidden("#followed")
    assert page.evaluate(FOCUS) == [0, 0]
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "scrubber"
    assert page.evaluate(STEP) == step, "arrows inside a heat map do not step"
    page.locator(".words-used summary").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(STEP) == step + 1
    go_to(page, f"s.part === '{QUERY}'")
    assert page.locator("#stage table").count() == page.locator("#stage td[data-row][tabindex='0']").count()
    assert page.get_attribute(cell(f"{QUERY}.weight", 0, 0), "tabindex") == "0"


def test_a_number_is_followed_up_to_the_loss_and_the_trail_leads_back(page):
    name = f"d({QUERY}.weight)"
    go_to(page, f"s.part === '{QUERY}'", "Last")
    page.click(cell(name, 1, 2))
    bars = page.locator("#followed .bars button.bar")
    assert bars.count() == len(EXAMPLES[0].input_ids)  # a term for each token
    terms = [float(text.replace("\u2212", "-")) for text in page.locator("#followed .bar-value").all_inner_texts()]
    _, gradients = loss_and_gradients(small_model(), EXAMPLES[:1])
    assert sum(terms) == pytest.approx(gradients[f"{QUERY}.weight"][1, 2], rel=1e-3, abs=1e-8)
    assert page.locator("#stage td.chosen").count() == page.locator("#stage td.twin").count() == 1
    bars.first.click()
    page.keyboard.press("Backspace")
    assert page.evaluate("npbert.state.chosen") == {"name": name, "row": 1, "column": 2}
    page.keyboard.press("Backspace")  # there is nothing before the first
    assert page.evaluate("npbert.state.trail.length") == 1
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUS) == [1, 2]
    page.keyboard.press("Enter")
    bars.nth(3).hover()
    assert page.locator("#stage td.lit").count() >= 2
    bars.nth(3).click()
    assert page.evaluate("npbert.state.chosen.name") == "d(bert.encoder.layers.0.Q)"
    assert page.evaluate("document.activeElement.id") == "followed-title"
    page.click("#ways >> text=Follow the largest to the loss")
    path = page.evaluate("npbert.state.trail")
    assert path[-1]["name"] == "d(loss)" and len(path) > 15
    assert page.evaluate("document.activeElement.id") == "followed-title"
    assert page.evaluate(f"{TRACE}.steps[{STEP}].kind") == "CrossEntropy"
    assert "Follow the largest" not in page.inner_text("#ways")
    assert page.locator(".trail li").count() == 5
    page.click(".trail .fold")
    assert page.locator(".trail li").count() == len(path)
    chain = page.locator(".chain li").evaluate_all(
        "items => items.map(item => [...item.querySelectorAll('.number')].map(e => e.innerText))"
    )
    factors = [number(factor.removeprefix("× ")) for factor, _ in chain[1:]]
    assert number(chain[-1][1]) == pytest.approx(math.prod(factors), rel=1e-3)
    said = page.inner_text(".chain-said")
    whole = number(page.inner_text(".chain li:first-child .quiet").split()[-1])
    share = abs(number(chain[-1][1]) / whole)  # d(loss) is 1
    assert chain[-1][1] in said and ("explains little" in said) == (share < 0.5)
    assert number(re.search(r"([\d.]+)\xa0% of it", said)[1]) / 100 == pytest.approx(share, abs=0.006)
    page.keyboard.press("Backspace")
    assert page.evaluate("npbert.state.chosen.name") == "d(logits)"
    page.click(".trail li:first-child button")
    assert page.locator(".trail li").count() == 1
    assert page.evaluate("npbert.state.chosen.name") == name
    page.locator(".factor").first.click()
    assert page.evaluate("npbert.state.chosen.name") == "bert.encoder.layers.0.x"  # dW = Σ x dy: to x, not to dy
    page.click(".trail li:first-child button")
    page.click("#ways >> text=Its value")
    assert page.evaluate("npbert.state.chosen.name") == f"{QUERY}.weight"
    page.click("#ways >> text=Its gradient")
    page.click("button[aria-label='follow no number']")
    assert page.evaluate("npbert.state.chosen") is None
    slopes = [number(text.split()[-1]) for text in page.locator("#tries li").all_inner_texts()]
    weights = np.concatenate([grad.ravel() for grad in gradients.values() if grad.ndim > 1])
    most = weights[np.argsort(-np.abs(weights))][: len(slopes)]
    assert slopes == pytest.approx(most, rel=1e-4), "the most of all, whichever array they are in"
    page.click("#tries button >> nth=0")
    chosen = page.evaluate(f"(c => npbert.explain({TRACE}, c.name, c.row, c.column).value)(npbert.state.chosen)")
    assert abs(chosen) == pytest.approx(max(abs(grad).max() for grad in gradients.values() if grad.ndim > 1))


def test_hostile_words_show_as_text_and_another_answer_is_another_loss(page):
    page.select_option("#sentences", "2")
    assert page.locator("#words .word").all_inner_texts() == [VOCABULARY[index] for index in EXAMPLES[2].input_ids]
    assert HOSTILE[0] in page.locator("#stage th").all_inner_texts()
    assert page.locator("script").count() == 2
    page.select_option("#sentences", "0")
    assert page.input_value("#guesses select") == "6"
    page.select_option("#guesses select", "8")
    assert page.input_value("#guesses select") == "8"
    other = replace(EXAMPLES[0], labels=[-100, -100, -100, 8, -100, -100])
    loss, _ = loss_and_gradients(small_model(), [other])
    assert page.evaluate(f"{TRACE}.loss") == pytest.approx(loss, rel=1e-12)
    assert page.evaluate("document.activeElement.matches('#guesses select')")
    right = page.inner_text("#guesses .is-right .number")
    assert float(right.removesuffix("\xa0%")) == pytest.approx(100 * math.exp(-loss), abs=0.51)
