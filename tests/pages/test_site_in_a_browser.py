"""The reading site in a real browser: on a phone and on a wide screen, with the keyboard, in light and in dark."""

import re

import pytest

from tests.pages.built_site import site_folder

WIDE = ["index.html", "docs/05-layer-norm.html", "npbert/layers/dot_product_attention.html",
        "npbert/training/trainer.html", "npbert/__init__.html", "api/npbert.html",
        "npbert/layers/embedding.html", "npbert/learn/exercises/adam.html"]  # fmt: skip
KINDS = ["index.html", "docs/05-layer-norm.html", "npbert/layers/linear.html", "api/npbert.optim.html",
         "npbert/learn/exercises/linear.html"]  # fmt: skip
UNFOLD = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


@pytest.fixture
def visit(open_page):
    """visit(path, width=…) -> the page; it had no error, and asked for nothing but files of the site."""
    return lambda path, **options: open_page(site_folder() / path, within=site_folder(), **options)


@pytest.mark.parametrize("path", WIDE)
def test_no_page_is_wider_than_the_screen(visit, path):
    page = visit(path)
    page.evaluate(UNFOLD)
    page.locator("#page-search").fill("layer norm")
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
    page.keyboard.type("layer_norm.three_roads")
    assert page.locator("#page-found a[aria-selected=true]").inner_text().startswith("LayerNorm.three_roads")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"layer_norm\.html#LayerNorm\.three_roads$"))
    page.locator("#page-search").fill("<b>no such name")
    assert page.locator("#page-none").inner_text() == "nothing like this"
    page.keyboard.press("Escape")
    assert not page.locator("#page-none, #page-found").locator("visible=true").count()


def test_what_a_newcomer_searches_for_stands_first(visit):
    """Words in any order and form; a space is as good as _ and . and -; exercises and tests stand last."""
    page = visit("index.html")
    for typed, wanted in SEARCHES.items():
        found = page.evaluate("typed => matches(typed)", typed)
        names, places = [name for name, *_ in found], [place for _, _, place, *_ in found]
        assert wanted in names[:3], f"{typed}: {names}"
        is_late = [re.match("npbert/learn/exercises/|tests/|docs/bert|errors", place) is not None for place in places]
        assert is_late == sorted(is_late), typed


SEARCHES = {
    "layer norm": "LayerNorm",
    "norm layer roads": "5. LayerNorm and its three roads",
    "LayerNorm.backward": "LayerNorm.backward",
    "residual": "Residual connections",
    "decay weight": "AdamW",
    "tied table": "The tied table",
    "chain rule": "The chain rule is a row times a matrix",
    "learning rate schedule": "optim/schedule.py",
    "warm-up": "linear_warmup_decay",
    "warmup": "Warm-up",
    "attention": "6. Attention",
    "multi head attention": "MultiHeadAttention",
    "mask words": "mask_words",
    "finite differences": "ScalarFunction.differences",
    "gradient check": "check_gradients",
    "gradient accumulation": "accumulate",
    "broadcasting": "3. Sums and broadcasts",
    "clip": "Clipping",
    "adam": "Adam",
    "backward": "Layer.backward",
    "parameters": "Parameter",
    "training": "training/",
    "fine-tune": "finetune",
    "vocabulary": "Vocabulary",
    "query key value": "Forward",
    "dropout probability p is 1.5, wanted 0 ≤ p < 1": "dropout probability p is …, wanted 0 ≤ p < 1",
    "jacobian": "Why nobody builds the Jacobian",
}


def test_the_search_is_a_combobox(visit):
    """Its options are chosen with the arrows, told to a screen reader, and left with Tab."""
    page = visit("docs/05-layer-norm.html")
    search, options = page.get_by_role("combobox", name="search"), page.get_by_role("option")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("softmax")
    assert search.get_attribute("aria-expanded") == "true" and options.count() == 12
    for key, chosen in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 11)):
        page.keyboard.press(key)
        assert search.get_attribute("aria-activedescendant") == options.nth(chosen).get_attribute("id")
        assert page.get_by_role("option", selected=True).count() == 1
        assert page.evaluate("found.children[chosen].getBoundingClientRect().bottom <= innerHeight")
    page.keyboard.press("Tab")
    assert search.get_attribute("aria-expanded") == "false" and options.count() == 0


@pytest.mark.parametrize("path", KINDS)
def test_axe_finds_nothing(open_page, path):
    """In light all of its rules, in dark those of colours."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(site_folder() / path, within=site_folder(), width=1280)
    page.evaluate(UNFOLD)
    page.locator("#page-search").fill("softmax")
    for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]})):
        page.emulate_media(color_scheme=scheme)
        options = {"preload": False, "resultTypes": ["violations"], **rules}  # to preload is to ask for the style again
        wrong = axe.Axe().run(page, options=options).response["violations"]
        assert [f"{each['id']}: {each['nodes'][0]['html']}" for each in wrong] == [], scheme


def test_the_number_page_leads_to_the_lines_that_compute_a_step(visit):
    page = visit("number.html")
    first = page.locator("#source a").first.inner_text()
    page.evaluate("npbert.goToStep(3)")
    link = page.locator("#source a").first
    assert link.inner_text() != first
    file, line = re.fullmatch(r"(npbert/.*)\.html(#L\d+)", link.get_attribute("href")).groups()
    assert link.inner_text() == f"Read {file}.py on the site"
    link.click()
    page.wait_for_url(re.compile(f"{file}\\.html{line}$"))
    assert page.locator(f"{line}:target").count() == 1
    page.get_by_role("link", name="follow one number back").click()
    page.wait_for_url(re.compile(r"/number\.html#"))
    assert link.inner_text() == f"Read {file}.py on the site"


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
    page.evaluate(UNFOLD)
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
