"""The answers of a model beside the true ones."""

import numpy as np

from npbert.plots import plot_confusion, plot_predictions


def test_a_matrix_of_counts_with_the_share_of_each_row():
    figure = plot_confusion(["no", "yes"], [[30, 10], [0, 0]])
    axes = figure.axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), [[0.75, 0.25], [0, 0]])
    assert [text.get_text() for text in axes.texts] == ["30", "10", "0", "0"]
    assert [text.get_position() for text in axes.texts] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("what the model said", "what is true")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["no", "yes"]
    assert not plot_confusion(list("abcdefghijklmnopq"), np.eye(17)).axes[0].texts, "no room for 289 counts"


def test_points_and_the_line_on_which_both_are_the_same():
    axes = plot_predictions([[0, 1], [5, 2]]).axes[0]
    assert axes.collections[0].get_offsets().tolist() == [[0, 1], [5, 2]]
    assert axes.lines[0].get_xydata().tolist() == [[0, 0], [5, 5]]
