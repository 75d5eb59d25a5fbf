"""The picture of a run: a panel for each number, and a curve for what the panel is of."""

import pytest

from npbert.training.log import METRICS_FILE, read_metrics
from npbert.training.plot import PLOT_FILE, plot_curves
from tests.training.tiny import make_trainer

matplotlib = pytest.importorskip(
    "matplotlib.figure", reason="matplotlib is not installed: in npbert's folder, pip install '.[train]'"
)

ROWS = [
    {"step": 10, "epoch": 0, "loss": 3.0, "mlm_accuracy": 0.1},
    {"step": 10, "eval_loss": 3.5, "eval_f1": 0.0, "eval_em": None},
    {"step": 20, "epoch": 1, "loss": 2.0, "mlm_accuracy": 0.2},
    {"step": 20, "eval_loss": 2.5, "eval_f1": None},
]


@pytest.fixture
def figures(monkeypatch):
    """The figures that are saved; drawing them in dots is most of the work, and left out."""
    saved = []
    monkeypatch.setattr(matplotlib.Figure, "savefig", lambda self, *_, **__: saved.append(self))
    return saved


def panels(figure):
    return {
        axes.get_title(): {line.get_label(): line.get_xydata().tolist() for line in axes.lines} for axes in figure.axes
    }


def test_a_panel_a_name(tmp_path, figures):
    plot_curves(ROWS, tmp_path / PLOT_FILE)
    assert panels(figures[0]) == {
        "loss": {"training": [[10, 3], [20, 2]], "held out": [[10, 3.5], [20, 2.5]]},
        "mlm accuracy": {"training": [[10, 0.1], [20, 0.2]]},
        "f1": {"held out": [[10, 0]]},
        "em": {},
    }
    assert all(axes.get_xlabel() == "step" for axes in figures[0].axes)
    assert [axes.get_legend() is not None for axes in figures[0].axes] == [True, True, True, False]


def test_it_is_a_png_with_three_panels_in_a_row(tmp_path):
    path = tmp_path / PLOT_FILE
    path.write_bytes(b"old")
    plot_curves([{"step": step, "a": 1.0, "b": 2.0, "c": step} for step in (1, 2)], path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(path.read_bytes()[place : place + 4], "big") for place in (16, 20))
    assert width > 3 * height
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


def test_a_run_draws_its_own_even_when_it_is_shorter_than_the_steps_between_lines(tmp_path, figures, monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", plot_curves)
    make_trainer(tmp_path, steps=3, log_every=10, evaluate=lambda: {"loss": 1.0}, evaluate_every=2).train()
    drawn = panels(figures[0])
    assert list(drawn) == ["loss", "accuracy", "learning rate", "gradient norm"]
    rows = read_metrics(tmp_path / METRICS_FILE)
    assert [(row["step"], "loss" in row) for row in rows] == [(2, False), (3, True), (3, False)]
    assert drawn["loss"] == {"training": [[3, rows[1]["loss"]]], "held out": [[2, 1.0], [3, 1.0]]}
    assert all(tick == round(tick) for tick in figures[0].axes[0].get_xticks()), "steps are whole numbers"
    assert (tmp_path / PLOT_FILE).exists()
