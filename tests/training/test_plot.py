"""The picture of a run: a panel for each number, and a curve for what the panel is of."""

from __future__ import annotations

import sys
from typing import Any

import matplotlib.figure
import matplotlib.image
import pytest

from npbert.training.log import METRICS_FILE, read_metrics
from npbert.training.plot import PLOT_FILE, plot_curves
from tests.training.tiny import make_trainer

ROWS = [
    {"step": 10, "epoch": 0, "loss": 3.0, "mlm_accuracy": 0.1},
    {"step": 10, "eval_loss": 3.5, "eval_f1": 0.0},
    {"step": 20, "epoch": 1, "loss": 2.0, "mlm_accuracy": 0.2},
    {"step": 20, "eval_loss": 2.5, "eval_f1": None},
    {"step": 30, "epoch": 1, "loss": 1.0, "mlm_accuracy": 0.4},
]


@pytest.fixture
def figures(monkeypatch):
    """The figures that are saved."""
    saved: list[Any] = []
    save = matplotlib.figure.Figure.savefig
    monkeypatch.setattr(
        matplotlib.figure.Figure,
        "savefig",
        lambda self, *args, **options: (saved.append(self), save(self, *args, **options)),
    )
    return saved


def test_a_panel_a_name(tmp_path, figures):
    plot_curves(ROWS, tmp_path / PLOT_FILE)
    (figure,) = figures
    panels = {axes.get_title(): axes for axes in figure.axes}
    assert list(panels) == ["loss", "mlm accuracy", "f1"]
    assert {axes.get_xlabel() for axes in figure.axes} == {"step"}
    curves = {
        title: {line.get_label(): line.get_xydata().tolist() for line in axes.lines} for title, axes in panels.items()
    }
    assert curves["loss"] == {"training": [[10, 3], [20, 2], [30, 1]], "held out": [[10, 3.5], [20, 2.5]]}
    assert curves["mlm accuracy"] == {"training": [[10, 0.1], [20, 0.2], [30, 0.4]]}
    assert curves["f1"] == {"held out": [[10, 0]]}
    assert all(axes.get_legend() is not None for axes in figure.axes)


def test_it_is_a_png(tmp_path):
    path = tmp_path / PLOT_FILE
    path.write_bytes(b"old")
    plot_curves(ROWS, path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    height, width, _ = matplotlib.image.imread(path).shape
    assert width > 3 * height, "three panels in a row"
    assert [file.name for file in tmp_path.iterdir()] == [PLOT_FILE]


@pytest.mark.parametrize(("names", "rows", "columns"), [(1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 2, 3), (7, 3, 3)])
def test_at_most_three_panels_in_a_row(tmp_path, figures, names, rows, columns):
    plot_curves([{"step": 1, **{f"x{index}": index for index in range(names)}}], tmp_path / PLOT_FILE)
    grid = figures[0].axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols, len(figures[0].axes)) == (rows, columns, names)


@pytest.mark.parametrize("rows", [[], [{"step": 3, "epoch": 0}]])
def test_nothing_to_draw(tmp_path, rows):
    plot_curves(rows, tmp_path / PLOT_FILE)
    assert list(tmp_path.iterdir()) == []


def test_a_run_draws_its_own(tmp_path, figures):
    make_trainer(tmp_path, steps=3, evaluate=lambda: {"loss": 1.0}, evaluate_every=2).train()
    assert [axes.get_title() for axes in figures[0].axes] == ["loss", "accuracy", "learning rate", "gradient norm"]
    assert (tmp_path / PLOT_FILE).is_file()
    losses = {line.get_label(): line.get_ydata().tolist() for line in figures[0].axes[0].lines}
    logged = [row["loss"] for row in read_metrics(tmp_path / METRICS_FILE) if "loss" in row]
    assert losses == {"training": logged, "held out": [1.0, 1.0]}


def test_a_run_shorter_than_the_steps_between_lines_has_one(tmp_path):
    make_trainer(tmp_path, steps=3, log_every=10).train()
    (row,) = read_metrics(tmp_path / METRICS_FILE)
    assert (row["step"], "loss" in row) == (3, True)
    assert (tmp_path / PLOT_FILE).exists()


def test_steps_are_whole_numbers_and_a_panel_without_a_number_is_empty(tmp_path, figures):
    plot_curves([{"step": 1, "loss": 2.0, "eval_f1": None}, {"step": 2, "loss": 1.0}], tmp_path / PLOT_FILE)
    loss, f1 = figures[0].axes
    assert all(tick == round(tick) for tick in loss.get_xticks())
    assert (f1.get_title(), len(f1.lines)) == ("f1", 0)


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"matplotlib, which is not installed: .* pip install '.\[train\]'"):
        plot_curves(ROWS, tmp_path / PLOT_FILE)
