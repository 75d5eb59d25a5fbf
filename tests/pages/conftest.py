"""A real browser for the pages: Debian's chromium, driven by playwright."""

import shutil
from pathlib import Path

import pytest

WIDTHS = (360, 1600)


@pytest.fixture(scope="session")
def browser():
    """One for all tests."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser):
    """open_page(path, width=…, …) -> the page in the browser; at the end it had no error and asked for nothing else."""
    contexts, wrong = [], []

    def opened(path, *, width=1600, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("request", lambda request: wrong.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def pytest_collection_modifyitems(items):
    """With `--dist loadgroup`, what several tests share, a browser or the whole site, is made once in all."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            name = item.path.stem
            group = next((kind for kind in ("site", "arithmetic", "report") if kind in name), "number")
            item.add_marker(pytest.mark.xdist_group(group))
