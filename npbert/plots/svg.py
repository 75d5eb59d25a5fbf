"""A figure as SVG inside a page: it takes the page's colours, and several fit in one file."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from npbert.plots.drawing import BLUE, INK, ORANGE, as_bytes, label

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_LONGEST = 600
_COLORS = {INK: "currentColor", BLUE: "var(--plus)", ORANGE: "var(--minus)", "#b0b0b0": "var(--line)"}


def inline_svg(figure: Any, name: str, alt: str) -> str:
    """The <svg> of a figure. What is drawn in the colours of drawing.py has those that the page has for them, as in
    look.css, and so fits light and dark.

    name: what all ids in it begin with, another for each figure of a page. alt: what it shows, for those who cannot see
    it.
    """
    root = ElementTree.fromstring(as_bytes(figure, "svg"))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.removeprefix(f"{{{_SVG}}}") in ("metadata", "style"):  # of the whole page
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        attributes = {key.replace(f"{{{_XLINK}}}", ""): value for key, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update({key: _value(key, value, name) for key, value in attributes.items()})
    root.attrib.update({"role": "img", "aria-label": label(alt, _LONGEST), "id": name})
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    width = float(root.attrib["viewBox"].split()[2])
    root.attrib["style"] = f"width: {width * 4 / 3:.0f}px; stroke-linejoin: round; stroke-linecap: butt"
    return ElementTree.tostring(root, encoding="unicode")


def _value(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    if key == "clip-path":
        return value.replace("url(#", f"url(#{name}-")
    if key in ("style", "fill", "stroke"):
        for color, of_page in _COLORS.items():
            value = value.replace(color, of_page)
        value = value.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana")  # which is as wide
    return value
