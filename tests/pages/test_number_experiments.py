"""The page's experiments: a number moved, a line typed, a bug planted, a model trained, two guesses compared.

That its arithmetic is npbert's is shown in test_number_arithmetic.py."""

import re

import pytest

from tests.pages.number import (
    CHOSEN,
    DENSE,
    EXAMPLES,
    HOSTILE,
    LAYER,
    QUERY,
    STEP,
    TRACE,
    cell,
    choose,
    go_to,
    number,
    plant,
    press,
    until,
    value,
)

WORDS = "npbert.state.example.input_ids.map((id) => npbert.state.data.vocabulary[id]).join(' ')"
WITHOUT_THE_FIRST = """(({model, example, rival}) => {
  const input_ids = example.input_ids.with(1, npbert.state.data.vocabulary.indexOf("[MASK]"));
  return npbert.run(model, {...example, input_ids}, {backward: false, rival}).loss;
})(npbert.state)"""
"""The difference of two guesses when the first word is hidden, too."""
FRAMED = """(() => {
  const {moved, trace} = npbert.state;
  const cells = [...document.querySelectorAll("#stage td[data-row]")];
  const isMoved = (cell) => {
    const {dataset: {row, column}} = cell;
    const {array} = cell.closest("table").dataset;
    const [before, now] = [trace, moved].map(({arrays}) => arrays.get(array).at(Number(row), Number(column)));
    return before !== now;
  };
  const others = cells.filter((cell) => cell.closest("table").dataset.array !== moved.place.name);
  return others.some(isMoved) && others.every((cell) => isMoved(cell) === cell.classList.contains("to"));
})()"""
"""Of the numbers beside the one that was moved, are those framed that move with it, and no others?"""


def test_a_moved_number_moves_the_guesses_and_the_loss_at_the_top_until_it_is_undone(page):
    go_to(page, "s.part === 'predictions.dense'")
    choose(page, DENSE, 1, 2)
    start, before, guesses = value(page, DENSE, 1, 2), page.evaluate(f"{TRACE}.loss"), page.inner_text("#guesses")
    page.locator("#move-slider").fill("0.5")
    moved = page.evaluate("npbert.state.moved")
    assert number(page.inner_text("#loss")) == pytest.approx(moved["loss"], rel=1e-4) != pytest.approx(before, rel=1e-4)
    assert page.inner_text("#guesses") != guesses
    assert page.evaluate(FRAMED)
    assert page.inner_text("#move-now .guess") == page.inner_text("#guesses .guess")
    both = [number(text) for text in page.inner_text("#followed-title output").split(" → ")]
    assert both == pytest.approx([start, moved["value"]], rel=1e-4)
    slope, said = value(page, f"d({DENSE})", 1, 2), page.inner_text("#move-said")
    assert number(re.search(r"(?:fell|rose) by (\S+),", said)[1]) == pytest.approx(
        abs(moved["loss"] - before), rel=1e-2
    )
    assert number(re.search(r"promised (\S+):", said)[1]) == pytest.approx(slope * (moved["value"] - start), rel=1e-2)
    press(page, "#move-curve summary")
    page.locator("#move-chart path.curve").nth(2).wait_for(state="attached")  # three curves
    press(page, "#move-back")
    assert page.inner_text("#guesses") == guesses and page.is_disabled("#move-back")


def test_what_does_not_move_the_loss_or_has_no_slope_says_so(page):
    choose(page, f"{LAYER}.attention_norm.sigma", 0, 0)
    assert "no slope here" in page.inner_text("#move-said")
    choose(page, f"{LAYER}.P.0", 0, 0)
    assert "no longer adds up to 1" in page.inner_text("#move-said")
    go_to(page, "s.kind === 'Softmax'")
    assert page.locator("#stage .from").count() == len(EXAMPLES[0].input_ids)  # a row of S
    key = f"{LAYER}.attention.key"
    choose(page, f"{key}.bias", 0, 0)
    page.locator("#move-slider").press("ArrowRight")
    assert "stayed at" in page.inner_text("#move-said")
    go_to(page, f"s.part === '{key}'", "Last")
    cells = page.locator(f'#stage table[data-array="d({key}.bias)"] td[data-row]')
    assert cells.all_text_contents() == ["0"] * 4
    assert "softmax does not notice" in page.inner_text("#stage")


def test_any_word_can_be_hidden_another_answer_chosen_and_a_line_typed(page):
    press(page, "#words button >> nth=0")
    page.select_option("#guesses select", "8")
    assert page.evaluate("npbert.state.example.labels[1]") == 8 and "[CLS] [MASK] are" in page.evaluate(WORDS)
    press(page, "#guesses .guess >> nth=0")
    assert page.evaluate(f"{CHOSEN}.name") == "p"
    page.click("#lines summary")
    for line, said in (("how are xyz", "It does not know “xyz”"), ("", "Type 1 to 6")):
        page.fill("#own", line)
        page.keyboard.press("Enter")
        assert said in page.inner_text("#own-said")
    page.fill("#own", "Hello [MASK]")
    page.keyboard.press("Enter")
    assert page.evaluate(WORDS) == "[CLS] hello [MASK] [SEP]"
    assert "taken as right" in page.inner_text("#guesses") and page.locator("#guesses .right").count() == 0
    page.select_option("#sentences", "2")
    assert HOSTILE[0] in page.inner_text("#stage") and page.locator("script").count() == 2


