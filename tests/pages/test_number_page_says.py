"""What a newcomer could not believe, or missed: each is true, said or shown on the page, and all is at hand: in sight,
under the keyboard, on a phone, at 200 %, and on paper."""

import numpy as np
import pytest

from npbert import BertConfig, BertForPreTraining
from npbert.pages.number.page import write_number_page
from tests.pages.number import (
    DENSE,
    EXAMPLES,
    LAYER,
    SIZES,
    STEP,
    TABLE,
    TRACE,
    VOCABULARY,
    box,
    choose,
    go_to,
    number,
    plant,
)

TYPES = "bert.embeddings.token_type_embeddings.weight"
FOCUS = "document.activeElement.id || document.activeElement.tagName"


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
    page.click("#train-one")
    page.click("#train-fresh")  # the start is where training begins, not where it came from
    table = words_in(page)
    before = page.evaluate(f"[...{TRACE}.arrays.get('{LAYER}.P.0').values].map(v => Math.round(100 * v))")
    shares = "cells => cells.map(cell => parseInt(cell.style.getPropertyValue('--share')))"
    assert page.locator("#train-attention table").first.locator("td[data-row]").evaluate_all(shares) == before
    page.click("#train-ten")
    assert page.locator("#train-attention .mini").first.locator("i").evaluate_all(shares) == before
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
    page.locator("#train-attention td[data-row]").first.click()
    assert page.evaluate("[npbert.state.view, npbert.state.chosen.name]") == ["step", f"{LAYER}.P.0"]


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


@pytest.mark.parametrize(("width", "height"), [(640, 400), (360, 740)], ids=["at 200 %", "phone"])
def test_stepping_stays_in_sight_and_shows_the_step_from_its_title_on(open_page, path, width, height):
    page = open_page(path, width=width, height=height)
    go_to(page, "s.kind === 'LayerNorm'", "Last")
    page.evaluate("scrollTo(0, 1100)")
    bar = box(page, "#bar")
    assert bar["top"] == 0
    assert bar["bottom"] < 0.35 * height
    for button in ("first", "back", "forward", "last"):
        assert box(page, f"#go-{button}")["right"] <= width
    page.click("#go-back")
    assert box(page, "#bar")["bottom"] <= box(page, "#stage-head")["top"] < 0.5 * height
    step = page.evaluate(f"{TRACE}.steps.findIndex(s => s.title.startsWith('queries'))")
    page.select_option("#steps", label=f"{step + 1}. {page.evaluate(f'{TRACE}.steps[{step}].title')}")
    assert page.evaluate(STEP) == step
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_tape_is_one_click_away_and_the_readout_covers_no_number(open_page, path):
    page = open_page(path, width=1280, height=800)
    go_to(page, "s.kind === 'Linear'")
    page.locator("#stage td[data-row]").first.hover()
    readout, table = box(page, "#readout"), box(page, "#stage table")
    assert readout["left"] >= table["right"] or readout["right"] <= table["left"]
    page.click("#go-tape")
    tape = box(page, "#tape-part")
    assert 0 <= tape["top"] < tape["bottom"] <= 801


def test_the_keyboard_keeps_its_place_when_a_button_goes_and_buttons_have_names_of_their_own(page):
    page.locator("#stage td[data-row]").first.click()
    page.click(".leave")
    assert page.evaluate("document.activeElement.matches('td[data-row]')")
    choose(page, DENSE, 1, 2)
    page.evaluate("scrollTo(0, 400)")
    page.click("#ways >> text=Try another value")
    assert page.evaluate("document.activeElement.matches('#view-move h2')")
    assert box(page, "#view-move h2")["top"] >= 0
    for button in ("move-back", "move-keep"):
        page.click("#move-more")
        page.click(f"#{button}")
        assert page.evaluate(FOCUS) == "move-slider"
    page.click("#changed-out")
    assert page.evaluate(FOCUS) == "tab-move"
    page.click("#tab-break")
    page.check("input[value='norm-spread']")
    page.click("#bug-out")
    assert page.evaluate(FOCUS) == "tab-break"
    page.click("#tab-step")
    page.click("#go-last")
    assert page.evaluate(FOCUS) == "scrubber"
    choose(page, DENSE, 1, 2)
    page.click("#ways >> text=Its gradient")
    names = page.locator("#view-step button:visible:not(.bar, .factor, .line)").evaluate_all(
        "buttons => buttons.map(button => button.getAttribute('aria-label') ?? button.textContent)"
    )
    assert len(set(names)) == len(names)


def test_light_or_dark_is_kept(open_page, path):
    page = open_page(path)
    page.click("#theme")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(20, 23, 28)"
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
    assert page.get_attribute("#theme", "aria-pressed") == "true"


def test_on_paper_the_step_is_named_and_no_dead_button_stands(page):
    page.evaluate("npbert.goToStep(6)")
    page.emulate_media(media="print")
    assert "step 7 of" in page.inner_text(".where")
    figures = ".bar, .factor, .guess, #loss-value, .trail button, .tape button"
    assert page.locator(f"button:visible:not({figures}), input[type=range]:visible").count() == 0
