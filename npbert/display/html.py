"""escape: any text as HTML."""

import html
import re

_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def escape(text: object) -> str:
    """Text as HTML: it shows as it is, also as the value of an attribute. A character that cannot be shown is U+FFFD.

    A text that runs from right to left does not turn what stands beside it, when it is put into a <bdi>.
    """
    return html.escape(visible(text), quote=True)


def visible(text: object) -> str:
    """The text with U+FFFD for each character that cannot be shown."""
    return _NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", str(text))
