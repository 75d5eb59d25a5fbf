"""The reading site in a real browser: on a phone and on a wide screen, with the keyboard, in light and in dark."""

import re

import pytest

from tests.pages.built_site import site_folder

WIDE = ["index.html", "docs/05-layer-norm.html", "npbert/layers/dot_product_attention.html",
        "npbert/training/trainer.html", "npbert/__init__.html", "api/npbert.html"]  # fmt: skip


@pytest.fixture
def visit(open_page):
    """visit(path, width=…) -> the page; it had no error, and asked for nothing but files of the site."""
    return lambda path, **options: open_page(site_folder() / path, within=site_folder(), **options)


@pytest.mark.parametrize("path", WIDE)
def test_no_page_is_wider_than_the_screen(visit, path):
    page = visit(path)
    for width in (1600, 360):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_forward_stands_beside_backward_on_a_phone_above_it_and_on_paper_there_are_no_bars(visit):
    page = visit("npbert/layers/linear.html")
    for width, beside in ((1600, True), (360, False)):
        page.set_viewport_size({"width": width, "height": 900})
        forward, backward = (page.locator(f'[id="Linear.{name}"]').bounding_box() for name in ("forward", "backward"))
        assert (abs(forward["y"] - backward["y"]) < 1) == beside
        assert (backward["x"] > forward["x"] + forward["width"]) == beside
        assert beside or backward["y"] >= forward["y"] + forward["height"]
    page.emulate_media(media="print")
    assert not page.locator("nav.bar").is_visible() and page.locator("main").is_visible()


def test_a_variable_tells_its_shape_to_the_pointer_and_to_the_keyboard(visit):
    page = visit("npbert/layers/layer_norm.html")
    hint = page.locator("#page-hint")
    name = page.locator('.line a[data-shape="sigma (N, 1)"]').first
    assert not hint.is_visible()
    name.hover()
    assert hint.inner_text() == "sigma (N, 1)" and hint.is_visible()
    page.mouse.move(0, 0)
    assert not hint.is_visible()
    reached = page.evaluate("""() => [...document.querySelectorAll("a[data-shape]")].filter((a) => a.tabIndex === 0)
      .map((a) => a.dataset.shape)""")
    assert {"x (N, D)", "sigma (N, 1)", "dy (N, D)", "x_hat (N, D)"} <= set(reached)
    page.locator('a[data-shape="dy (N, D)"][href]:not([tabindex="-1"])').first.focus()
    assert hint.inner_text() == "dy (N, D)" and hint.is_visible()


def test_a_call_lights_up_the_one_that_undoes_it(visit):
    page = visit("npbert/blocks/encoder_layer.html")
    first = page.locator(".side.a a.mark").first
    number = first.inner_text()
    first.hover()
    lit = page.locator("a.mark.lit")
    assert lit.all_inner_texts() == [number, number]
    assert page.locator(".side.b .line.lit").inner_text().count("backward") == 1
    first.click()
    assert page.evaluate("document.querySelector(':target').closest('.side').classList.contains('b')")


def test_the_search_finds_a_name_and_goes_there(visit):
    page = visit("docs/05-layer-norm.html")
    page.keyboard.press("/")
    page.keyboard.type("three_roads")
    assert page.locator("#page-found a.chosen").inner_text().startswith("LayerNorm.three_roads")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"layer_norm\.html#LayerNorm\.three_roads$"))
    page.locator("#page-search").fill("<b>no such name")
    assert page.locator("#page-found").inner_text() == "nothing like this"
    page.keyboard.press("Escape")
    assert not page.locator("#page-found").is_visible()
    for typed, wanted in [
        ("layer norm", ["LayerNorm", "5. LayerNorm and its three roads", "layers/layer_norm.py"]),
        ("decay weight", ["AdamW"]),
        ("linear", ["Linear", "layers/linear.py"]),
    ]:
        page.locator("#page-search").fill(typed)
        names = page.locator("#page-found a").evaluate_all("links => links.map(link => link.firstChild.data)")
        assert set(wanted) <= set(names), typed
        is_late = [name.startswith("learn/exercises/") for name in names]
        assert is_late == sorted(is_late), "exercises come last"


def test_arrows_lead_from_page_to_page_but_not_while_one_writes(visit):
    page = visit("npbert/layers/linear.html")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"elementwise\.html$"))
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(r"linear\.html$"))
    page.locator("#page-search").focus()
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("linear.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(visit, scheme):
    """By 4.5 to 1, in the colours that the system asks for and in those of the button."""
    page = visit("npbert/layers/softmax.html", color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate(CONTRASTS) == []
    page.locator("#page-theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == {"light": "dark", "dark": "light"}[scheme]
    assert page.evaluate(CONTRASTS) == []


CONTRASTS = """() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = channels(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const low = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return [...low];
}"""


def test_a_bug_opens_and_shows_its_lines(visit):
    page = visit("npbert/layers/softmax.html", width=360)
    bug = page.locator('details[data-bug="writes_in_its_output"]')
    assert not bug.locator("pre.diff").is_visible()
    bug.locator("summary").click()
    assert bug.locator("pre.diff .minus").count() and bug.locator("pre.diff .plus").count()
    assert bug.locator("pre.diff").is_visible()
