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
    page.evaluate("document.activeElement.blur()")
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
    assert page.get_attribute("#sheet-larger", "aria-pressed") == "true"
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
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts) > 2
        assert min(contrasts) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page, path, scheme):
    """Its rules for what people who cannot see or point need."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python").Axe()
    page = open_page(path, color_scheme=scheme, width=768 if scheme == "dark" else 1600)

    def found():
        return [(one["id"], one["nodes"][0]["html"]) for one in axe.run(page).response["violations"]]

    assert found() == []
    go_to(page, LOSS)
    assert found() == []
    go_to(page, SCORES)
    page.locator("#stage td[data-row]").last.click()
    assert found() == []
    for view in ("move", "break", "train"):
        page.click(f"#tab-{view}")
        assert found() == [], view


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
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    session.detach()
    assert small == []


def test_heads_and_roads_share_one_scale(page):
    for condition, shared in ((SCORES, 2), (FORK, 3)):
        go_to(page, condition)
        families = page.evaluate(f"""[{TRACE}.steps[{STEP}]].map(({{reads, writes, kind}}) => {{
          const isKin = (name) => kind === "Fork" ? name.startsWith("d(") : /d[(].*[.]S[.]/.test(name);
          return [...reads, ...writes].filter(isKin).map((name) => {{
            const values = [...{TRACE}.arrays.get(name).values];
            const cells = [...document.querySelectorAll(`table[data-array="${{name}}"] td[data-row]`)];
            return [values, cells.map((cell) => parseInt(cell.style.getPropertyValue("--share")))];
          }});
        }})[0]""")
        assert len(families) >= shared
        scale = max(abs(value) for values, _ in families for value in values)
        for values, shares in families:
            assert shares == pytest.approx([100 * abs(value) / scale for value in values], abs=0.51)
    text = page.inner_text("#stage")
    assert "largest " in text
    assert "(full colour: " in text
