"""The page "Follow one number back" as a reader uses it, in a real browser."""

import math
import re

import numpy as np
import pytest

from tests.pages.models import loss_and_gradients
from tests.pages.number import (
    CHOSEN,
    EXAMPLES,
    FOCUS,
    FORK,
    LAYER,
    QUERY,
    SCORES,
    STEP,
    TABLE,
    TRACE,
    VOCABULARY,
    cell,
    choose,
    go,
    go_to,
    number,
    small_model,
    value,
)
from tests.tables import one_in

TEXTS = "all => all.map(e => [0, 2].map(n => e.children[n].innerText))"
SEEN = "#steps option:checked, #step-title, #followed-title, #words, #loss, #notes, [aria-selected='true']"
ROUND_TRIPS = """([count, seen]) => {
  const {state} = npbert;
  document.body.hidden = true; // nothing has to be laid out, which is slow
  const below = (n) => Math.floor(n * Math.random());
  const one = (list) => list[below(list.length)];
  const least = {tokens: 4, masked: 1}; // in any of the sentences
  const cell = ({name, shape, rows, columns}) =>
    `${name}[${below(least[rows] ?? shape[0])},${below(least[columns] ?? shape[1])}]`;
  const now = () => JSON.stringify([
    state.sentence, state.example, state.step, state.trail, state.bug, state.view, state.allWords,
    state.changed.map(({name, row, column, value}) => [name, row, column, value]), state.trace.loss,
    [...document.querySelectorAll(seen)].map((element) => element.textContent),
  ]);
  const go = (address) => {
    history.replaceState(null, "", `#${address}`);
    dispatchEvent(new Event("hashchange"));
  };
  const bugs = [...document.querySelectorAll("#bugs input")].map(({value}) => value).filter(Boolean);
  const wrong = [];
  for (let trip = 0, last = null; trip < count; trip += 1) {
    const parameter = one([...state.model.parameters]);
    const arrays = [...state.trace.arrays.values()].filter(({isHidden, name}) => !isHidden && !name.includes(": "));
    const hidden = state.data.examples[trip % 4].labels.findIndex((label) => label >= 0);
    const others = state.data.vocabulary.filter((_, id) => id !== state.data.examples[trip % 4].labels[hidden]);
    const asked = new URLSearchParams([...(trip % 4 ? [["sentence", trip % 4]] : []), ...[
      ["answer", `${hidden}:${one(others)}`],
      ["set", `${cell({name: parameter[0], shape: parameter[1].shape})}:${Math.random() - 0.5}`], ["bug", one(bugs)],
      ["step", 2 + below(state.trace.steps.length - 1)], ["number", cell(one(arrays))], ["number", cell(one(arrays))],
      ["tab", one(["break", "train"])], ["words", "all"]].filter(() => Math.random() < 0.6)]);
    if (!asked.has("step")) asked.delete("number"); // without a step it leads to its own
    go(`${asked}`);
    const here = {address: npbert.address(), seen: now()};
    if (`${new URLSearchParams(here.address)}` !== `${asked}`) wrong.push([`${asked}`, here.address]);
    if (trip % 4 === 3) { // from here back to where it was before, with all that is seen
      go(last.address);
      if (now() !== last.seen || npbert.address() !== last.address) wrong.push(last.address);
    }
    if (!document.getElementById("address-said").hidden) wrong.push(`${here.address}: something is left out`);
    last = here;
  }
  document.body.hidden = false;
  return wrong;
}"""
TOUR = """async ([tour, stops]) => {
  const frame = () => new Promise((done) => setTimeout(done, 5));
  const by = (what) => document.querySelector(what);
  const isSeen = (thing) => {
    const {top, height, right} = thing.getBoundingClientRect();
    const least = by("#guide").getBoundingClientRect().bottom - 1;
    return least <= top && top < innerHeight - 30 && height > 0 && right <= innerWidth;
  };
  const isWell = (stop) => npbert.state.tour === `${tour}:${stop}`
    && by("#guide-title").textContent.includes(`stop ${stop} of ${stops}`) && by("#address-said").hidden
    && isSeen(by("[data-spoken]"));
  location.hash = `tour=${tour}:1`;
  for (let stop = 1; stop <= stops; stop += 1) {
    for (let tries = 0; !isWell(stop); tries += 1) {
      if (tries === 200) return `${tour}:${stop} ${by("[data-spoken]")?.outerHTML.slice(0, 300)}`;
      await frame();
    }
    if (stop < stops) document.activeElement.click(); // the keyboard is at "Next stop"
  }
  return by("#guide-text").textContent.replaceAll(/\\s+/g, " ");
}"""

