"""escape: any text as HTML."""

import html
import re

_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def escape(text: object) -> str:
    """Return text as HTML that shows it unchanged, also as the value of an attribute. An invisible character becomes
    U+FFFD.

    A text from right to left does not turn its neighbors if it is put into a <bdi>.
    """
    return html.escape(visible(text))


def visible(text: object) -> str:
    """Return the text with U+FFFD for each character that cannot be shown."""
    return _NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", str(text))
