"""Vectors on the plane in which they differ most."""

import numpy as np
import pytest

from npbert.plots import plot_embeddings
from npbert.plots.embeddings import principal_components


def test_the_plane_is_that_of_the_largest_variance():
    """Points that lie on a tilted plane, 3 times as wide as high, in 5 dimensions, away from the origin."""
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    flat = np.stack([3 * np.cos(t := np.arange(40) * np.pi / 20), np.sin(t)], axis=1)
    points, shares = principal_components(flat @ plane + np.arange(5) * 7)
    np.testing.assert_allclose(np.abs(points), np.abs(flat), atol=1e-12)
    np.testing.assert_allclose(shares, [0.9, 0.1], rtol=1e-12)


@pytest.mark.parametrize("shape", [(2, 5), (6, 1), (3, 3)])
def test_few_vectors_or_one_feature(shape):
    points, shares = principal_components(np.random.default_rng(0).standard_normal(shape))
    assert points.shape == (shape[0], 2)
    assert 0 < shares.sum() <= 1 + 1e-12
    assert principal_components(np.ones(shape))[1].tolist() == [0, 0]


def test_labels_that_come_again_are_colours_and_others_words():
    rows = np.eye(6)
    axes = plot_embeddings(rows, ["cat", "dog"] * 3).axes[0]
    assert [text.get_text().strip() for text in axes.get_legend().get_texts()] == ["cat", "dog"]
    assert [len(kind.get_offsets()) for kind in axes.collections] == [3, 3]
    assert len({kind.get_paths()[0].vertices.tobytes() for kind in axes.collections}) == 2, "marks differ, too"
    words = [*"abcde", "_$f$"]
    axes = plot_embeddings(rows, words).axes[0]
    assert [text.get_text() for text in axes.texts] == words
    assert axes.get_legend() is None
    assert axes.get_xlabel() == "first principal component (20% of the variance)"
    assert not plot_embeddings(np.eye(100), range(100)).axes[0].texts, "there is no room, and it would take long"


def test_long_labels_that_begin_alike_are_two():
    labels = [f"Institute of Advanced Studies, {place}" for place in ("Paris", "Rome", "Paris")]
    axes = plot_embeddings(np.eye(3), np.array(labels)).axes[0]
    assert [len(kind.get_offsets()) for kind in axes.collections] == [2, 1]
    assert [text.get_text().strip() for text in axes.get_legend().get_texts()] == ["Institute of Advanced S…"] * 2


def test_names_are_short_and_lie_over_no_other_and_over_no_point():
    points = np.random.default_rng(0).standard_normal((30, 2))
    figure = plot_embeddings(points, [f"the sentence number {number} of them" for number in range(30)])
    (axes,) = figure.axes
    assert 10 < len(axes.texts) < 30
    assert axes.get_title("left").startswith(f"{30 - len(axes.texts)} of the 30 points are without a name")
    assert all(len(text.get_text()) <= 24 for text in axes.texts)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(box.count_overlaps(boxes[:number]) for number, box in enumerate(boxes))
    dots = axes.transData.transform(axes.collections[0].get_offsets())
    assert sum(box.count_contains(dots) for box in boxes) == 0


@pytest.mark.parametrize(
    ("vectors", "labels", "message"),
    [
        (np.ones(3), None, r"vectors has shape \(3,\), wanted \(N, D\) with at least two vectors"),
        (np.ones((1, 3)), None, r"vectors has shape \(1, 3\)"),
        ([[1.0, np.nan], [1, 2]], None, "vectors has a number that is not finite"),
        (np.eye(3), ["a"], "labels has 1, wanted one for each of the 3 vectors"),
    ],
)
def test_what_cannot_be_drawn(vectors, labels, message):
    with pytest.raises(ValueError, match=message):
        plot_embeddings(vectors, labels)
