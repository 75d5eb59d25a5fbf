"""The look that all pictures share: text stays text, files are whole, and the same picture is the same file."""

import warnings
from xml.etree import ElementTree

import pytest

from npbert.files import FileError
from npbert.plots import plot_confusion, plot_curves, save_figure
from npbert.plots.drawing import as_bytes, inline_svg, label
from tests.plots.hostile import HOSTILE

ROWS = [{"step": step, "loss": 1.0 / step, "learning_rate": 1e-3} for step in (1, 2, 3)]
BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF"}


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


def test_text_is_text_and_no_formula():
    figure = plot_confusion(HOSTILE, [[1] * len(HOSTILE)] * len(HOSTILE))
    names = [name for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis) for name in axis.get_ticklabels()]
    assert not any(name.get_parse_math() for name in names), "whoever saves it"
    shown = texts(as_bytes(figure, "svg"))
    for text in HOSTILE[:-1]:
        assert shown.count(label(text)) == 2, "on both axes, in one piece"
        assert len(label(text)) <= 40
        assert "\u202e" not in label(text)


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_the_same_picture_is_the_same_file_whole_or_not_there(tmp_path, kind):
    """Any text can be drawn, and nothing is said of letters that no font has."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_bytes(plot_confusion(HOSTILE, [[1] * len(HOSTILE)] * len(HOSTILE)), kind).startswith(BEGINNINGS[kind])
    path = tmp_path / f"a.{kind.upper()}"
    save_figure(plot_curves(ROWS), path)
    assert path.read_bytes().startswith(BEGINNINGS[kind])
    assert path.read_bytes() == as_bytes(plot_curves(ROWS), kind)
    assert list(tmp_path.iterdir()) == [path]


def test_another_ending_is_refused(tmp_path):
    for name in ("a.gif", "a", "png"):
        with pytest.raises(FileError, match=r"a picture's name ends in \.png, \.svg or \.pdf"):
            save_figure(plot_curves(ROWS), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_number_of_a_run_may_be_called_anything():
    figure = plot_curves([{"step": 1, **dict.fromkeys(HOSTILE[:-1], 1.0)}])
    svg = ElementTree.fromstring(inline_svg(figure, "one", "".join(HOSTILE)))
    shown = [element.text for element in svg.iter("text")]
    assert all(label(name.replace("_", " "), 40) in shown for name in HOSTILE[:-1])
    assert "\u202e" not in svg.attrib["aria-label"]


def test_an_svg_in_a_page_takes_its_colours_and_shares_no_name_with_another():
    one, two = (ElementTree.fromstring(inline_svg(plot_curves(ROWS), name, 'a "b" <c>')) for name in ("one", "two"))
    ids = [element.attrib["id"] for svg in (one, two) for element in svg.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    text = ElementTree.tostring(one, encoding="unicode")
    assert one.attrib["aria-label"] == 'a "b" <c>'
    assert one.attrib["role"] == "img"
    assert {"currentColor", "var(--plus)"} <= set(text.replace(";", " ").replace('"', " ").split())
    assert "#16191f" not in text
    assert "<style" not in text, "it would be that of the whole page"
    for element in one.iter():
        for value in (element.attrib.get("href", "#one-"), element.attrib.get("clip-path", "url(#one-")):
            assert value.startswith(("#one-", "url(#one-", "data:image/png"))
