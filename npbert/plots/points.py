"""Examples as points of a plane: vectors with many features, and predicted numbers beside true ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.plots.drawing import INK, label, new_panel, style

_MARKERS = "os^DvP"
_MOST_NAMED = 80


@style()
def plot_embeddings(vectors: Any, labels: Sequence[object] | None = None) -> Any:
    """Draw a point for each vector, on the plane of their first two principal components, from NumPy's svd. Each axis
    shows its share of the variance.

    vectors (N, D)   labels: one for each
    Up to six different labels, with a repetition, become colors and marks. Others are written next to their points;
    those without room, or beyond 80, are counted above.

    (Extra: plot.) Raises: ValueError for fewer than two vectors, another shape, a number that is not finite, or another
    number of labels.
    """
    points, shares = principal_components(vectors)
    if labels is not None and len(labels) != len(points):
        raise ValueError(f"labels has {len(labels)}, wanted one for each of the {len(points)} vectors")
    names = [] if labels is None else list(map(str, labels))
    title, component = (
        "Vectors on the plane of their largest variance",
        "{} principal component ({:.0%} of the variance)",
    )
    first, second = map(component.format, ("first", "second"), shares)
    figure, axes = new_panel(6.5, 5.2, title, xlabel=first, ylabel=second)
    kinds = list(dict.fromkeys(names))
    are_words = len(kinds) > len(_MARKERS) or len(kinds) == len(names)
    for kind, marker in zip([None] if are_words else kinds, _MARKERS, strict=False):
        chosen = points if are_words else points[[name == kind for name in names]]
        axes.scatter(*chosen.T, s=24, marker=marker, alpha=0.75, linewidths=0, label=f" {label(kind)}")
    axes.set_aspect("equal", "datalim")
    if not are_words:
        axes.legend()
    elif unnamed := len(names) - _write_names(figure, axes, names, points):
        axes.set_title(f"{unnamed} of the {len(names)} points are without a name (no room)", loc="left")
    return figure


def _write_names(figure: Any, axes: Any, names: Sequence[str], points: Array) -> int:
    """Write each name next to its point, unless it covers another name or point, and return the number of names
    written."""
    if len(names) > _MOST_NAMED:
        return 0
    figure.draw_without_rendering()  # computes all places
    frame, dots = axes.get_window_extent(), axes.transData.transform(points)
    taken: list[Any] = []
    for name, point in zip(names, points, strict=False):
        text = axes.annotate(label(name), point, (4, 2), textcoords="offset points", fontsize=8)
        box = text.get_window_extent()
        if frame.contains(*box.max) and not box.count_contains(dots) and not box.count_overlaps(taken):
            taken.append(box)
        else:
            text.remove()
    return len(taken)


def principal_components(vectors: Any) -> tuple[Array, Array]:
    """Return the vectors on their first two principal components (N, 2), and the share of the variance of each (2,).

    X − mean = U S Vᵀ, so X V = U S. (Pearson 1901.) Raises: as plot_embeddings.
    """
    rows = np.asarray(vectors, float)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(f"vectors has shape {rows.shape}, wanted (N, D) with at least two vectors")
    if not np.isfinite(rows).all():
        raise ValueError("vectors has a number that is not finite")
    centred = np.pad(rows - rows.mean(axis=0), ((0, 0), (0, 1)))  # a feature of zeros ensures two components
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    return (u * s)[:, :2], s[:2] ** 2 / (np.sum(s**2) or 1)


@style()
def plot_predictions(pairs: Sequence[Sequence[float]]) -> Any:
    """Draw a point for each example: the true value on the x axis, the prediction on the y axis, and a line where both
    are equal. pairs (N, 2), at least one of them finite.

    (Extra: plot.) Raises: ValueError without a finite pair."""
    true, said = np.array(pairs, float).reshape(-1, 2).T
    names = {"xlabel": "true value (units of the file)", "ylabel": "predicted value (units of the file)"}
    figure, axes = new_panel(3.8, 3.6, "Predictions and true values", **names)
    axes.scatter(true, said, s=14, alpha=0.5, linewidths=0)
    ends = [float(np.nanmin([true, said])), float(np.nanmax([true, said]))]
    axes.plot(ends, ends, color=INK, linewidth=1, linestyle="--", label="prediction = truth")
    axes.legend()
    return figure
