"""The number page's addresses in a browser, and what stands on them: tours, and the quiz."""

import pytest

from tests.pages.number import STEP, TRACE

SEEN = "#step-count, #stage-head h2, #followed-title, #words, #loss, #bug-name, #changed-what, [aria-selected='true']"
WAIT = 600
"""Milliseconds after which the address has followed what is shown."""
ROUND_TRIPS = """([count, seen]) => {
  const {state} = npbert;
  document.body.hidden = true; // nothing has to be laid out, which is slow
  const below = (n) => Math.floor(n * Math.random());
  const one = (list) => list[below(list.length)];
  const cell = ({name, shape}) => `${name}[${below(shape[0])},${below(shape[1])}]`;
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
  let last = null;
  for (let trip = 0; trip < count; trip += 1) {
    const parameter = one([...state.model.parameters]);
    const arrays = [...state.trace.arrays.values()];
    const hidden = state.data.examples[trip % 4].labels.findIndex((label) => label >= 0);
    const address = new URLSearchParams([["sentence", trip % 4], ["step", 1 + below(state.trace.steps.length)],
      ["number", cell(one(arrays))], ["number", cell(one(arrays))],
      ["answer", `${hidden}:${one(state.data.vocabulary)}`],
      ["set", `${cell({name: parameter[0], shape: parameter[1].shape})}:${Math.random() - 0.5}`], ["bug", one(bugs)],
      ["tab", one(["step", "step", "train"])], ["words", "all"]].filter(() => Math.random() < 0.6));
    go(`${address}&`);
    const here = {address: npbert.address(), seen: now()};
    if (trip) {
      go(`&${last.address}`);
      if (now() !== last.seen || npbert.address() !== last.address || !document.getElementById("address-said").hidden) {
        wrong.push(last.address);
      }
    }
    last = here;
  }
  return wrong;
}"""

IN_SIGHT = """() => {
  const [thing, box] = ["[data-spoken]", "#guide"].map((what) =>
    document.querySelector(what).getBoundingClientRect());
  return box.bottom - 1 <= thing.top && thing.top < innerHeight - 30 && thing.height > 0 && thing.right <= innerWidth;
}"""


@pytest.fixture
def go(page):
    """go(address): there, on the same page."""
    return lambda address: page.evaluate("hash => { location.hash = hash }", address) or page.wait_for_timeout(60)


def test_what_is_shown_has_an_address_that_leads_back_to_it(page):
    assert page.evaluate(ROUND_TRIPS, [200, SEEN]) == []


def test_the_browsers_own_keys_go_back_and_forward(page):
    page.evaluate("npbert.goToStep(20)")
    page.wait_for_timeout(WAIT)
    page.click("#tab-break")
    page.wait_for_timeout(WAIT)
    assert page.evaluate("location.hash") == "#step=21&tab=break"
    page.go_back()
    page.wait_for_function("npbert.state.view === 'step'")
    assert page.evaluate(STEP) == 20  # a step alone is no entry of the history, but it is kept
    page.go_forward()
    page.wait_for_function("npbert.state.view === 'break'")
    page.reload()
    assert page.evaluate("[npbert.state.view, npbert.state.step]") == ["break", 20]


def test_what_the_page_does_not_have_is_said_and_left_out(page, go):
    ours = "sentence=99 step=999 step=x number=foo[1,2] bug=x set=a[0,0]:1 set=a tab=x answer=0:how answer=1:zz file=x"
    for wrong in [*ours.split(), "tour=why:99", "quiz=zz", "words=1", "__proto__=1", "<b>=1"]:
        go(f"step=3&{wrong}")
        assert f"no such thing: {wrong}" in page.inner_text("#address-said")
        assert page.evaluate("location.hash") == "#step=3"