STOPS_THAT_MISS_SOMETHING = """() => {
  document.body.hidden = true; // nothing has to be laid out
  const missing = [...document.querySelectorAll("[data-tour] li")].filter(({dataset}) => {
    history.replaceState(null, "", `#${dataset.address}`);
    dispatchEvent(new Event("hashchange"));
    return !document.getElementById("address-said").hidden;
  });
  document.body.hidden = false;
  return missing.map(({dataset}) => dataset.address);
}"""


def test_keys_buttons_the_map_and_playing_step(page):
    last = page.evaluate(f"{TRACE}.steps.length") - 1
    page.evaluate("document.activeElement.blur()")
    for key, step in (("ArrowRight", 1), ("End", last), ("ArrowRight", last), ("Home", 0), ("ArrowLeft", 0)):
        page.keyboard.press(key)
        assert page.evaluate(STEP) == step, key
    page.click("#go-forward")
    assert (page.evaluate(STEP), page.input_value("#steps")) == (1, "1")
    page.select_option("#steps", "5")
    assert page.inner_text("#step-title") == page.evaluate(f"{TRACE}.steps[5].title")
    page.click("#tab-break")
    page.click("#map [aria-label='backward: layer 1 attention']")
    assert page.evaluate(f"{TRACE}.steps[{STEP}].part").startswith(f"{LAYER}.attention")
    assert page.get_attribute("#map [aria-current='step']", "data-from") == str(page.evaluate(STEP)), "its first step"
    page.evaluate("globalThis.setInterval = (play) => { globalThis.tick = play; return 1; }")  # no test waits for it
    page.click("#go-play")
    before = page.evaluate(STEP)
    page.evaluate("tick()")
    page.click("#go-play")
    assert page.evaluate(STEP) == before + 1


def test_the_tape_fills_then_empties_and_the_lines_that_compute_a_step_are_lit(page):
    sizes = page.evaluate(
        f"{TRACE}.steps.map((_, step) => (npbert.goToStep(step), document.querySelectorAll('#tape-stack li').length))"
    )
    top = sizes.index(max(sizes))
    assert sizes == sorted(sizes[: top + 1]) + sorted(sizes[top + 1 :], reverse=True)
    assert sizes[0] == 1 and max(sizes) > 10 and sizes[-2:] == [0, 0]  # the last is the update
    go_to(page, f"s.part === '{QUERY}' && s.phase === 'backward'")
    own = page.locator("#source > .code")
    assert any("matmul(x.T, dy)" in text for text in own.locator(".lit").all_text_contents())
    page.click("#source summary")
    assert "EncoderLayer.backward" in page.inner_text("#source details")


def test_a_number_is_told_and_the_keyboard_goes_from_number_to_number(page):
    go_to(page, f"s.part === '{QUERY}'")
    page.hover(cell(f"{QUERY}.weight", 1, 2))
    told = number(page.inner_text("#readout strong").split(" = ")[1])
    assert told == pytest.approx(value(page, f"{QUERY}.weight", 1, 2), rel=1e-7)
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
    _, gradients = loss_and_gradients(small_model(), EXAMPLES[:1])
    terms = [number(text) for text in page.locator("#followed .bar-value").all_inner_texts()]
    assert sum(terms) == pytest.approx(gradients[f"{QUERY}.weight"][1, 2], rel=1e-3, abs=1e-8)
    bars.nth(3).click()
    assert page.evaluate(f"{CHOSEN}.name") == f"d({LAYER}.Q)"
    page.click("#ways >> text=Follow the largest to the loss")
    trail = page.evaluate("npbert.state.trail")
    assert trail[-1]["name"] == "d(loss)" and len(trail) > 15
    page.click(".trail li >> text=more")
    factors = re.findall(r"× (\S+) = (\S+)", page.inner_text(".trail"))
    assert len(factors) == len(trail) - 1
    assert number(factors[-1][1]) == pytest.approx(math.prod(number(factor) for factor, _ in factors), rel=1e-2)
    share = abs(number(factors[-1][1]) / value(page, name, 1, 2))  # d(loss) is 1
    said = float(re.search(r"([\d.]+)\xa0% of it", page.inner_text(".chain-said"))[1])
    assert said / 100 == pytest.approx(share, abs=0.006)
    page.keyboard.press("Backspace")
    assert page.evaluate(f"{CHOSEN}.name") == "d(logits)"
    page.click(".trail li:first-child button")
    page.locator("#followed .factor").first.click()
    assert page.evaluate(f"{CHOSEN}.name") == f"{LAYER}.x"  # dW = Σ x dy: to x, not to dy
    page.click("button[aria-label='follow no number']")
    slopes = [number(text.split()[-1]) for text in page.locator("#tries li").all_inner_texts()]
    weights = np.concatenate([grad.ravel() for grad in gradients.values() if grad.ndim > 1])
    assert slopes == pytest.approx(weights[np.argsort(-np.abs(weights))][: len(slopes)], rel=1e-4)


