"""Helpers of all tests of pages: a parser of HTML, and texts that a user may write."""

import re
from html.parser import HTMLParser


class Parsed(HTMLParser):
    """The tags of a page, its attributes, the tags that are never closed, and its words, but for those of pictures."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.texts += [" "] * (tag in ("th", "td", "dt", "dd", "br", "sub"))
        if tag not in ("meta", "br", "link", "input", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "svg"} & set(self.open):
            self.texts.append(data)

    def values(self, *names):
        """The values of the attributes of these names."""
        return [value for name, value in self.attributes if name in names]

    @property
    def words(self):
        return " ".join("".join(self.texts).split())


def visible(text):
    """The text that a page shows: a character that cannot be shown is U+FFFD."""
    return re.sub("[\x00-\x08\x0e-\x1f\ud800-\udfff]", "\ufffd", text)


def hostile(value, texts):
    """The same with the next of these texts in place of each that a user may have written."""
    if isinstance(value, dict):
        return {key: each if key in ("kind", "step") else hostile(each, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, texts) for each in value]
    return next(texts) if isinstance(value, str) else value
