"""All that a reader needs stays at hand: in sight, under the keyboard, on a phone, at 200 %, and on paper."""

import pytest

from tests.pages.number import DENSE, STEP, TRACE, box, choose, go_to

FOCUS = "document.activeElement.id || document.activeElement.tagName"


@pytest.mark.parametrize(("width", "height"), [(640, 400), (360, 740)], ids=["at 200 %", "phone"])
def test_stepping_stays_in_sight_and_shows_the_step_from_its_title_on(open_page, path, width, height):
    page = open_page(path, width=width, height=height)
    go_to(page, "s.kind === 'LayerNorm'", "Last")
    page.evaluate("scrollTo(0, 900)")
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
    assert page.locator("button:visible:not(.bar, .factor, .trail button), input[type=range]:visible").count() == 0
