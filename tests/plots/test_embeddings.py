"""Vectors on the plane in which they differ most."""

import numpy as np
import pytest

from npbert.plots import plot_embeddings


def points_of(figure):
    return np.concatenate([each.get_offsets() for each in figure.axes[0].collections])


def test_the_plane_is_that_of_the_largest_variance():
    """Points that lie on a tilted plane, 3 times as wide as high, in 5 dimensions, away from the origin."""
    plane = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 2)))[0].T
    angles = np.arange(40) * np.pi / 20
    flat = np.stack([3 * np.cos(angles), np.sin(angles)], axis=1)
    figure = plot_embeddings(flat @ plane + np.arange(5) * 7)
    np.testing.assert_allclose(np.abs(points_of(figure)), np.abs(flat), atol=1e-12)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "first principal component (90% of the variance)"
    assert axes.get_ylabel() == "second principal component (10% of the variance)"
    for few in (np.arange(6.0)[:, None], np.ones((3, 3))):
        assert points_of(plot_embeddings(few)).shape == (len(few), 2)


def test_labels_that_come_again_are_colours():
    institute = "Institute of Advanced Studies, "  # long labels that begin alike are two
    axes = plot_embeddings(np.eye(6), np.array([f"{institute}Paris", f"{institute}Rome"] * 3)).axes[0]
    assert [text.get_text().strip() for text in axes.get_legend().get_texts()] == ["Institute of Advanced S…"] * 2
    assert [len(kind.get_offsets()) for kind in axes.collections] == [3, 3]
    assert len({kind.get_paths()[0].vertices.tobytes() for kind in axes.collections}) == 2, "marks differ, too"


def test_other_labels_are_words_that_lie_over_no_other_and_over_no_point():
    words = [*"abcde", "_$f$"]
    axes = plot_embeddings(np.eye(6), words).axes[0]
    shown = {text.get_text() for text in axes.texts}
    assert shown <= set(words) and len(shown) > 3 and axes.get_legend() is None
    assert not plot_embeddings(np.eye(100), range(100)).axes[0].texts, "there is no room, and it would take long"
    names = [f"sentence number {n}" * 2 for n in range(30)]
    figure = plot_embeddings(np.random.default_rng(0).standard_normal((30, 2)), names)
    (axes,) = figure.axes
    assert 5 < len(axes.texts) < 30
    assert axes.get_title("left").startswith(f"{30 - len(axes.texts)} of the 30 points are without a name")
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(box.count_overlaps(boxes[:number]) for number, box in enumerate(boxes))
    dots = axes.transData.transform(points_of(figure))
    assert sum(box.count_contains(dots) for box in boxes) == 0


@pytest.mark.parametrize(
    ("vectors", "labels", "message"),
    [
        (np.ones((1, 3)), None, r"vectors has shape \(1, 3\), wanted \(N, D\) with at least two vectors"),
        ([[1.0, np.nan], [1, 2]], None, "vectors has a number that is not finite"),
        (np.eye(3), ["a"], "labels has 1, wanted one for each of the 3 vectors"),
    ],
)
def test_what_cannot_be_drawn(vectors, labels, message):
    with pytest.raises(ValueError, match=message):
        plot_embeddings(vectors, labels)
