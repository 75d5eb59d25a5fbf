"""The words of the page are true: where a bug is planted, where the model was changed, and at every step."""

import re

import pytest

from tests.pages.number import DENSE, LAYER, TABLE, TRACE, box, choose, go_to, number, plant


def slope(page, name, row, column):
    """By the complex step, which knows nothing of backward."""
    return page.evaluate(f"npbert.slope({TRACE}, {{name: '{name}', row: {row}, column: {column}}})")


def gradient(page, name, row, column):
    return page.evaluate(f"[{TRACE}.arrays.get('d({name})')].map(a => a.values[{row} * a.shape[1] + {column}])[0]")


def test_with_a_bug_backward_is_told_from_what_the_loss_does_and_the_curves_of_h_stay_away(page):
    plant(page, "norm-spread")
    page.click("#tab-step")
    choose(page, f"d({DENSE})", 1, 2)
    said, really = map(number, re.findall(r"by about ([\d.e\u2212]+\d)", page.inner_text("#what-it-says")))
    assert said == pytest.approx(0.01 * abs(gradient(page, DENSE, 1, 2)), rel=1e-4)
    assert really == pytest.approx(0.01 * abs(slope(page, DENSE, 1, 2)), rel=1e-4)
    assert abs(said - really) > 0.01 * really
    choose(page, "d(predictions.layer_norm.gamma)", 0, 1)  # made before the bug: right
    assert "really" not in page.inner_text("#what-it-says")
    choose(page, "d(predictions.a)", 0, 1)  # where the bug is, the sum is not the number
    says, sums = re.findall(r"[+\u2212][\d.]+", page.inner_text("#followed .bad"))
    assert number(says) == pytest.approx(gradient(page, "predictions.a", 0, 1), rel=1e-4)
    assert number(sums) == pytest.approx(number(page.inner_text("#followed .total strong")), rel=1e-4)
    assert says != sums
    choose(page, DENSE, 1, 2)
    page.click("#tab-move")
    assert "it is backward that is wrong here" in page.inner_text("#h-said")
    agreed = re.search(r"agree on ([\d.e\u2212-]+\d)", page.inner_text("#h-said"))[1]
    assert number(agreed) == pytest.approx(slope(page, DENSE, 1, 2), rel=1e-4)
    page.click("#bug-out")
    assert "Best h here" in page.inner_text("#h-said")


def test_the_table_shows_what_was_added_so_far(page):
    go_to(page, "s.kind === 'Decoder'", "Last")
    for column in range(4):  # of "how", which comes in twice
        page.hover(f'#stage table[data-array="d({TABLE})"] td[data-row="4"][data-column="{column}"]')
        said = number(page.inner_text("#readout").split("so far, after this step: ")[1])
        part = page.evaluate(f"npbert.explain({TRACE}, 'd({TABLE})', 4, {column}).terms[0].value")
        assert said == pytest.approx(part, rel=1e-4)
        assert abs(gradient(page, TABLE, 4, column) - part) > 1e-3 * abs(part)


def test_of_a_long_vocabulary_the_words_that_matter_are_shown(page):
    """Those of the sentence, the best guesses, and one that is followed."""
    page.evaluate("npbert.state.data.vocabulary.push(...Array.from({length: 30}, (_, i) => `word${i}`))")
    page.evaluate(f"{TRACE}.arrays.get('{TABLE}').shape[0] = 44")
    for step in (1, 0):
        page.evaluate(f"npbert.goToStep({step})")
    rows = page.locator(f"#stage table[data-array='{TABLE}'] tbody tr")
    assert 4 < rows.count() < 14
    page.click("#all-words")
    assert rows.count() == 44


def test_a_changed_model_is_told_of_and_taken_back(page):
    assert page.is_hidden("#changed-note")
    first = page.evaluate(f"{TRACE}.loss")
    choose(page, DENSE, 1, 2)
    page.click("#tab-move")
    page.locator("#move-slider").fill("0.5")
    page.click("#move-keep")
    assert "you put Wh[1, 2] at " in page.inner_text("#changed-note")
    page.click("#tab-step")
    assert page.inner_text("#followed .bar-label") == "put there by you"
    page.click("#changed-out")
    assert page.evaluate(f"{TRACE}.loss") == first
    assert page.is_hidden("#changed-note")
    page.click("#tab-train")
    page.click("#train-fresh")
    page.click("#train-ten")
    assert "from random numbers, it was trained here for 10\xa0steps" in page.inner_text("#changed-note")
    assert "put there" not in page.inner_text("#changed-note")


def test_the_gradient_of_a_bias_of_k_is_shown_as_0_and_said_why(page):
    key = f"{LAYER}.attention.key"
    go_to(page, f"s.part === '{key}'", "Last")
    cells = page.locator(f'#stage table[data-array="d({key}.bias)"] td[data-row]')
    assert cells.all_text_contents() == ["0"] * 4
    assert "softmax does not notice" in page.inner_text(
        f'#stage figure:has(> div > div > [data-array="d({key}.bias)"])'
    )
    assert page.locator(f'#stage table[data-array="d({key}.weight)"] td.zero').count() == 0


def test_arrays_have_their_own_symbols_letters_in_the_sums_and_the_largest_logit_is_subtracted(page):
    for name, words, letter in [
        (f"d({DENSE})", "collects r · dt", "Σₘ r[m, 1]"),
        ("d(bert.encoder.layers.0.Q)", "A query meets the key of every token", "Σₙ dS"),
    ]:
        choose(page, name, 1, 2)
        assert words in page.inner_text("#followed .note")
        assert letter in page.inner_text("#followed .formula")
    go_to(page, "s.part === 'predictions.dense'", "Last")
    assert "x is r" in page.inner_text("#source-names")
    assert "dy is dt" in page.inner_text("#source-names")
    choose(page, "p", 0, 6)
    assert "e^(logit − max)" in page.inner_text("#followed .factors")


def test_the_sum_comes_into_sight(open_page, path):
    page = open_page(path, width=360, height=800)
    page.click("#tries button >> nth=2")
    assert 0 <= box(page, "#followed-title")["top"] < 600
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("#stage td[data-row]").last.click()
    assert 0 <= box(page, "#followed-title")["top"] < 600