def test_the_paths_of_a_number_are_bars_and_roads_have_sizes(page):
    choose(page, f"d({TABLE})", EXAMPLES[0].input_ids[1], 2)
    page.click("#paths summary")
    page.locator("#paths-drawn .bar").first.wait_for()
    flows = dict(page.locator("#paths-drawn .bar").evaluate_all(TEXTS))
    both = [number(flows[road]) for road in ("as it comes in", "as an answer, on to logits")]
    assert sum(both) == pytest.approx(number(page.inner_text("#paths-total")), rel=1e-3)
    page.click("#paths-drawn button >> nth=0")
    past = page.evaluate(f"[...{TRACE}.arrays.get('d({LAYER}.x) past attention').values]")
    bars = dict(page.locator("#roads .bar").evaluate_all(TEXTS))
    assert number(bars["past attention"].split()[0]) == pytest.approx(np.linalg.norm(past), rel=1e-2)


@pytest.mark.parametrize(("condition", "shared"), [(SCORES, 2), (FORK, 3)])
def test_heads_and_roads_share_one_scale(page, condition, shared):
    go_to(page, condition)
    names = page.evaluate(f"[{TRACE}.steps[{STEP}]].flatMap(({{reads, writes}}) => [...reads, ...writes])")
    names = [name for name in names if name.startswith("d(") and (condition == FORK or ".S." in name)]
    arrays = {name: page.evaluate(f"[...{TRACE}.arrays.get('{name}').values]") for name in names}
    assert len(arrays) >= shared and (condition == SCORES or "(full color: " in page.inner_text("#stage"))
    scale = max(abs(one) for values in arrays.values() for one in values)
    for name, values in arrays.items():
        cells = page.locator(f"table[data-array='{name}'] td[data-row]")
        shares = cells.evaluate_all("cells => cells.map(e => parseInt(e.style.getPropertyValue('--share')))")
        assert shares == pytest.approx([100 * abs(one) / scale for one in values], abs=0.51)


def test_what_is_shown_has_an_address_that_leads_back_to_it(page, thorough):
    assert page.evaluate(ROUND_TRIPS, [100 if thorough else 12, SEEN]) == []


def test_the_browsers_own_keys_go_back_and_forward(page):
    page.evaluate("npbert.goToStep(20)")
    page.wait_for_function("location.hash === '#step=21'")
    page.click("#tab-break")
    page.wait_for_function("location.hash === '#step=21&tab=break'")
    page.go_back()
    page.wait_for_function("npbert.state.view === 'step'")
    assert page.evaluate(STEP) == 20  # a step alone is no entry of the history, but it is kept
    page.go_forward()
    page.wait_for_function("npbert.state.view === 'break'")


def test_what_the_page_does_not_have_is_said_and_left_out(page):
    ours = "sentence=99 step=999 number=foo[1,2] bug=x set=a[0,0]:1 tab=x answer=0:how file=x tour=why:99 quiz=zz"
    for wrong in [*ours.split(), "__proto__=1", "<b>=1", "line=zz", "hide=0"]:
        go(page, f"step=3&{wrong}")
        assert f"no such thing: {wrong}" in page.inner_text("#address-said")
        assert page.evaluate("location.hash") == "#step=3"


