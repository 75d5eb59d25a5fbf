"""The curves of a run: a panel for each number, and a curve for what the panel is of."""

import pytest

from npbert.files import FileError
from npbert.plots import plot_curves
from npbert.rows import METRICS_FILE, Rows

ROWS = [
    {"step": 10, "epoch": 0, "loss": 3.0, "mlm_accuracy": 0.1},
    {"step": 10, "eval_loss": 3.5, "eval_f1": 0.0, "eval_em": None},
    {"step": 20, "epoch": 1, "loss": 2.0, "mlm_accuracy": 0.2},
    {"step": 20, "eval_loss": 2.5, "eval_f1": None},
]


def curves(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def test_a_panel_a_name():
    panels = plot_curves(ROWS).axes
    assert {axes.get_title("left"): curves(axes) for axes in panels} == {
        "loss": {"training": [[10, 3], [20, 2]], "held out": [[10, 3.5], [20, 2.5]]},
        "mlm accuracy": {"training": [[10, 0.1], [20, 0.2]]},
        "f1": {"held out": [[10, 0]]},
        "em": {},
    }
    grid = panels[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (2, 3), "at most three in a row"
    assert all(axes.get_xlabel() == "step" for axes in panels)
    assert [axes.get_legend() is not None for axes in panels] == [True, True, True, False]
    assert [axes.get_title("left") for axes in plot_curves(ROWS, ["f1", "loss"]).axes] == ["loss", "f1"]


def test_steps_are_whole_numbers():
    ticks = plot_curves([{"step": step, "loss": 1.0} for step in (1, 2, 3)]).axes[0].get_xticks()
    assert all(tick == round(tick) for tick in ticks)


def test_the_folder_of_a_run(tmp_path):
    with pytest.raises(FileError, match=r"metrics\.jsonl: there are no numbers of a run to draw"):
        plot_curves(tmp_path)
    rows = Rows(tmp_path / METRICS_FILE, after_step=0)
    for row in ROWS:
        rows.write(row["step"], {name: value for name, value in row.items() if name != "step"})
    assert [curves(axes) for axes in plot_curves(tmp_path).axes] == [curves(axes) for axes in plot_curves(ROWS).axes]
    with pytest.raises(FileError, match="no numbers of a run"):
        plot_curves([{"step": 3, "epoch": 0}])
