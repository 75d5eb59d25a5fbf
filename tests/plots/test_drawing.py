"""The look that all pictures share: text stays text, files are whole, and the same picture is the same file. And the
answers of a model beside the true ones."""

import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

from npbert.io import InputError
from npbert.plots import plot_confusion, plot_curves, plot_predictions, save_figure
from npbert.plots.drawing import as_bytes, label
from tests.plots.hostile import HOSTILE

BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF"}


def test_any_text_is_text_and_no_formula():
    """And nothing is said of letters that no font has."""
    figure = plot_confusion(HOSTILE, np.eye(len(HOSTILE)))
    names = [name for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis) for name in axis.get_ticklabels()]
    assert not any(name.get_parse_math() for name in names), "whoever saves it"
    metrics = plot_curves([{"step": 1, **dict.fromkeys(HOSTILE[4:6], 1.0)}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trees = [ElementTree.fromstring(as_bytes(each, "svg")) for each in (figure, metrics)]
    shown = [element.text for tree in trees for element in tree.iter() if element.tag.endswith("text")]
    for text in HOSTILE[:-1]:
        assert shown.count(label(text)) >= 2, "on both axes, in one piece"
        assert len(label(text)) <= 24 and "\u202e" not in label(text)
    assert all(label(name.replace("_", " ")) in shown for name in HOSTILE[4:6])


def test_the_same_picture_is_the_same_file_whole_or_not_there(tmp_path):
    for kind, beginning in BEGINNINGS.items():
        path = tmp_path / f"a.{kind.upper()}"
        first, again = (plot_predictions([[0, 1], [5, 2]]) for _ in range(2))
        save_figure(first, path)
        assert path.read_bytes().startswith(beginning)
        assert path.read_bytes() == as_bytes(again, kind)
    for name in ("a.gif", "a", "png"):
        with pytest.raises(InputError, match=r"wanted a name that ends in \.png, \.svg or \.pdf"):
            save_figure(first, tmp_path / name)
    assert len(list(tmp_path.iterdir())) == len(BEGINNINGS)


def test_a_matrix_of_counts_with_the_share_of_each_row():
    axes = plot_confusion(["no", "yes"], [[30, 10], [0, 0]]).axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), [[0.75, 0.25], [0, 0]])
    assert [text.get_text() for text in axes.texts] == ["30", "10", "0", "0"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted label", "true label")
    assert not plot_confusion(list("abcdefghijklmnopq"), np.eye(17)).axes[0].texts, "no room for 289 counts"
    with pytest.raises(ValueError, match=r"counts has shape \(1, 1\), wanted a row and a column for each of 2 labels"):
        plot_confusion(["no", "yes"], [[1]])


def test_points_and_the_line_on_which_both_are_the_same():
    axes = plot_predictions([[0, 1], [5, 2]]).axes[0]
    assert axes.collections[0].get_offsets().tolist() == [[0, 1], [5, 2]]
    assert axes.lines[0].get_xydata().tolist() == [[0, 0], [5, 5]]
