"""The page "Follow one number back" as a reader uses it, in a real browser."""

import math
import re

import pytest

from tests.pages.number import (
    CHOSEN,
    EXAMPLES,
    FOCUS,
    FORK,
    LAYER,
    QUERY,
    STEP,
    TABLE,
    TRACE,
    cell,
    choose,
    found_at,
    go,
    go_to,
    number,
    press,
    until,
    value,
)

SCALES = """(() => {
  const cells = [...document.querySelectorAll("#stage table[data-array^='d('] td[data-row]")];
  const scales = cells.flatMap((cell) => {
    const {row, column} = cell.dataset;
    const value = npbert.state.trace.arrays.get(cell.closest("table").dataset.array).at(Number(row), Number(column));
    const share = parseInt(cell.style.getPropertyValue("--share"));
    return share < 10 ? [] : [Math.abs(value) / share]; // the share is rounded
  });
  return [new Set(cells.map((cell) => cell.closest("table"))).size, Math.max(...scales) / Math.min(...scales)];
})()"""
"""How many gradients there are, and how far the numbers differ that a hundredth of full color stands for."""
STACKED = "(([a, b]) => a.offsetLeft === b.offsetLeft)(document.querySelectorAll('[aria-label=parameters] .figure'))"
STEEPEST = f"""Math.max(...[...npbert.state.model.parameters].filter(([, {{isMatrix}}]) => isMatrix).flatMap(
  ([name]) => [...{TRACE}.arrays.get(`d(${{name}})`).values].map(Math.abs)))"""
"""The size of the largest gradient of a weight."""


def test_keys_buttons_and_the_map_step(page):
    last = page.evaluate(f"{TRACE}.steps.length") - 1
    page.evaluate("document.activeElement.blur()")
    for key, step in (("ArrowRight", 1), ("End", last), ("ArrowRight", last), ("Home", 0), ("ArrowLeft", 0)):
        page.keyboard.press(key)
        assert page.evaluate(STEP) == step, key
    press(page, "#go-forward")
    assert (page.evaluate(STEP), page.input_value("#steps")) == (1, "1")
    page.select_option("#steps", "5")
    assert page.inner_text("#step-title") == page.evaluate(f"{TRACE}.steps[5].title")
    page.click("#guides")
    assert page.evaluate("tours.getBoundingClientRect().left === guides.getBoundingClientRect().left")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "guides"
    press(page, "#tab-break")
    page.click("#map [aria-label='forward: layer 1 attention']")
    assert page.locator("#stage td").count() > 0, "a step with something to see"
    page.click("#map [aria-label='backward: layer 1 attention']")
    assert page.evaluate(f"{TRACE}.steps[{STEP}].kind") == "Softmax", "the attention itself"
    assert page.get_attribute("#map [aria-current='step']", "aria-label") == "backward: layer 1 attention"


def test_the_tape_fills_then_empties_and_the_lines_that_compute_a_step_are_lit(page):
    last = page.evaluate(f"{TRACE}.steps.length")
    steps = [f"step={step}" for step in [*range(1, last, 4), last - 1, last]]
    sizes = found_at(page, steps, "document.querySelectorAll('#tape-stack li').length")
    top = sizes.index(max(sizes))
    assert sizes == sorted(sizes[: top + 1]) + sorted(sizes[top + 1 :], reverse=True)
    assert sizes[0] == 1 and max(sizes) > 10 and sizes[-2:] == [0, 0]  # the last is the update
    go_to(page, f"s.part === '{QUERY}' && s.phase === 'backward'")
    own = page.locator("#source > .code")
    assert any("matmul(x.T, dy)" in text for text in own.locator(".lit").all_text_contents())
    page.click(cell(f"d({QUERY}.weight)", 1, 2))
    assert own.locator(".lit").all_text_contents() == ["    self.weight.add_grad(matmul(x.T, dy))\n"]
    choose(page, "d(loss)", 0, 0)
    assert own.count() == 0, "no line computes the 1 with which backward begins"
    choose(page, "p", 0, 6)
    assert "p \u2212 1 at the right word" in page.inner_text("#followed")
    go(page, "tour=residual:1")
    assert "attention_norm(x +" in own.locator(".lit").last.inner_text() and page.is_visible(cell(f"{LAYER}.x", 0, 0))
    go(page, "step=first:backward Decoder&bug=table-decoder&number=answer:dE")
    lit = own.locator(".lit").all_text_contents()
    assert lit == ["    self.table.add_grad(matmul(dlogits.T, h))\n"], "of the step shown, though its bug adds nothing"
    press(page, "#go-back")  # to another step: the sum of this one goes
    assert page.evaluate(CHOSEN) is None and page.is_hidden("#followed")