def test_a_planted_bug_turns_the_check_red_where_it_is_and_is_told_from_what_the_loss_does(page):
    plant(page, "scores-root")
    first = page.locator(".wrong-row").first.inner_text()
    assert "dQ" in first and "it is 1.41 times what it should be" in first  # √d
    press(page, ".wrong-row button")
    assert "dQ = dS K" in page.inner_text("#step-bug") and page.is_hidden("#proof")
    assert page.evaluate("notes.getBoundingClientRect().bottom <= stage.getBoundingClientRect().top")
    assert page.is_visible("#stage .wrong.chosen") and page.is_hidden("#stage .wrong:not([data-array^='d('] *)")
    plant(page, "norm-spread")
    press(page, "#tab-step")
    choose(page, f"d({DENSE})", 1, 2)
    said, really = map(number, re.findall(r"by about ([\d.e\u2212]+\d)", page.inner_text("#what-it-says")))
    assert said == pytest.approx(0.01 * abs(value(page, f"d({DENSE})", 1, 2)), rel=1e-2)
    assert really != pytest.approx(said, rel=1e-2)
    plant(page, "loss-mean")
    assert "In this sentence the bug changes nothing" in page.inner_text("#check-list")
    assert "Here it changes nothing" in page.text_content("#bug-note")
    press(page, "#check-list button")  # to a sentence with two hidden words
    page.wait_for_selector("#check-said.bad")
    press(page, "#bug-out")
    page.wait_for_selector("#check-said.good")


def test_two_guesses_are_compared_by_words_and_features_and_one_click_leads_back(page):
    loss = page.inner_text("#loss")
    page.click("#why-this")
    delta = page.evaluate(f"{TRACE}.loss")
    assert delta == pytest.approx(number(page.inner_text("#loss")), rel=1e-4)
    assert page.evaluate(f"{TRACE}.steps[{STEP}].kind") == "Difference"
    features = page.locator("#compare-features .bar-value").all_inner_texts()
    assert sum(map(number, features)) == pytest.approx(delta, abs=1e-3)
    words = page.locator("#compare-words .bar-value").all_inner_texts()  # the largest first; [SEP] has more
    assert number(words[0]) == pytest.approx(delta - page.evaluate(WITHOUT_THE_FIRST), rel=1e-3)
    assert re.fullmatch(r"“how .1.” matters most: .* ranks “how .4.” first\.", page.inner_text("#compare-most"))
    press(page, "#rival-out")
    assert [page.inner_text("#loss"), page.evaluate(f"{TRACE}.goal")] == [loss, "loss"]


def test_the_last_step_is_the_update_that_training_makes(page):
    go_to(page, "s.phase === 'update'")
    choose(page, f"{QUERY}.weight", 1, 2)
    press(page, cell(f"new({QUERY}.weight)", 1, 2))
    assert page.locator("#followed .bar-label").all_inner_texts() == ["old", "its step"]
    way = [number(text.split(": ")[1]) for text in page.locator("#update-way li").all_inner_texts()]
    for told, name in zip(way, ("d", "g", None, "m_hat", "delta"), strict=True):
        assert name is None or told == pytest.approx(value(page, f"{name}({QUERY}.weight)", 1, 2), rel=1e-2)
    press(page, "#update-way button >> nth=1")
    press(page, "#followed button.bar >> nth=1")  # another sentence comes on top, and its own gradient
    assert page.evaluate("npbert.state.sentence") == 1
    assert page.evaluate(CHOSEN) == {"name": f"d({QUERY}.weight)", "row": 1, "column": 2}
    go_to(page, "s.phase === 'update'")
    before, after = re.search(r"the batch from (\S+) to (\S+),", page.inner_text("#update-losses")).groups()
    assert number(after) < number(before)


@pytest.mark.thorough
def test_training_changes_the_guesses_tells_what_was_before_and_can_be_taken_back(page):
    page.click("#tab-train")
    first = page.evaluate(f"{TRACE}.loss")
    page.click("#train-fresh")
    fresh = page.evaluate(f"{TRACE}.loss")
    page.locator("#train-rate").fill("-1.5")
    assert page.inner_text("#train-rate-value") == "0.032"
    page.click("#train-run")
    until(page, f"{TRACE}.loss < {fresh} / 2")
    page.click("#train-run")
    assert "from random numbers, it was trained here for " in page.inner_text("#changed-note")
    assert page.locator("#train-attention figure").count() == 2
    page.click("#train-trained")
    assert page.evaluate(f"{TRACE}.loss") == first


@pytest.mark.thorough
def test_with_the_bug_the_loss_still_falls(page):
    page.click("#tab-break")
    assert page.is_disabled("#race")
    page.check("input[value='softmax-shares']")
    page.click("#race")
    is_over = "document.getElementById('race-said').textContent.startsWith('After 150 steps')"
    page.wait_for_function(is_over, timeout=300_000, polling=100)  # a busy machine has time
    right, broken, start = map(float, re.findall(r"\d+\.\d+", page.inner_text("#race-said")))
    assert right < start and broken < 0.9 * start
    assert "It fell in spite of the bug" in page.inner_text("#race-said")
