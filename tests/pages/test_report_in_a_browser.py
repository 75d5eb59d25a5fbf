"""The report in a real browser: it fits, and what is written can be read."""

import re

import pytest

from npbert.pages.report import write_report
from tests.pages.runs import SHOWN, write_run

for module, extra in (("matplotlib", "plot"), ("tomlkit", "train")):
    pytest.importorskip(module, reason=f"{module} is not installed: pip install -e '.[{extra}]'")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(write_run(folder / "run", shown=SHOWN["labels"]), folder / "report.html")
    return folder / "report.html"


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_is_readable(open_page, report, width, scheme):
    page = open_page(report, width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width, "only tables and pictures scroll"
    light = []
    for where, what in (("svg text", "fill"), ("body", "backgroundColor")):
        color = page.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
        light.append(sum(map(float, re.findall(r"[\d.]+", color)[:3])))
    assert (light[0] - light[1] > 400) == (scheme == "dark")
    assert abs(light[0] - light[1]) > 400
    assert page.locator("svg[role=img]").count() == page.locator("figcaption").count() == 6
    assert page.locator("table.wrong thead").is_visible() == (width > 360), "on a phone each cell has a line"
