"""The page as a file: whole, small, of one piece, and with nothing in it that a user could make run."""

import json
import re

import pytest

from npbert.pages import html
from npbert.pages.number.page import json_script, number_page
from tests.pages.number import exported
from tests.pages.shared import Parsed, visible
from tests.plots.hostile import HOSTILE


@pytest.fixture(scope="module")
def text():
    return number_page(exported())


def test_it_asks_for_nothing_and_is_small(text):
    elsewhere = [value for value in Parsed(text).values("src", "href", "action") if not value.startswith("#")]
    assert elsewhere == [html.ICON]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(|import\(|fetch\(|innerHTML", text)
    assert text.startswith("<!doctype html>") and len(text.encode()) < 500_000


def test_tours_lead_to_the_chapters_in_the_site():
    site = number_page({**exported(), "is_in_site": True})
    assert len(re.findall(r'href="docs/0\d[\w-]+\.html"', site)) == 5


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_text_shows_as_text_and_data_cannot_leave_its_script(text):
    parsed = Parsed(f'<p title="{html.escape(text)}">{html.escape(text)}</p>')
    assert (parsed.tags, parsed.open) == (["p"], [])
    assert "".join(parsed.texts) == parsed.values("title")[0] == visible(text)
    script = json_script({text: [text, 1.5]})
    inside = re.fullmatch(r'<script type="application/json" id="data">([^<>&]*)</script>', script)[1]
    assert json.loads(inside) == {text: [text, 1.5]}
    inside.encode()
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_script([text, float("nan")])
