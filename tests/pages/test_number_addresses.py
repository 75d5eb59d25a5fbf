"""The number page's addresses in a browser, and what stands on them: tours, and the quiz."""

import re

import pytest

from tests.pages.number import STEP, TRACE, VOCABULARY, box
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


@pytest.fixture
def go(page):
    """go(address): there, on the same page."""
    there = "hash => { history.replaceState(null, '', `#${hash}`); dispatchEvent(new Event('hashchange')) }"
    return lambda address: page.evaluate(there, address)


def test_what_is_shown_has_an_address_that_leads_back_to_it(page, thorough):
    assert page.evaluate(ROUND_TRIPS, [100 if thorough else 20, SEEN]) == []


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
    page.reload()
    assert page.evaluate("[npbert.state.view, npbert.state.step]") == ["break", 20]


def test_what_the_page_does_not_have_is_said_and_left_out(page, go):
    ours = "sentence=99 step=999 step=x number=foo[1,2] bug=x set=a[0,0]:1 set=a tab=x answer=0:how answer=1:zz file=x"
    for wrong in [*ours.split(), "tour=why:99", "quiz=zz", "words=1", "__proto__=1", "<b>=1", "line=zz", "hide=0"]:
        go(f"step=3&{wrong}")
        assert f"no such thing: {wrong}" in page.inner_text("#address-said")
        assert page.evaluate("location.hash") == "#step=3"


def test_rules_name_a_step_or_a_number_of_any_model(page, go):
    go("file=npbert/layers/linear.py")
    assert page.evaluate(f"{TRACE}.steps[{STEP}].kind") == "Linear"
    go("number=largest:dE")
    chosen = page.evaluate("npbert.state.chosen")
    values = page.evaluate(f"[...{TRACE}.arrays.get(npbert.state.chosen.name).values].map(Math.abs)")
    assert values.index(max(values)) == chosen["row"] * 4 + chosen["column"]
    assert box(page, "#stage td.chosen")["top"] > 0
    for role, words in (("answer", "you"), ("hidden", "[MASK]"), ("word", "[CLS] how are [SEP]")):
        go(f"step=last:backward word_embeddings&number={role}:dE")
        assert VOCABULARY[page.evaluate("npbert.state.chosen.row")] in words.split()
    go("step=first:backward LayerNorm&number=even:da")
    sizes = page.evaluate(
        "(c => npbert.explain(npbert.state.trace, c.name, c.row, c.column).terms)(npbert.state.chosen)"
    )
    sizes = [abs(term["value"]) for term in sizes]
    assert min(sizes) > 0.05 * max(sizes), "each of the three roads can be seen"


def test_in_a_frame_of_another_page_there_is_the_step_alone_and_a_link_to_all(open_page, path):
    page = open_page(path, "?embed")
    assert page.is_visible("#stage") and not page.is_visible("#title") and not page.is_visible(".tabs")
    page.evaluate("npbert.goToStep(4)")
    page.wait_for_function("href => document.getElementById('link').href === href", arg=f"{path.as_uri()}#step=5")


@pytest.mark.parametrize("width", one_in(2, [360, 1600]))
def test_tours_run_to_their_end_with_their_thing_in_sight(open_page, path, width):
    page = open_page(path, width=width, height=800)
    tours = page.locator("[data-tour]").evaluate_all(
        "all => all.map(tour => [tour.dataset.tour, tour.querySelectorAll('li').length])"
    )
    assert len(tours) == 5 and all(6 <= stops <= 10 for _, stops in tours)
    for tour, stops in tours:
        assert "npbert learn check" in page.evaluate(TOUR, [tour, stops])
    assert page.evaluate("npbert.state.bug") is not None


def test_a_tour_does_not_tell_its_bug_at_first_and_leaves_none_behind(page, go):
    go("step=5&tab=train")
    before = page.evaluate("npbert.address()")
    go("tour=bug:1")
    assert (
        page.evaluate("npbert.state.bug") and page.is_hidden("#bug-note") and "softmax" not in page.inner_text("#guide")
    )
    assert page.is_checked("#bugs input[value='']") and "softmax" not in page.evaluate("npbert.address()")
    go("tour=bug:8")
    assert page.is_visible("#bug-note")
    page.click("text=Done")
    page.wait_for_selector("#guide", state="hidden")
    assert page.evaluate("[npbert.address(), npbert.state.bug]") == [before, None]


def test_the_quiz_asks_about_backprop_and_mistakes_count(page, go):
    titles = ("rise or fall", "What is missing", "Transposed or not", "Which road")
    for seed in range(4):
        go(f"quiz=number:{seed}")
        assert titles[seed % 4] in page.inner_text("#guide-title")
        choices = page.locator("#guide-choices button").all_inner_texts()[:-1]
        assert 2 <= len(set(choices)) == len(choices)
        mistakes = 0
        for choice in page.locator("#guide-choices button").all()[:-1]:
            choice.click()
            said = page.inner_text("#guide-said")
            if said.startswith("Yes"):
                break
            mistakes += 1
            assert said.startswith("Not ") and said.endswith(f" ({mistakes}\xa0mistake{'s' * (mistakes > 1)})")
        assert said.startswith("Yes") and (f"after {mistakes}\xa0mistake" in said) == (mistakes > 0)
        assert page.locator("td.asked").count() == 0 and page.is_visible("#bar")


def test_a_bug_is_found_that_nobody_names(page, go):
    go("quiz=bug:5")
    assert page.evaluate("npbert.state.bug") and not page.is_visible("#bug-note")
    page.click("#guide-choices .main")
    assert page.inner_text("#guide-said").startswith("Not in step ")
    page.click("#tab-break")
    assert "wrong" in page.inner_text("#check-said") and page.is_checked("#bugs input[value='']")
    page.click("#tab-step")
    page.click("#guide-choices >> text=Show me")
    assert page.inner_text("#guide-said").startswith("Shown, after 1\xa0mistake: ") and page.is_visible("#bug-note")
    says, sums = re.findall(r"[+\u2212][\d.]+\d(?:e\u2212\d+)?", page.inner_text("#followed .bad"))
    assert f"is {says.removeprefix('+')}, and not its sum, {sums.removeprefix('+')}." in page.inner_text("#guide-text")
    page.click("#guide-leave")
    page.wait_for_selector("#guide", state="hidden")
    assert page.evaluate("npbert.state.bug") is None
