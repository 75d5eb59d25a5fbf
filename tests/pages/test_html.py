"""The parts that a page is made of: nothing that a user wrote becomes a tag or a program."""

import json
import re

import pytest

from npbert.pages import html
from tests.pages.shared import Parsed, visible
from tests.plots.hostile import HOSTILE


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_text_shows_as_text_and_data_cannot_leave_its_script(text):
    parsed = Parsed(f'<p title="{html.escape(text)}">{html.escape(text)}</p>')
    assert (parsed.tags, parsed.open) == (["p"], [])
    assert "".join(parsed.texts) == parsed.values("title")[0] == visible(text)
    script = html.json_script("data", {text: [text, 1.5]})
    inside = re.fullmatch(r'<script type="application/json" id="data">([^<>&]*)</script>', script)[1]
    assert json.loads(inside) == {text: [text, 1.5]}
    inside.encode()
    with pytest.raises(ValueError, match="not JSON compliant"):
        html.json_script("data", [text, float("nan")])
