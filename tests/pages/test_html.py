"""What a page is made of: nothing that a user wrote becomes a tag or a program."""

import json
import re
from html.parser import HTMLParser

import pytest

from npbert.pages import html

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><b>",
    "<!-- <script>",
    "\"quoted\" & 'quoted'",
    "\u202eright to left",
    "line\u2028end\u2029",
    "half \ud83d",
    "nul \x00 and bell \x07",
    "x" * 10_000,
]


class Texts(HTMLParser):
    """The tags of a page, and the text between them."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self.values = [], "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.values += [value for _, value in attrs]

    def handle_data(self, data):
        self.text += data


def visible(text):
    return re.sub("[\x00-\x08\x0e-\x1f\ud800-\udfff]", "\ufffd", text)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_text_shows_as_text(text):
    parser = Texts()
    parser.feed(f'<p title="{html.escape(text)}">{html.escape(text)}</p>')
    parser.close()
    assert parser.tags == ["p"]
    assert parser.text == parser.values[0] == visible(text)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_data_cannot_leave_its_script(text):
    script = html.json_script("data", {text: [text, 1.5]})
    inside = re.fullmatch(r'<script type="application/json" id="data">([^<>&]*)</script>', script)[1]
    assert json.loads(inside) == {text: [text, 1.5]}
    inside.encode()


def test_there_is_no_nan_in_json():
    with pytest.raises(ValueError, match="not JSON compliant"):
        html.json_script("data", float("nan"))


def test_modules_become_one_script(monkeypatch):
    modules = {
        "a.js": 'import {b} from "./b.js";\nexport function a() {\n  return b;\n}\nexport const c = 1;\n',
        "b.js": 'export {c} from "./c.js";\nexport class B {}\n',
    }
    monkeypatch.setattr(html, "resource", modules.get)
    script = html.module_script(modules)
    assert "import" not in script
    assert "export" not in script
    assert "function a() {\n  return b;\n}\nconst c = 1;\n" in script
    assert "class B {}" in script


def test_a_page_is_whole():
    text = html.page("a < b", "<p>text</p>", style=".x {}", scripts="<script>1</script>")
    assert text.startswith("<!doctype html>")
    assert "<title>a &lt; b</title>" in text
    assert "--ground" in text
    assert ".x {}" in text
