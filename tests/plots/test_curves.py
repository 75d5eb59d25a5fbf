"""The curves of a run: a panel for each number, and a curve for what the panel is of."""

import pytest

from npbert.io.files import FileError
from npbert.plots import plot_curves
from npbert.plots.curves import curves_figure
from tests.pages.runs import write_run

ROWS = [
    {"step": 10, "epoch": 0, "loss": 3.0, "mlm_accuracy": 0.1},
    {"step": 10, "eval_loss": 3.5, "eval_f1": 0.0, "eval_em": None},
    {"step": 20, "epoch": 1, "loss": 2.0, "mlm_accuracy": 0.2},
    {"step": 20, "eval_loss": 2.5, "eval_f1": None},
]


def curves(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def key(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_panel_a_name():
    figure = plot_curves(ROWS)
    assert len(plot_curves(ROWS, ["loss"]).axes) == 1 < len(figure.axes)
    assert {axes.get_title("left"): curves(axes) for axes in figure.axes} == {
        "loss": {"training": [[10, 3], [20, 2]], "held out": [[10, 3.5], [20, 2.5]]},
        "mlm accuracy": {"training": [[10, 0.1], [20, 0.2]]},
        "f1": {"held out": [[10, 0]], "not finite": [[20, 0.97]]},
        "em": {"not finite": [[10, 0.97]]},
    }
    assert key(figure) == ["training", "held out", "not finite"]
    assert [axes.get_ylabel() for axes in figure.axes[:2]] == ["nats", "share"]
    (line,) = plot_curves(ROWS[:1]).axes[0].lines
    assert line.get_marker() == "o", "a step alone is a dot"


@pytest.mark.parametrize(("best_step", "ringed"), [(10, [[10, 3.5]]), (15, []), (None, [])])
def test_what_to_beat_is_dashed_and_the_best_step_has_a_ring(best_step, ringed, tmp_path):
    shown = {"step": 20, "kind": "labels", "baselines": {"loss": 2.75, "f1": None}, "best_step": best_step}
    write_run(tmp_path, metrics=ROWS, shown=[shown])
    figure = plot_curves(tmp_path)
    found = {axes.get_title("left"): curves(axes) for axes in figure.axes}
    assert found["loss"].get("best model", []) == ringed
    assert found["loss"]["baseline"] == [[0, 2.75], [1, 2.75]] and "baseline" not in found["f1"]
    assert key(figure) == ["training", "held out", *["best model"] * bool(ringed), "baseline", "not finite"]


def test_without_numbers_there_is_no_picture(tmp_path):
    for run in (tmp_path, [{"step": 3, "epoch": 0}]):
        with pytest.raises(FileError, match=r"metrics\.jsonl of the run has no numbers to draw"):
            plot_curves(run)


def test_runs_over_each_other_each_have_a_color_and_held_out_has_dots_as_alone():
    axes, *_ = curves_figure({"one": ROWS, "two": ROWS[:2]}).axes
    looks = {line.get_label(): (line.get_color(), line.get_marker()) for line in axes.lines}
    assert list(looks) == ["one, training", "one, held out", "two, training", "two, held out"]
    assert looks["one, training"][0] == looks["one, held out"][0] != looks["two, held out"][0]
    alone = {line.get_label(): line.get_marker() for line in plot_curves(ROWS).axes[0].lines}
    assert looks["one, held out"][1] == alone["held out"] == "o" != looks["one, training"][1] == alone["training"]
