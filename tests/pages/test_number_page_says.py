"""The things that a newcomer could not believe, or missed: each is now true, said or shown on the page."""

import numpy as np
import pytest

from npbert import BertConfig, BertForPreTraining
from npbert.pages.number.page import write_number_page
from tests.pages.number import (
    EXAMPLES,
    LAYER,
    SIZES,
    TABLE,
    TRACE,
    VOCABULARY,
    choose,
    go_to,
    number,
    plant,
)

TYPES = "bert.embeddings.token_type_embeddings.weight"


def test_where_the_loss_does_not_move_no_one_is_said_to_be_wrong(page):
    for name, row, said in (
        (f"{LAYER}.attention.key.bias", 0, "does not move with this number"),
        (TYPES, 1, "does not use this number"),
        ("p", 0, "does not use this number"),  # of a word that is not hidden here
    ):
        choose(page, name, row, 1)
        page.click("#tab-move")
        assert said in page.inner_text("#move-said")
        page.click("#move-more")
        assert "stayed at" in page.inner_text("#move-said")
        if name != "p":
            assert "The slope is 0, but for rounding" in page.inner_text("#h-said")
            assert page.locator("#h-chart svg").count() == 0
    plant(page, "softmax-shares")
    page.wait_for_selector("#check-said.bad")
    page.click("#tab-step")
    choose(page, f"d({LAYER}.attention.key.bias)", 0, 1)
    assert page.inner_text("#what-it-says").endswith("the loss would really not move at all.")


def test_a_probability_stays_one_and_what_has_no_gradient_is_moved_without_a_slope(page):
    page.click("#tab-move")
    choose(page, f"{LAYER}.P.0", 0, 0)
    assert "no longer adds up to 1" in page.inner_text("#move-meaning")
    for there, ends in ((5, 1), (-5, 0)):
        page.locator("#move-slider").fill(str(there))
        assert number(page.get_attribute("#move-value", "title")) == pytest.approx(ends, abs=1e-12)
    for name in (f"{LAYER}.attention_norm.sigma", "p"):
        choose(page, name, 0, 0)
        assert page.inner_text("#move-slope") == "none"
        assert page.is_hidden("#h-part")
        assert "never computes its gradient" in page.inner_text("#move-meaning")
    choose(page, "p", 0, 6)  # the right word
    for there, has_value in ((0.9, True), (-0.9, False)):
        page.locator("#move-slider").fill(str(there))
        assert ("no value" not in page.inner_text("#move-said")) == has_value
    working = page.evaluate(f"[...{TRACE}.arrays.values()].find(a => a.isGradient && !a.gradientOf).name")
    for unmoved in (working, "loss"):  # no value, and what moves with all others: another number is moved
        choose(page, unmoved, 0, 0)
        assert page.evaluate(f"{TRACE}.arrays.get(npbert.state.chosen.name).parameter")
        assert page.is_visible("#h-part")
        assert page.inner_text("#move-name") not in ("loss", working)


def test_a_formula_says_which_road_it_is_of(page):
    for part, kind, formula in [
        ("query", "Linear", "dx through Q = dQ Wqᵀ"),
        ("intermediate", "Linear", "dh through feed-forward = dU W₁ᵀ"),
        ("feed_forward", "Add", "dh past feed-forward = dF = ds"),
        ("attention.output", "Linear", "dC = dA Woᵀ"),
    ]:
        go_to(page, f"s.part.endsWith('{part}') && s.kind === '{kind}' && s.phase === 'backward'")
        assert page.inner_text("#stage-head .formula").endswith(formula)


def test_the_step_that_is_shown_makes_the_number(page):
    answer = EXAMPLES[0].labels[3]  # as an answer alone
    for word, kind, label in ((answer, "Decoder", "as an answer: "), (VOCABULARY.index("how"), "Embedding", "as it ")):
        choose(page, f"d({TABLE})", word, 0)
        page.click("#ways >> text=Its value")
        page.click("#ways >> text=Its gradient")
        assert page.evaluate(f"{TRACE}.steps[npbert.state.step].kind") == kind
        assert page.locator("#followed .bar-label").last.inner_text().startswith(label)


def test_a_guess_is_ticked_when_it_is_right_only(page):
    best = int(page.evaluate(f"{TRACE}.probabilities[0].values.indexOf(Math.max(...{TRACE}.probabilities[0].values))"))
    other = (best + 1) % len(VOCABULARY)
    for word, mark in ((best, "✓"), (other, "•")):
        page.select_option("#guesses select", str(word))
        assert page.inner_text("#guesses .is-right .right") == mark
        assert page.locator("#guesses .is-guessed").count() == (mark == "✓")


def words_in(page):
    return np.reshape(page.evaluate(f"[...npbert.state.model.parameters.get('{TABLE}').re]"), (len(VOCABULARY), -1))


def test_training_tells_what_was_before(page):
    page.click("#tab-train")
    page.click("#train-fresh")  # the start is where training begins, not where it came from
    table = words_in(page)
    before = page.evaluate(
        f"[...{TRACE}.arrays.get('{LAYER}.P.0').values].map(v => `--share: ${{Math.round(100 * v)}}%`)"
    )
    page.click("#train-ten")
    mini = page.locator("#train-attention .mini").first.locator("i")
    assert mini.evaluate_all("cells => cells.map(cell => cell.getAttribute('style'))") == before
    words = page.locator("#train-words tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(c => c.textContent))"
    )
    now = words_in(page)
    for word, at_the_start, at_the_end, moved in words:
        row = VOCABULARY.index(word)
        for values, said in ((table, at_the_start), (now, at_the_end)):
            unit = values / np.linalg.norm(values, axis=1, keepdims=True)
            cosines = unit @ unit[row]
            cosines[row] = -2
            assert said.startswith(f"{VOCABULARY[cosines.argmax()]} {cosines.max():.2f}")
        length = np.linalg.norm(now[row] - table[row]) / np.linalg.norm(table[row])
        assert number(moved) == pytest.approx(length, rel=0.06)


def test_what_is_left_out_of_the_model_is_said(open_page, path, tmp_path):
    assert open_page(path).inner_text("#left-out") == ""
    config = BertConfig(**SIZES, vocab_size=len(VOCABULARY), max_position_embeddings=8)
    model = BertForPreTraining(config, rng=np.random.default_rng(1))
    write_number_page(model, EXAMPLES[:1], VOCABULARY, tmp_path / "pair.html")
    page = open_page(tmp_path / "pair.html")
    left_out = 4 * 4 + 4 + 4 * 2 + 2  # the pooler, and the head
    assert f"but for {left_out} that" in page.inner_text("#left-out")
    page.wait_for_selector("#proof.good")
    shown = sum(parameter.value.size for parameter in model.parameters()) - left_out
    assert f"all {shown}\xa0derivatives" in page.inner_text("#proof")
