"""The look that all pictures share: text stays text, files are whole, and the same picture is the same file. And the
answers of a model beside the true ones."""

import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

from npbert.io.files import FileError
from npbert.plots import plot_confusion, plot_curves, plot_predictions, save_figure
from npbert.plots.drawing import as_bytes, label, shares
from tests.plots.hostile import HOSTILE

ROWS = [{"step": step, "loss": 1.0 / step, "learning_rate": 1e-3} for step in (1, 2, 3)]
BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF"}


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


def test_any_text_is_text_and_no_formula():
    """And nothing is said of letters that no font has."""
    figure = plot_confusion(HOSTILE, [[1] * len(HOSTILE)] * len(HOSTILE))
    names = [name for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis) for name in axis.get_ticklabels()]
    assert not any(name.get_parse_math() for name in names), "whoever saves it"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = texts(as_bytes(figure, "svg"))
    for text in HOSTILE[:-1]:
        assert shown.count(label(text)) == 2, "on both axes, in one piece"
        assert len(label(text)) <= 40
        assert "\u202e" not in label(text)


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_the_same_picture_is_the_same_file_whole_or_not_there(tmp_path, kind):
    path = tmp_path / f"a.{kind.upper()}"
    save_figure(plot_curves(ROWS, ["loss"]), path)
    assert path.read_bytes().startswith(BEGINNINGS[kind])
    assert path.read_bytes() == as_bytes(plot_curves(ROWS, ["loss"]), kind)
    assert list(tmp_path.iterdir()) == [path]


def test_another_ending_is_refused(tmp_path):
    for name in ("a.gif", "a", "png"):
        with pytest.raises(FileError, match=r"wanted a name that ends in \.png, \.svg or \.pdf"):
            save_figure(plot_curves(ROWS), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_number_of_a_run_may_be_called_anything():
    shown = texts(as_bytes(plot_curves([{"step": 1, **dict.fromkeys(HOSTILE[4:6], 1.0)}]), "svg"))
    assert all(label(name.replace("_", " "), 40) in shown for name in HOSTILE[4:6])


def test_shares_are_white_at_0_and_darker_where_there_is_more():
    colors = shares()([0.0, 0.3, 0.6, 1.0])[:, :3]
    assert colors[0].tolist() == [1, 1, 1] and (np.diff(colors.sum(axis=1)) < -0.3).all()


def test_a_matrix_of_counts_with_the_share_of_each_row():
    figure = plot_confusion(["no", "yes"], [[30, 10], [0, 0]])
    axes = figure.axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), [[0.75, 0.25], [0, 0]])
    assert [text.get_text() for text in axes.texts] == ["30", "10", "0", "0"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted label", "true label")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["no", "yes"]
    assert not plot_confusion(list("abcdefghijklmnopq"), np.eye(17)).axes[0].texts, "no room for 289 counts"


def test_points_and_the_line_on_which_both_are_the_same():
    axes = plot_predictions([[0, 1], [5, 2]]).axes[0]
    assert axes.collections[0].get_offsets().tolist() == [[0, 1], [5, 2]]
    assert axes.lines[0].get_xydata().tolist() == [[0, 0], [5, 5]]
