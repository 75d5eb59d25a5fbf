"""Why this word and not that, and the figures on top: each can be followed, by pointer and by keyboard."""

import pytest

from tests.pages.number import DENSE, EXAMPLES, STEP, TRACE, choose, go_to, number

CHOSEN = "npbert.state.chosen"


def values(page, where):
    return [number(text) for text in page.locator(f"{where} .bar-value").all_inner_texts()]


def test_two_guesses_are_compared_by_words_and_features_and_one_click_leads_back(page):
    loss, arrays = page.inner_text("#loss"), page.evaluate(f"{TRACE}.steps.length")
    page.click("#guesses .why >> nth=0")
    assert page.inner_text("#rival-note").startswith(
        "This page now shows a difference of two guesses, and not the loss"
    )
    answer, rival = page.input_value("#guesses select"), page.input_value("#rival")
    delta = page.evaluate(f"{TRACE}.loss")
    logits = page.evaluate(f"[{answer}, {rival}].map(word => {TRACE}.arrays.get('logits').values[word])")
    assert delta == pytest.approx(logits[0] - logits[1]) == pytest.approx(number(page.inner_text("#loss")), rel=1e-4)
    assert page.locator("#compare-title").inner_text().startswith("Why “")
    assert "times as probable" in page.inner_text("#compare-said")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert page.evaluate(f"[{CHOSEN}.name, {TRACE}.steps[{STEP}].kind]") == ["difference", "Difference"]
    assert sum(values(page, "#followed")) == pytest.approx(delta, rel=1e-3)
    assert sum(values(page, "#compare-features")) == pytest.approx(delta, abs=1e-3)
    hiding = page.evaluate(f"[...{TRACE}.arrays.get('words.hiding').values]")
    assert values(page, "#compare-words") == pytest.approx(hiding, rel=1e-4)
    assert len(hiding) == len(EXAMPLES[0].input_ids) and hiding[3] == 0  # [MASK] itself
    assert page.evaluate(f"{TRACE}.steps.length") == arrays, "a step has the same number in both"

    page.click("#compare-words .factor >> nth=1")  # to first order
    assert page.evaluate(CHOSEN) == {"name": "words.slope", "row": 1, "column": 0}
    page.click("#followed .bars button.bar >> nth=2")
    assert page.evaluate(CHOSEN) == {"name": "d(bert.encoder.layers.0.x)", "row": 1, "column": 2}
    assert "the difference would" in page.inner_text("#what-it-says")
    page.click("#compare-words button.bar >> nth=2")  # really
    assert page.evaluate("npbert.state.trail") == [{"name": "words.hiding", "row": 2, "column": 0}]
    page.click("#compare-features button.bar >> nth=1")
    assert page.evaluate(f"{CHOSEN}.name") == "d(predictions.z)"
    assert page.locator("#compare-attention .marked").count() == page.locator("#compare-attention table").count() == 2
    page.click("#compare-attention tr.marked td[data-row] >> nth=2")
    assert page.evaluate(f"[{CHOSEN}.name, {CHOSEN}.row]") == ["bert.encoder.layers.0.P.0", 3]

    choose(page, DENSE, 1, 2)
    page.click("#tab-move")
    page.click("#move-more")
    assert "and the difference " in page.inner_text("#move-said")
    assert page.inner_text("#go-loss", timeout=1000) is not None and page.is_hidden("#compare")
    page.wait_for_selector("#proof.good")
    page.click("#rival-out")
    assert page.is_hidden("#rival-note")
    assert [page.inner_text("#loss"), page.evaluate(f"{TRACE}.goal")] == [loss, "loss"]
    assert "and the difference" not in page.inner_text("#move-said")


def test_any_two_words_are_compared_and_another_sentence_shows_the_loss(page):
    page.select_option("#sentences", "1")
    page.locator(".hidden-word").nth(1).locator(".why").first.click()
    assert page.evaluate("npbert.state.rival.masked") == 1
    page.select_option("#rival", "7")
    assert page.evaluate("npbert.state.rival") == {"masked": 1, "word": 7}
    delta = page.evaluate(f"{TRACE}.loss")
    page.locator("#guesses select").nth(1).select_option("7")  # the answer is now what it was compared with
    assert page.evaluate(f"{TRACE}.loss") == -delta
    assert page.locator(".why[aria-pressed='true']").count() == 1
    page.locator(".why[aria-pressed='true']").click()
    assert page.evaluate("[npbert.state.rival, document.activeElement.id]") == [None, "loss-value"]
    page.locator(".why").first.click()
    page.select_option("#sentences", "0")
    assert page.evaluate("npbert.state.rival") is None
    assert page.is_hidden("#compare")


def test_the_loss_and_the_guesses_are_followed_and_are_one_stop_of_the_keyboard(page):
    go_to(page, "s.kind === 'CrossEntropy'")
    end = page.evaluate(STEP)
    page.click("#tab-train")
    page.click("#loss-value")
    assert page.evaluate(f"[{CHOSEN}.name, npbert.state.view, {STEP}]") == ["loss", "step", end]
    page.evaluate("npbert.goToStep(0)")
    page.click("#guesses .guess >> nth=1")
    word = page.evaluate(f"{CHOSEN}.column")
    said = page.locator("#guesses .guess .number").nth(1).inner_text()
    assert page.evaluate(f"[{CHOSEN}.name, {CHOSEN}.row, {STEP}]") == ["p", 0, end]
    assert number(page.inner_text("#followed-title output")) == pytest.approx(number(said) / 100, rel=0.06)
    assert word != page.evaluate("Number(document.querySelector('#guesses select').value)") or said
    assert page.locator("#sentence .stop[tabindex='0']").count() == 1
    page.focus("#guesses select")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.guess')")
    stops = page.locator("#sentence .stop").count()
    for _ in range(stops):  # the last of them is the loss
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "loss-value"
    assert page.evaluate(STEP) == end, "these arrows do not step"
    page.keyboard.press("Enter")
    assert page.evaluate(f"[{CHOSEN}.name, document.activeElement.id]") == ["loss", "followed-title"]
    page.focus("#loss-value")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('#sentence *')")
