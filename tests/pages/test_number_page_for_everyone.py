"""The number page for small screens, fingers, the keyboard, and eyes of all kinds."""

import pytest

from tests.pages.number import STEP, TRACE, box, go_to

SCORES = "s.phase === 'backward' && s.kind === 'Softmax'"
FORK = "s.phase === 'backward' && s.kind === 'Fork'"
LOSS = "s.kind === 'CrossEntropy'"

CONTRASTS = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const luminanceOf = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) =>
      part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return [...document.querySelectorAll(".heat td[data-row], .swatch")].map((cell) => {
    const {color, backgroundColor} = getComputedStyle(cell);
    const [dark, bright] = [color, backgroundColor].map(luminanceOf).sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  });
}"""


def test_the_keyboard_is_at_the_numbers_after_five_stops(page):
    stops = 0
    while not page.evaluate("document.activeElement.matches('#stage td')"):
        page.keyboard.press("Tab")
        stops += 1
        assert stops <= 10
    assert stops - 2 <= 5  # but for the button that skips to them, and for the number itself
    page.focus("#skip")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('#stage td')")


@pytest.mark.parametrize("width", [768, 640, 360])
def test_in_a_narrow_window_the_sum_is_a_sheet_at_the_bottom(open_page, path, width):
    """640: what is left of a window 1280 wide at 200 %."""
    page = open_page(path, width=width, height=700)
    go_to(page, SCORES)
    page.locator("#stage td[data-row]").last.click()
    page.wait_for_function("document.querySelector('.chosen').getBoundingClientRect().bottom <= 385")
    sheet, cell = box(page, "#follow"), box(page, "#stage td.chosen")
    assert (sheet["left"], sheet["right"], sheet["bottom"]) == (0, width, 700)
    assert 0.5 * 700 <= cell["bottom"] <= sheet["top"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#sheet-larger")
    page.click("#followed button.factor >> nth=0")
    assert box(page, "#follow")["top"] <= sheet["top"]
    assert page.evaluate("document.getElementById('followed').scrollTop") == 0
    page.click("#sheet-close")
    assert page.is_hidden("#followed")
    assert page.evaluate("getComputedStyle(document.getElementById('follow')).position") == "static"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_written_in_a_cell_can_be_read(open_page, path, scheme):
    page = open_page(path, color_scheme=scheme)
    for condition in (SCORES, FORK, LOSS, "s.kind === 'Linear'"):
        go_to(page, condition)
        assert min(page.evaluate(CONTRASTS)) >= 4.5


def test_axe_finds_nothing(page):
    """Its rules for what people who cannot see or point need; in the dark, those of colours."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python").Axe()

    def found(**options):
        options = {"preload": False, "iframes": False, "selectors": False, "resultTypes": ["violations"], **options}
        violations = axe.run(page, options=options).response["violations"]
        return [(one["id"], one["nodes"][0]["html"]) for one in violations]

    for view in ("step", "train"):
        page.click(f"#tab-{view}")
        if view == "step":
            go_to(page, LOSS)
            page.locator("#stage td[data-row]").last.click()
        page.emulate_media(color_scheme="light")
        assert found() == [], view
        page.emulate_media(color_scheme="dark")
        assert found(runOnly=["color-contrast"]) == [], view


def test_fingers_are_told_of_no_keys_and_hit_what_they_want(page):
    assert "Esc" in page.inner_text(".lead")
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.locator("#stage td[data-row]").first.click()
    assert not any(word in page.inner_text("main, header >> nth=0") for word in ("Esc", "Backspace", "Enter", "→ or"))
    small = page.evaluate(
        "[...document.querySelectorAll('button, select, .heat td[data-row]')].filter(e => e.offsetWidth)"
        ".filter(e => Math.min(e.offsetWidth, e.offsetHeight) < 24).map(e => e.outerHTML)"
    )
    session.detach()
    assert small == []


def test_heads_and_roads_share_one_scale(page):
    for condition, shared in ((SCORES, 2), (FORK, 3)):
        go_to(page, condition)
        names = page.evaluate(f"[{TRACE}.steps[{STEP}]].flatMap(({{reads, writes}}) => [...reads, ...writes])")
        names = [name for name in names if name.startswith("d(") and (condition == FORK or ".S." in name)]
        arrays = {
            name: page.evaluate("name => [...npbert.state.trace.arrays.get(name).values]", name) for name in names
        }
        assert len(arrays) >= shared
        scale = max(abs(value) for values in arrays.values() for value in values)
        for name, values in arrays.items():
            cells = page.locator(f"table[data-array='{name}'] td[data-row]")
            shares = cells.evaluate_all("cells => cells.map(e => parseInt(e.style.getPropertyValue('--share')))")
            assert shares == pytest.approx([100 * abs(value) / scale for value in values], abs=0.51)
    assert "(full colour: " in page.inner_text("#stage")
