"""How the page writes numbers, asked of its own modules in node."""

import json
import subprocess
from importlib.resources import files

import pytest

from tests.pages.models import find_node

ASKED = """
const {shortNumber, percent, plainNumber} = await import(`${FOLDER}/format.js`);
const {smoothed} = await import(`${FOLDER}/smoothed.js`);
console.log(JSON.stringify({
  short: [0.00949, 0.0096, 0.00096, 0.00094, -0.5, 0].map(shortNumber),
  percent: [0.0002, 0, 0.0006, 0.5, 0.9999].map(percent),
  smooth: smoothed([5, ...Array(60).fill(1)], 10),
}));
"""


@pytest.fixture(scope="module")
def said():
    folder = (files("npbert.pages") / "number/js/ui").as_uri()
    program = f"const FOLDER = {json.dumps(folder)};{ASKED}"
    command = [find_node(), "--input-type=module", "--eval", program]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True, encoding="utf-8").stdout)


def test_numbers_of_one_size_look_alike(said):
    assert said["short"] == ["+0.009", "+0.01", "+0.001", "+9e\u22124", "\u22120.50", "0"]


def test_what_is_hardly_there_is_not_0(said):
    assert [text.replace("\xa0", " ") for text in said["percent"]] == ["< 0.1 %", "0.0 %", "0.1 %", "50 %", "100.0 %"]


def test_the_smoothed_curve_has_no_kink(said):
    """An old value fades: it does not drop out of the mean at once."""
    falls = [before - after for before, after in zip(said["smooth"], said["smooth"][1:], strict=False)]
    assert falls == sorted(falls, reverse=True)
    assert 0 < falls[-1] < 0.01
    assert said["smooth"][0] == 5
