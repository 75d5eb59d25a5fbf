"""Why this word and not that, and the figures on top: each can be followed, by pointer and by keyboard."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.pages import models
from tests.pages.number import DENSE, EXAMPLES, STEP, TRACE, VOCABULARY, choose, go_to, number
from tests.pages.test_number_arithmetic import MODELS, RIVAL, all_answers, assert_same

CHOSEN = "npbert.state.chosen"
X = "bert.encoder.layers.0.x"  # what the embeddings give


def difference_and_gradients(model, example):
    """How far, at the second hidden place, the right word's logit is ahead of the rival's: softmax's part in the
    two losses is the same, so their difference is that of the logits."""
    second = max(n for n, label in enumerate(example.labels) if label >= 0)
    labels = [RIVAL if n == second else label for n, label in enumerate(example.labels)]
    one, other = (models.loss_and_gradients(model, [each]) for each in (example, replace(example, labels=labels)))
    masks = sum(label >= 0 for label in labels)  # the loss is the mean over them
    return masks * (other[0] - one[0]), {name: masks * (other[1][name] - one[1][name]) for name in one[1]}


@pytest.mark.parametrize("model", MODELS)
def test_the_difference_of_two_guesses_and_its_gradients_are_those_of_npbert(model):
    found, example, one = all_answers()["compared"][model], models.EXAMPLES[1], models.make_models()[model]
    trace, arrays = found["trace"], found["trace"]["arrays"]
    difference, gradients = difference_and_gradients(one, example)
    assert trace["loss"] == pytest.approx(difference, rel=1e-12) == found["byFeature"]
    largest = max(np.abs(gradient).max() for gradient in gradients.values())
    for name, gradient in gradients.items():
        if not name.startswith(("bert.pooler", "seq_relationship")):
            assert_same(arrays[f"d({name})"], gradient, name, 0.01 * largest)
    assert found["explained"]["wrong"] == [] and found["check"]["ok"]
    mask = models.VOCABULARY.index("[MASK]")
    for n, hiding in enumerate(arrays["words.hiding"]["values"]):
        ids = [mask if n == place else word for place, word in enumerate(example.input_ids)]
        without, _ = difference_and_gradients(one, replace(example, input_ids=ids))
        assert hiding == pytest.approx(difference - without, rel=1e-11, abs=1e-12)
    x, dx = (np.reshape(arrays[name]["values"], arrays[name]["shape"]) for name in (X, f"d({X})"))
    np.testing.assert_allclose(arrays["words.slope"]["values"], (x * dx).sum(1), rtol=1e-12, atol=1e-13)


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
    said = page.inner_text("#compare-said")
    mask = VOCABULARY.index("[MASK]")
    none = f"{{...s.example, input_ids: s.example.input_ids.map(() => {mask})}}"
    without = page.evaluate(f"(s => npbert.run(s.model, {none}, {{rival: s.rival}}).loss)(npbert.state)")
    assert "times as probable" in said
    assert number(re.search(r"at once, δ would be (\S+):", said)[1]) == pytest.approx(without, rel=1e-4)
    ahead = VOCABULARY[int(answer if without > 0 else rival)]
    assert f"so far is “{ahead}” ahead" in said
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert page.evaluate(f"[{CHOSEN}.name, {TRACE}.steps[{STEP}].kind]") == ["difference", "Difference"]
    assert sum(values(page, "#followed")) == pytest.approx(delta, rel=1e-3)
    assert sum(values(page, "#compare-features")) == pytest.approx(delta, abs=1e-3)
    hiding = page.evaluate(f"[...{TRACE}.arrays.get('words.hiding').values]")
    assert values(page, "#compare-words") == pytest.approx(hiding, rel=1e-4)
    assert len(hiding) == len(EXAMPLES[0].input_ids) and hiding[3] == 0  # [MASK] itself
    assert page.evaluate(f"{TRACE}.steps.length") == arrays - 1, (
        "a step has the same number in both, but for the update"
    )

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
    assert page.is_hidden("#compare")
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
    said = page.locator("#guesses .guess .number").nth(1).inner_text()
    assert page.evaluate(f"[{CHOSEN}.name, {CHOSEN}.row, {STEP}]") == ["p", 0, end]
    assert number(page.inner_text("#followed-title output")) == pytest.approx(number(said) / 100, rel=0.06)
    assert page.locator("#sentence [tabindex='0']").count() == 1
    page.focus("#sentences")
    while page.evaluate("document.activeElement.id") != "loss-value":  # the last of them
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "loss-value"
    assert page.evaluate(STEP) == end, "these arrows do not step"
    page.keyboard.press("Enter")
    assert page.evaluate(f"[{CHOSEN}.name, document.activeElement.id]") == ["loss", "followed-title"]
    page.focus("#loss-value")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('#sentence *')")
