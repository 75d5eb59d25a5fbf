"""The number page for small screens, fingers, paper, frames, and eyes of all kinds."""

import pytest

from tests.pages.number import SCORES, TRACE, box, go, go_to

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


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_the_first_screen_has_the_guess_the_map_one_question_and_the_first_numbers(open_page, path, width, height):
    page = open_page(path, width=width, height=height)
    go(page, "")
    page.evaluate("scrollTo(0, 0)")
    for thing in ("#guesses", "#map", "#why-this", "#stage td[data-row]"):
        place = box(page, thing)
        assert place["top"] > 0 and place["bottom"] <= height, thing


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1600, "dark")])
def test_it_fits_the_window_and_what_is_written_in_a_cell_can_be_read(open_page, path, width, scheme):
    page = open_page(path, width=width, color_scheme=scheme)
    for condition in (SCORES, "s.kind === 'CrossEntropy'", "s.phase === 'update'"):
        go_to(page, condition)
        assert min(page.evaluate(CONTRASTS)) >= 4.5
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#stage td[data-row]").first.click()
    for view in ("break", "train", "step"):
        page.click(f"#tab-{view}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view


def test_in_a_narrow_window_the_sum_is_a_sheet_at_the_bottom_and_stepping_stays_in_sight(open_page, path):
    page = open_page(path, width=360, height=700)
    go(page, "")
    go_to(page, SCORES)
    page.locator("#stage td[data-row]").last.click()
    page.wait_for_function("document.querySelector('.chosen').getBoundingClientRect().bottom <= 385")
    sheet = box(page, "#follow")
    assert (sheet["left"], sheet["right"], sheet["bottom"]) == (0, 360, 700)
    assert box(page, "#stage td.chosen")["bottom"] <= sheet["top"]
    page.click("#follow .leave")
    assert page.is_hidden("#followed")
    page.click("#go-back")
    assert box(page, "#bar")["bottom"] <= box(page, "#stage-head")["top"] + 1 < 350


def test_axe_finds_nothing(page):
    """Its rules for what people who cannot see or point need; in the dark, those of colors."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python").Axe()

    def found(**options):
        options = {"preload": False, "iframes": False, "selectors": False, "resultTypes": ["violations"], **options}
        violations = axe.run(page, options=options).response["violations"]
        return [(one["id"], one["nodes"][0]["html"]) for one in violations]

    for view in ("break", "train", "step"):
        page.click(f"#tab-{view}")
    go_to(page, "s.kind === 'Add'")
    page.locator("#stage td[data-row]").last.click()
    page.evaluate("document.querySelectorAll('[role=tabpanel]').forEach(view => { view.hidden = false; })")
    assert found() == []
    page.emulate_media(color_scheme="dark")
    assert found(runOnly=["color-contrast"]) == []


def test_fingers_are_told_of_no_keys_and_hit_what_they_want(page):
    assert "→" in page.inner_text(".lead")
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.locator("#stage td[data-row]").first.click()
    assert not any(word in page.inner_text("main, header >> nth=0") for word in ("Esc", "Backspace", "press →"))
    small = page.evaluate(
        "[...document.querySelectorAll('button, select, .heat td[data-row]')].filter(e => e.offsetWidth)"
        ".filter(e => Math.min(e.offsetWidth, e.offsetHeight) < 24).map(e => e.outerHTML)"
    )
    session.detach()
    assert small == []


@pytest.mark.parametrize("media", [{"media": "print"}, {"forced_colors": "active"}], ids=["paper", "forced colors"])
def test_on_paper_and_in_forced_colors_the_numbers_are_written(page, media):
    page.evaluate("npbert.goToStep(6)")
    page.emulate_media(**media)
    cell = page.locator("#stage td[data-row]").first
    assert cell.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)") > 8
    if "media" in media:
        assert page.locator("#tools:visible, #bar:visible, input[type=range]:visible").count() == 0


def test_of_a_long_vocabulary_the_words_that_matter_are_shown(open_page, path):
    page = open_page(path, "?long")
    table = "bert.embeddings.word_embeddings.weight"
    page.evaluate("npbert.state.data.vocabulary.push(...Array.from({length: 30}, (_, i) => `word${i}`))")
    page.evaluate(f"{TRACE}.arrays.get('{table}').shape[0] = 44")
    for step in (1, 0):
        page.evaluate(f"npbert.goToStep({step})")
    rows = page.locator(f"#stage table[data-array='{table}'] tbody tr")
    assert 4 < rows.count() < 14
    page.click("#all-words")
    assert rows.count() == 44


def test_in_a_frame_of_another_page_there_is_the_step_alone_and_a_link_to_all(open_page, path):
    page = open_page(path, "?embed")
    assert page.is_visible("#stage") and not page.is_visible("#title") and not page.is_visible(".tabs")
    page.evaluate("npbert.goToStep(4)")
    page.wait_for_function("href => document.getElementById('link').href === href", arg=f"{path.as_uri()}#step=5")
