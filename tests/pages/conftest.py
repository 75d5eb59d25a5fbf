"""A real browser for the pages: Debian's chromium, driven by playwright. What several tests share is made once."""

import shutil

import pytest

from npbert.pages.number.page import write_number_page
from tests.pages.number import exported, go

LEAN = ["--no-sandbox", "--disable-gpu", "--js-flags=--single-threaded"]
"""No process of its own for graphics, and no threads that make ready for a page that stays open for long."""
TOLD = []
"""What the tab has told: errors, what it wrote to its console, and the addresses that it asked for."""
USUAL = {"media": "screen", "color_scheme": "light", "reduced_motion": "no-preference", "forced_colors": "none"}


@pytest.fixture(scope="session")
def tab():
    """The only tab of the only browser."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=LEAN)
        page = browser.new_page()
        page.set_default_timeout(30_000)  # a busy machine has time
        page.on("pageerror", lambda error: TOLD.append(f"error: {error}"))
        page.on("console", lambda message: TOLD.append(f"{message.type}: {message.text}"))
        page.on("request", lambda request: TOLD.append(request.url))
        yield page
        browser.close()


@pytest.fixture
def open_page(tab):
    """open_page(path, width=…, …) -> the page in the browser; at the end it had no error and asked for nothing else.

    within: the folder whose files it may ask for, too.
    """
    TOLD.clear()
    allowed = []

    def opened(path, query="", *, width=1600, height=900, within=None, **media):
        allowed.append((within or path).as_uri())
        tab.set_viewport_size({"width": width, "height": height})
        tab.emulate_media(**{**USUAL, **media})
        tab.mouse.move(0, 0)
        if query or tab.url.partition("#")[0] != path.as_uri():
            tab.goto(path.as_uri() + query)
        return tab

    yield opened
    assert [each for each in TOLD if not each.startswith(tuple(allowed))] == []


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    """The page "Follow one number back" of a small model."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_number_page(exported(), path)
    return path


@pytest.fixture
def page(open_page, path):
    """It, in the browser: the one of the test before, where that did not leave it, back at its beginning."""
    page = open_page(path)
    go(page, "")
    page.evaluate("document.querySelectorAll('main details:not(#compare)').forEach(one => { one.open = false; })")
    return page
