"""Paths to the loss, roads of a gradient, the forks of the residual, and the factors of a sum, in a real browser."""

import math
import re

import numpy as np
import pytest

from tests.pages.number import EXAMPLES, LAYER, STEP, TABLE, TRACE, choose, number

QUERY = f"{LAYER}.attention.query"


def sizes_in(page, where):
    """By road, its size: √Σ² of what comes back on it."""
    bars = page.locator(f"{where} .bar").evaluate_all(
        "bars => bars.map(bar => [...bar.children].map(e => e.textContent))"
    )
    return {road: number(size.split()[0]) for road, _, size in bars}


def test_the_paths_of_a_number_are_a_ladder_that_leads_to_its_steps_and_roads_have_sizes(page):
    choose(page, f"d({TABLE})", EXAMPLES[0].input_ids[1], 2)
    assert page.locator("#paths-drawn li").count() == 0, "drawn only when it is asked for"
    page.click("#paths summary")
    page.wait_for_selector(".ladder .road")
    total = page.inner_text("#paths-total")
    assert page.inner_text("#followed-title output") == total
    flows = page.locator(".ladder .road").evaluate_all(
        "all => all.map(e => [e.innerText, e.firstChild.title, parseFloat(e.style.getPropertyValue('--thick'))])"
    )
    told = {text.split("\n")[0]: number(title.split(":")[0]) for text, title, _ in flows}
    assert told["as it comes in"] + told["as an answer"] == pytest.approx(number(total), rel=1e-3)
    assert sum(told[road] for road in ("Q", "K", "V")) != pytest.approx(0, abs=1e-6)
    thick = {text.split("\n")[0]: thickness for text, _, thickness in flows}
    nearly = {name: round(pixels, 6) for name, pixels in thick.items()}  # two of them are the same but for rounding
    assert sorted(thick, key=nearly.get) == sorted(told, key=lambda road: abs(told[road]))
    page.click(".ladder .road button:has(span:text-is('Q'))")
    assert page.evaluate(f"{TRACE}.steps[{STEP}].part") == QUERY
    assert page.evaluate(f"{TRACE}.steps[{STEP}].phase") == "backward"
    assert page.inner_text("#roads") == ""
    page.click(".ladder .stop button >> nth=0")
    assert page.evaluate(f"{TRACE}.steps[{STEP}].kind") == "Fork"
    sizes = sizes_in(page, "#roads")
    for road in ("past attention", "through Q", "through K", "through V"):
        values = page.evaluate(f"[...{TRACE}.arrays.get('d({LAYER}.x) {road}').values]")
        assert sizes[road] == pytest.approx(np.linalg.norm(values), rel=1e-4)
    choose(page, f"{LAYER}.attention_norm.mu", 0, 0)
    assert page.is_hidden("#paths"), "backward has no gradient of it"


def test_the_residuals_are_in_one_table_that_leads_to_their_forks(page):
    rows = page.locator("#forks > li")
    assert rows.count() == 2  # of one layer, feed-forward first: backward comes to it first
    page.click("#residuals summary")
    rows.nth(1).locator("button").click()
    kind, part = page.evaluate(f"(s => [s.kind, s.part])({TRACE}.steps[{STEP}])")
    assert [kind, part] == ["Fork", f"{LAYER}.attention"]
    past, *through = (
        np.array(page.evaluate(f"[...{TRACE}.arrays.get('d({LAYER}.x) {road}').values]"))
        for road in ("past attention", "through Q", "through K", "through V")
    )
    norms = {"past it": np.linalg.norm(past), "through it": np.linalg.norm(sum(through))}
    assert sizes_in(page, "#forks > li:nth-child(2)") == pytest.approx(norms, rel=1e-4)
    said = page.inner_text("#roads")
    assert "not the sum of these sizes" in said and "right formula" not in said
    page.evaluate("location.hash = 'bug=norm-spread&step=last:backward LayerNorm'")
    page.wait_for_function("document.querySelector('#roads').innerText.includes('right formula')")


def test_factors_have_the_digits_that_their_product_needs(page):
    choose(page, f"d({QUERY}.weight)", 1, 2)
    read = "[...document.querySelectorAll('#followed .bars li')].map(e => e.innerText)"
    terms = [item.splitlines() for item in page.evaluate(read)]
    assert len(terms) == len(EXAMPLES[0].input_ids)
    for *_, value, factors in terms:
        product = math.prod(map(number, re.findall(r"\(([^()]+)\)(?= ×|$)", factors)))
        assert product == pytest.approx(number(value), rel=2e-4)
