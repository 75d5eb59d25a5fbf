"""The picture of a run: a panel for each number, and a curve for what the panel is of."""

import pytest

from npbert.training.log import METRICS_FILE
from npbert.training.plot import PLOT_FILE, plot_curves
from npbert.training.rows import read_rows
from tests.training.tiny import make_trainer

reason = "matplotlib is not installed: pip install -e '.[train]'"
matplotlib = pytest.importorskip("matplotlib.figure", reason=reason)

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


def curves(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def test_a_panel_a_name(tmp_path, figures):
    plot_curves(ROWS, tmp_path / PLOT_FILE)
    assert {axes.get_title(): curves(axes) for axes in figures[0].axes} == {
        "loss": {"training": [[10, 3], [20, 2]], "held out": [[10, 3.5], [20, 2.5]]},
        "mlm accuracy": {"training": [[10, 0.1], [20, 0.2]]},
        "f1": {"held out": [[10, 0]]},
        "em": {},
    }
    grid = figures[0].axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (2, 3), "at most three in a row"
    assert all(axes.get_xlabel() == "step" for axes in figures[0].axes)
    assert [axes.get_legend() is not None for axes in figures[0].axes] == [True, True, True, False]


def test_it_is_a_png_or_nothing_when_there_is_nothing_to_draw(tmp_path):
    plot_curves([{"step": 3, "epoch": 0}], tmp_path / PLOT_FILE)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / PLOT_FILE).write_bytes(b"old")
    plot_curves(ROWS[:1], tmp_path / PLOT_FILE)
    assert (tmp_path / PLOT_FILE).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert [file.name for file in tmp_path.iterdir()] == [PLOT_FILE]


def test_a_run_draws_its_own_even_when_it_is_shorter_than_the_steps_between_lines(tmp_path, figures, monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", plot_curves)
    make_trainer(tmp_path, steps=3, log_every=10, evaluate=lambda: {"loss": 1.0}, evaluate_every=2).train()
    assert [axes.get_title() for axes in figures[0].axes] == ["loss", "accuracy", "learning rate", "gradient norm"]
    rows, loss = read_rows(tmp_path / METRICS_FILE), figures[0].axes[0]
    assert [(row["step"], "loss" in row) for row in rows] == [(2, False), (3, True), (3, False)]
    assert curves(loss) == {"training": [[3, rows[1]["loss"]]], "held out": [[2, 1.0], [3, 1.0]]}
    assert all(tick == round(tick) for tick in loss.get_xticks()), "steps are whole numbers"