def test_a_number_is_told_and_the_keyboard_goes_from_number_to_number(page):
    go_to(page, f"s.part === '{QUERY}'")
    page.hover(cell(f"{QUERY}.weight", 1, 2))
    told = number(page.get_attribute(cell(f"{QUERY}.weight", 1, 2), "title").partition(" = ")[2].split()[0])
    assert told == pytest.approx(value(page, f"{QUERY}.weight", 1, 2), rel=1e-7)
    assert page.evaluate(STACKED)  # the bias under its matrix
    page.focus(cell(f"{QUERY}.weight", 0, 0))
    for key, row, column in (
        ("ArrowRight", 0, 1),
        ("ArrowDown", 1, 1),
        ("End", 1, 3),
        ("ArrowUp", 0, 3),
        ("Home", 0, 0),
    ):
        page.keyboard.press(key)
        assert page.evaluate(FOCUS) == [row, column], key
    page.keyboard.press("Enter")
    assert page.evaluate(f"[{CHOSEN}.name, document.activeElement.id]") == [f"{QUERY}.weight", "followed-title"]
    page.keyboard.press("Escape")  # follow nothing: the cell has the focus, as before
    assert page.evaluate(FOCUS) == [0, 0]


def test_a_number_is_followed_up_to_the_loss_and_the_trail_leads_back(page):
    name = f"d({QUERY}.weight)"
    go_to(page, f"s.part === '{QUERY}'", "Last")
    page.click(cell(name, 1, 2))
    bars = page.locator("#followed .bars button.bar")
    assert bars.count() == len(EXAMPLES[0].input_ids)  # a term for each token
    terms = [number(text) for text in page.locator("#followed .bar-value").all_inner_texts()]
    assert sum(terms) == pytest.approx(value(page, name, 1, 2), rel=1e-3, abs=1e-8)
    bars.nth(3).click()
    assert page.evaluate(f"{CHOSEN}.name") == f"d({LAYER}.Q)"
    press(page, "#ways >> text=Follow the largest to the loss")
    trail = page.evaluate("npbert.state.trail")
    assert trail[-1]["name"] == "d(loss)" and len(trail) > 15
    press(page, ".trail li >> text=more")
    factors = re.findall(r"× (\S+) = ([^\s,]+)", page.inner_text(".trail"))
    assert len(factors) == len(trail) - 1
    assert number(factors[-1][1]) == pytest.approx(math.prod(number(factor) for factor, _ in factors), rel=1e-2)
    itself, brought = re.findall(r"itself \((\S+)\) = (\S+)", page.inner_text(".trail"))[0]
    assert number(brought) == pytest.approx(number(factors[-1][1]) * number(itself), rel=1e-3)
    assert f"This one path brings {brought}, " in page.inner_text(".chain-said")
    page.keyboard.press("Backspace")
    assert page.evaluate(f"{CHOSEN}.name") == "d(logits)"
    press(page, ".trail li:first-child button")
    press(page, "#followed .factor")
    assert page.evaluate(f"{CHOSEN}.name") == f"{LAYER}.x"  # dW = Σ x dy: to x, not to dy
    press(page, "button[aria-label='follow no number']")
    press(page, "#steepest")
    assert abs(number(page.inner_text("#followed-title output"))) == pytest.approx(page.evaluate(STEEPEST), rel=1e-3)


def test_the_paths_of_a_number_are_bars_and_roads_share_one_scale(page):
    choose(page, f"d({TABLE})", EXAMPLES[0].input_ids[1], 2)
    page.click("#paths summary")
    page.locator("#paths-drawn .bar").first.wait_for()
    both = page.locator("#paths-drawn > :first-child")
    assert "as it comes in" in both.inner_text() and "as an answer, on to logits" in both.inner_text()
    flows = map(number, both.locator(".bar-value").all_inner_texts())
    assert sum(flows) == pytest.approx(number(page.inner_text("#paths-total")), rel=1e-3)
    go_to(page, FORK)
    assert "(full color: " in page.inner_text("#stage")
    gradients, spread = page.evaluate(SCALES)
    assert gradients > 2 and spread < 1.1


@pytest.mark.thorough
def test_in_a_frame_of_another_page_there_is_the_step_alone_and_of_a_long_vocabulary_the_words_that_matter(
    open_page, path
):
    page = open_page(path, "?embed")
    assert page.is_visible("#stage") and not page.is_visible("#title") and not page.is_visible(".tabs")
    page.evaluate("npbert.state.data.vocabulary.push(...Array.from({length: 30}, (_, i) => `word${i}`))")
    page.evaluate(f"{TRACE}.arrays.get('{TABLE}').shape[0] = 44")
    page.evaluate("npbert.goToStep(1)")
    until(page, "href => document.getElementById('link').href === href", arg=f"{path.as_uri()}#step=2")
    asked = found_at(page, [f"quiz=number:{seed}" for seed in range(0, 400, 4)], "document.all.guide.innerText")
    assert "“word" not in str(asked), "all that is asked about is shown"
    page.evaluate("npbert.goToStep(0)")
    rows = page.locator(f"#stage table[data-array='{TABLE}'] tbody tr")
    assert 4 < rows.count() < 14
    press(page, "#all-words")
    assert rows.count() == 44