def test_rules_name_a_step_or_a_number_of_any_model(page):
    go(page, "file=npbert/layers/linear.py")
    assert page.evaluate(f"{TRACE}.steps[{STEP}].kind") == "Linear"
    go(page, "number=largest:dE")
    chosen = page.evaluate(CHOSEN)
    values = page.evaluate(f"[...{TRACE}.arrays.get({CHOSEN}.name).values].map(Math.abs)")
    assert values.index(max(values)) == chosen["row"] * 4 + chosen["column"]
    for role, words in (("answer", "you"), ("hidden", "[MASK]"), ("word", "[CLS] how are [SEP]")):
        go(page, f"step=last:backward word_embeddings&number={role}:dE")
        assert VOCABULARY[page.evaluate(f"{CHOSEN}.row")] in words.split()
    go(page, "step=first:backward LayerNorm&number=even:da")
    terms = page.evaluate(f"(c => npbert.explain({TRACE}, c.name, c.row, c.column).terms)({CHOSEN})")
    sizes = [abs(term["value"]) for term in terms]
    assert min(sizes) > 0.05 * max(sizes), "each of the three roads can be seen"


@pytest.mark.parametrize(("width", "tour"), one_in(5, [(w, t) for w in (360, 1600) for t in range(5)]))
def test_a_tour_runs_to_its_end_with_its_thing_in_sight(open_page, path, width, tour):
    page = open_page(path, width=width, height=800)
    every = page.locator("[data-tour]").evaluate_all(
        "all => all.map(tour => [tour.dataset.tour, tour.querySelectorAll('li').length])"
    )
    assert "npbert learn check" in page.evaluate(TOUR, every[tour])


def test_each_stop_of_each_tour_is_there_and_its_bug_is_not_told_at_first(page):
    go(page, "step=5&tab=train")
    before = page.evaluate("npbert.address()")
    assert page.evaluate(STOPS_THAT_MISS_SOMETHING) == []
    go(page, before)
    go(page, "tour=bug:1")
    assert page.evaluate("npbert.state.bug") and page.is_hidden("#bug-note")
    assert "softmax" not in page.inner_text("#guide") + page.evaluate("npbert.address()")
    assert page.is_checked("#bugs input[value='']")
    go(page, "tour=bug:8")
    assert page.is_visible("#bug-note")
    page.click("text=Done")
    page.wait_for_selector("#guide", state="hidden")
    assert page.evaluate("[npbert.address(), npbert.state.bug]") == [before, None]


@pytest.mark.parametrize("seed", range(4))
def test_the_quiz_asks_about_backprop_and_mistakes_count(page, seed):
    go(page, f"quiz=number:{seed}")
    assert ("rise or fall", "What is missing", "Transposed or not", "Which road")[seed] in page.inner_text(
        "#guide-title"
    )
    *choices, _ = page.locator("#guide-choices button").all()
    mistakes, said = 0, ""
    for choice in choices:
        if not said.startswith("Yes"):
            choice.click()
            said = page.inner_text("#guide-said")
            mistakes += said.startswith("Not ") and said.endswith(f"({mistakes + 1}\xa0mistake{'s' * (mistakes > 0)})")
    assert said.startswith("Yes") and (f"after {mistakes}\xa0mistake" in said) == (mistakes > 0)
    assert page.locator("td.asked").count() == 0


def test_a_bug_is_found_that_nobody_names(page):
    go(page, "quiz=bug:5")
    assert page.evaluate("npbert.state.bug") and not page.is_visible("#bug-note")
    page.click("#guide-choices .main")
    assert page.inner_text("#guide-said").startswith("Not in step ")
    page.click("#guide-choices >> text=Show me")
    assert page.inner_text("#guide-said").startswith("Shown, after 1\xa0mistake: ") and page.is_visible("#bug-note")
    says, sums = re.findall(r"[+\u2212][\d.]+\d(?:e\u2212\d+)?", page.inner_text("#followed .bad"))
    assert f"is {says.removeprefix('+')}, and not its sum, {sums.removeprefix('+')}." in page.inner_text("#guide-text")
    page.click("#guide-leave")
    page.wait_for_selector("#guide", state="hidden")
    assert page.evaluate("npbert.state.bug") is None
