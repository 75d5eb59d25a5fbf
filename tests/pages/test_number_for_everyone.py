"""The number page for small screens, fingers, paper, frames, and eyes of all kinds."""

import pytest

from tests.pages.number import SCORES, box, go, go_to, press, until
from tests.tables import one_in

CONTRASTS = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const luminanceOf = (color) => {
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) =>
      part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return [...document.querySelectorAll(".heat td[data-row]")].map((cell) => {
    const {color, backgroundColor} = getComputedStyle(cell);
    const [dark, bright] = [color, backgroundColor].map(luminanceOf).sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  });
}"""

ON_TOP = """(selector) => [...document.querySelectorAll(selector)].every((thing) => {
  const {left, right, top, bottom} = thing.getBoundingClientRect();
  const isThere = ([x, y]) => thing.contains(document.elementFromPoint(x, y));
  return [[left + 5, top + 5], [right - 5, bottom - 5]].every(isThere);
})"""
"""Is all of it in sight, with nothing over it?"""


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_the_first_screen_has_the_guess_the_map_one_question_and_the_first_numbers(open_page, path, width, height):
    page = open_page(path, width=width, height=height)
    go(page, "")
    page.evaluate("scrollTo(0, 0)")
    first_cell = "#stage .group:first-child .figure:first-child tr:first-child td[data-column='0']"
    assert page.evaluate(ON_TOP, f"#guesses, #map button, #why-this, {first_cell}")


@pytest.mark.parametrize("width", one_in(2, [360, 1600]))
def test_it_fits_the_window_and_what_is_written_in_a_cell_can_be_read(open_page, path, width):
    page = open_page(path, width=width)
    for condition in (SCORES, "s.phase === 'update'"):
        go_to(page, condition)
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            assert min(page.evaluate(CONTRASTS)) >= 4.5
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    press(page, "#stage td[data-row]")
    for view in ("break", "train", "step"):
        press(page, f"#tab-{view}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view


def test_in_a_narrow_window_the_sum_is_a_sheet_at_the_bottom_and_stepping_stays_in_sight(open_page, path):
    page = open_page(path, width=360, height=700)
    go(page, "")
    go_to(page, SCORES)
    page.locator("#stage td[data-row]").last.click()
    until(page, "document.querySelector('.chosen').getBoundingClientRect().bottom <= 385")
    sheet = box(page, "#follow")
    assert (sheet["left"], sheet["right"], sheet["bottom"]) == (0, 360, 700)
    assert page.evaluate(ON_TOP, "#stage td.chosen")
    page.evaluate("document.querySelector('#follow').scrollTop = 9999")
    assert box(page, "#followed-title")["top"] == sheet["top"] + 2, "under the border, and nothing shows between them"
    press(page, "#source summary")  # what is unfolded comes into sight
    until(page, "document.querySelector('#source details').getBoundingClientRect().top < 470")
    press(page, "#stage td[data-row]")
    page.locator("#move-slider").fill("0.1")
    assert page.evaluate(ON_TOP, "#go-back")
    page.click("#follow .leave")
    assert page.is_hidden("#followed")
    page.click("#go-back")
    assert box(page, "#bar")["bottom"] <= box(page, "#stage-head")["top"] + 1 < 350
    press(page, "#tab-train")
    before = box(page, "#train-one")
    press(page, "#train-one")
    until(page, "npbert.state.stepsTrained")
    assert box(page, "#train-one") == before, "no note moves it"
    assert page.inner_text("#loss-note").startswith("it was ")
    page.evaluate("scrollTo(0, 300)")
    assert page.evaluate(ON_TOP, "#tab-step")
    press(page, "#train-trained")
    page.set_viewport_size({"width": 360, "height": 500})
    go(page, "quiz=bug:5")  # a long text: it scrolls, and the buttons are there
    assert page.evaluate(ON_TOP, "#guide-choices > *, #guide-leave")


@pytest.mark.thorough
def test_axe_finds_nothing(page):
    """Its rules for what people who cannot see or point need."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python").Axe()

    def found(**options):
        violations = axe.run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
        return [(one["id"], one["nodes"][0]["html"]) for one in violations]

    for view in ("break", "train", "step"):
        press(page, f"#tab-{view}")
    go_to(page, SCORES)
    press(page, "#stage td[data-row]")
    page.evaluate("document.querySelectorAll('[role=tabpanel]').forEach(view => { view.hidden = false; })")
    assert found() == []
    page.emulate_media(color_scheme="dark")
    assert found(runOnly=["color-contrast"]) == []


def test_fingers_are_told_of_no_keys_and_hit_what_they_want(page):
    assert "→" in page.inner_text(".lead")
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    press(page, "#stage td[data-row]")
    assert not any(word in page.inner_text("main, header >> nth=0") for word in ("Esc", "Backspace", "press →"))
    small = page.evaluate(
        "[...document.querySelectorAll('button, select, .heat td[data-row]')].filter(e => e.offsetWidth)"
        ".filter(e => Math.min(e.offsetWidth, e.offsetHeight) < 24).map(e => e.outerHTML)"
    )
    session.detach()
    assert small == []


@pytest.mark.thorough
def test_on_paper_and_in_forced_colors_the_numbers_are_written(page):
    size = "() => parseFloat(getComputedStyle(document.querySelector('#stage td[data-row]')).fontSize)"
    page.emulate_media(forced_colors="active")
    assert page.evaluate(size) > 8
    page.emulate_media(media="print", forced_colors="none")
    assert page.evaluate(size) > 8
    assert page.locator("#tools:visible, #bar:visible, input[type=range]:visible").count() == 0
