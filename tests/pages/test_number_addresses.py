"""The number page's addresses in a browser, and what stands on them: tours, and the quiz."""

import re

import pytest

from tests.pages.number import CHOSEN, STEP, TRACE, found_at, go, press, until
from tests.tables import one_in

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
    state.trace.loss,
    [...document.querySelectorAll(seen)].map((element) => element.textContent),
  ]);
  const go = (address) => {
    history.replaceState(null, "", `#${address}`);
    dispatchEvent(new Event("hashchange"));
  };
  const bugs = [...document.querySelectorAll("#bugs input")].map(({value}) => value).filter(Boolean);
  const wrong = [];
  for (let trip = 0, last = null; trip < count; trip += 1) {
    const arrays = [...state.trace.arrays.values()].filter(({isHidden, name}) => !isHidden && !name.includes(": "));
    const hidden = state.data.examples[trip % 4].labels.findIndex((label) => label >= 0);
    const others = state.data.vocabulary.filter((_, id) => id !== state.data.examples[trip % 4].labels[hidden]);
    const asked = new URLSearchParams([...(trip % 4 ? [["sentence", trip % 4]] : []), ...[
      ["answer", `${hidden}:${one(others)}`],
      ["bug", one(bugs)],
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
TOUR = """async (number) => {
  const section = document.querySelectorAll("[data-tour]")[number];
  const {tour} = section.dataset;
  const stops = section.querySelectorAll("li").length;
  const frame = () => new Promise((done) => setTimeout(done, 5));
  const by = (what) => document.querySelector(what);
  const isSeen = (thing) => {
    const {top, height, right} = thing.getBoundingClientRect();
    const guide = by("#guide").getBoundingClientRect();
    return guide.top >= 0 && guide.bottom - 1 <= top && top < innerHeight - 30 && height > 0 && right <= innerWidth;
  };
  const isFirst = (choice) => {
    const {left, top} = choice.getBoundingClientRect();
    return left < 60 && top < 20; // so at every stop
  };
  const isOnTop = (cell) => {
    const {left, top} = cell.getBoundingClientRect();
    return document.elementFromPoint(left + 5, top + 5) === cell; // under no box and no sheet
  };
  const isWell = (stop) => npbert.state.tour === `${tour}:${stop}`
    && by("#guide-title").textContent.includes(`stop ${stop} of ${stops}`) && by("#address-said").hidden
    && isSeen(by("[data-spoken]")) && isFirst(by("#guide a.main"))
    && [...document.querySelectorAll("#view-step:not([hidden]) td.chosen")].every(isOnTop);
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


def test_what_is_shown_has_an_address_that_leads_back_to_it(page, thorough):
    assert page.evaluate(ROUND_TRIPS, [100 if thorough else 4, SEEN]) == []


def test_the_browsers_own_keys_go_back_and_forward(page):
    page.evaluate("npbert.goToStep(20)")
    until(page, "location.hash === '#step=21'")
    page.click("#tab-break")
    until(page, "location.hash === '#step=21&tab=break'")
    page.go_back()
    until(page, "npbert.state.view === 'step'")
    assert page.evaluate(STEP) == 20  # a step alone is no entry of the history, but it is kept
    page.go_forward()
    until(page, "npbert.state.view === 'break'")


def test_what_the_page_does_not_have_is_said_and_left_out(page):
    ours = "sentence=99 step=999 number=foo[1,2] bug=x tab=x answer=0:how file=x tour=why:99 quiz=zz line=zz hide=0"
    wrong = f"{ours} __proto__=1 <b>=1".split()
    told = "[document.getElementById('address-said').textContent, location.hash]"
    for each, (said, address) in zip(wrong, found_at(page, [f"step=3&{one}" for one in wrong], told), strict=True):
        assert said.endswith(f"no such thing: {each}") and address == "#step=3"


@pytest.mark.thorough
def test_rules_name_a_step_or_a_number_of_any_model(page):
    assert found_at(page, ["file=npbert/layers/linear.py"], f"{TRACE}.steps[{STEP}].kind") == ["Linear"]
    roles = [f"step=last:backward word_embeddings&number={role}:dE" for role in ("answer", "hidden", "word")]
    answer, hidden, word = found_at(page, roles, f"npbert.state.data.vocabulary[{CHOSEN}.row]")
    assert answer == "you" and hidden == "[MASK]" and word in ("[CLS]", "how", "are", "[SEP]")
    sizes = f"(c => npbert.explain({TRACE}, c.name, c.row, c.column).terms.map(term => Math.abs(term.value)))({CHOSEN})"
    even, first = found_at(page, ["step=first:backward LayerNorm&number=even:da", "tour=residual:7"], sizes)
    assert min(even) > 0.05 * max(even), "each of the three roads can be seen"
    assert first[0] > 50 * max(first[1:]), "the road past attention brings most"
    assert "57.4\xa0% of its length" in found_at(page, ["tour=residual:8"], "document.all.guide.innerText")[0]


@pytest.mark.parametrize(("width", "tour"), one_in(10, [(w, t) for w in (360, 1600) for t in (1, 0, 2, 3, 4)]))
def test_a_tour_runs_to_its_end_with_its_thing_in_sight(open_page, path, width, tour):
    page = open_page(path, width=width, height=800)
    assert "npbert learn check" in page.evaluate(TOUR, tour)


@pytest.mark.thorough
def test_each_stop_of_each_tour_is_there_and_its_bug_is_not_told_at_first(page):
    go(page, "step=5&tab=train")
    before = page.evaluate("npbert.address()")
    assert page.evaluate(STOPS_THAT_MISS_SOMETHING) == []
    go(page, before)
    go(page, "tour=bug:1")
    assert page.evaluate("npbert.state.bug") and page.is_hidden("#bug-note")
    assert "softmax" not in page.inner_text("#guide") + page.evaluate("npbert.address()")
    page.keyboard.press("ArrowRight")
    until(page, "npbert.state.tour === 'bug:2'")
    go(page, "tour=bug:8")
    assert page.is_visible("#bug-lines .bad")
    page.click("text=Done")
    page.wait_for_selector("#guide", state="hidden")
    assert page.evaluate("[npbert.address(), npbert.state.bug]") == [before, None]


def test_the_quiz_asks_about_backprop_the_easiest_first_and_mistakes_count(page, thorough):
    go(page, "quiz=number:0")
    kinds = "rise or fall", "Which road", "What is missing", "Transposed or not"
    for number, kind in enumerate(kinds if thorough else kinds[:2], 1):
        assert kind in page.inner_text("#guide-title")
        said = []
        for choice in page.locator("#guide-choices button").all():
            choice.dispatch_event("click")
            said.append(page.inner_text("#guide-said"))
            if said[-1].startswith("Yes"):
                break
        *wrong, right = said
        assert right.startswith("Yes") and (f"after {len(wrong)}\xa0mistake" in right) == bool(wrong)
        assert all(each.startswith("Not ") for each in wrong) and page.locator("td.asked").count() == 0
        assert page.locator("#followed .bar").count() > 0  # the sum that answers
        press(page, "#guide-choices >> text=Next question")
        until(page, "seed => npbert.state.quiz.seed === seed", arg=number)


def test_the_quiz_leaves_no_factor_out_and_asks_nothing_that_signs_give_away(page):
    asked = found_at(page, [f"quiz=number:{seed}" for seed in range(150)], "document.all.guide.innerText")
    assert {"/ √d" in text for text in asked if re.search(r"gradient d[QK]\[", text)} == {True}
    assert all("\u2212" in text for text in asked[::4]), "signs that are all + give the answer away"


def test_a_bug_is_found_that_nobody_names(page):
    go(page, "quiz=bug:5")
    assert page.evaluate("npbert.state.bug") and not page.is_visible("#bug-note, #proof, #bugs input:checked")
    press(page, "#guide-choices .main")
    assert page.inner_text("#guide-said").startswith("Not in step ")
    press(page, "#guide-choices >> text=Show me")
    assert page.inner_text("#guide-said").startswith("Shown, after 1\xa0mistake: ") and page.is_visible("#bug-note")
    says, sums = re.findall(r"[+\u2212][\d.]+\d(?:e\u2212\d+)?", page.inner_text("#followed .bad"))
    assert f"is {says.removeprefix('+')}, and not its sum, {sums.removeprefix('+')}." in page.inner_text("#guide-text")
    page.click("#guide-leave")
    page.wait_for_selector("#guide", state="hidden")
    assert page.evaluate("npbert.state.bug") is None