def test_rules_name_a_step_or_a_number_of_any_model(page, go):
    go("file=npbert/layers/linear.py")
    assert page.evaluate(f"{TRACE}.steps[{STEP}].kind") == "Linear"
    go("number=largest:dE")
    array = f"{TRACE}.arrays.get(npbert.state.chosen.name)"
    chosen, step = page.evaluate(f"[npbert.state.chosen, {STEP}]")
    values = page.evaluate(f"[...{array}.values].map(Math.abs)")
    assert values.index(max(values)) == chosen["row"] * page.evaluate(f"{array}.shape[1]") + chosen["column"]
    assert chosen["name"] in page.evaluate(f"[...{TRACE}.steps[{step}].writes, ...{TRACE}.steps[{step}].adds]")


def test_copy_link_shows_the_link_where_the_browser_refuses_to_copy(page):
    page.evaluate("() => { npbert.goToStep(4); navigator.clipboard.writeText = () => Promise.reject(); }")
    page.click("#copy-link")
    assert page.input_value("#address-said input").endswith("#step=5")


def test_in_a_frame_of_another_page_there_is_the_step_alone(open_page, path):
    page = open_page(path, "?embed")
    assert page.is_visible("#stage") and not page.is_visible(".top") and not page.is_visible(".tab-row")
    page.evaluate("npbert.goToStep(4)")
    page.wait_for_timeout(WAIT)
    assert page.get_attribute(".whole a", "href") == f"{path.as_uri()}#step=5"


@pytest.mark.parametrize("width", [1600, 360])
def test_tours_run_to_their_end_with_their_thing_in_sight(open_page, path, width):
    page = open_page(path, width=width, height=800)
    tours = page.locator("[data-tour]").evaluate_all(
        "all => all.map(tour => [tour.dataset.tour, tour.querySelectorAll('li').length])"
    )
    assert len(tours) == 5 and all(6 <= stops <= 10 for _, stops in tours)
    for tour, stops in tours:
        page.evaluate(f"location.hash = 'tour={tour}:1'")
        for stop in range(1, stops + 1):
            page.wait_for_function(f"npbert.state.tour === '{tour}:{stop}'")
            assert f"stop {stop} of {stops}" in page.inner_text("#guide-title")
            page.wait_for_function(IN_SIGHT)
            assert page.is_hidden("#address-said")
            if stop < stops:
                page.evaluate("document.activeElement.click()")  # the keyboard is at "Next stop"
        assert "npbert learn check" in page.inner_text("#guide-text")
    page.click("#guide .as-it-is")
    page.wait_for_selector("#guide", state="hidden")
    assert page.evaluate("npbert.state.bug") is not None


def test_a_number_is_guessed(page, go):
    for seed in range(6):
        go(f"quiz=number:{seed}")
        question = page.inner_text("#guide")
        choices = page.locator("#guide-choices button").all_inner_texts()
        assert page.locator("td.asked").count() == 1 and 2 <= len(set(choices)) == len(choices)
        page.locator("#guide-choices button").first.click()
        said = page.inner_text("#guide-said")
        right = said.split("it is ")[1].split(". Its")[0]
        assert said.startswith("Yes" if right == choices[0] else "No") and right in choices
        assert question.count(right) == 1 and page.inner_text("#followed-title").endswith(f"= {right}")


def test_a_bug_is_found_that_nobody_names(page, go):
    go("quiz=bug:5")
    assert page.evaluate("npbert.state.bug") and not page.is_visible("#bug-note")
    page.click("#guide-choices .main")
    assert page.inner_text("#guide-said").startswith("Not in step ")
    page.click("#tab-break")
    page.wait_for_function("document.getElementById('check-said').textContent.includes('wrong')")
    assert page.is_checked("#bugs input[value='']") and not page.locator(".first-wrong").count()
    page.click("#tab-step")
    page.click("#guide-choices >> text=Show me")
    assert page.inner_text("#guide-said").startswith("It is here: ") and page.is_visible("#bug-note")
    page.click("#guide .as-it-is")
    page.wait_for_selector("#guide", state="hidden")
