"""The curves that a run leaves at its end."""

import pytest

from npbert.io.json_lines import METRICS_FILE
from npbert.training.plot import PLOT_FILE, draw_curves
from tests.training.tiny import make_trainer

pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed: pip install -e '.[train]'")


def test_the_curves_are_a_png_or_nothing_when_there_is_nothing_to_draw(tmp_path):
    draw_curves(tmp_path)
    (tmp_path / METRICS_FILE).write_text('{"step": 3, "epoch": 0}\n', encoding="utf-8")
    draw_curves(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [METRICS_FILE]
    (tmp_path / METRICS_FILE).write_text('{"step": 3, "loss": 0.5}\n', encoding="utf-8")
    (tmp_path / PLOT_FILE).write_bytes(b"old")
    draw_curves(tmp_path)
    assert (tmp_path / PLOT_FILE).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert sorted(file.name for file in tmp_path.iterdir()) == [PLOT_FILE, METRICS_FILE]


def test_a_run_draws_its_own_even_when_it_is_shorter_than_the_steps_between_lines(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr("npbert.training.session.draw_curves", draw_curves)
    monkeypatch.setattr("npbert.training.plot.as_bytes", lambda figure: figures.append(figure) or b"drawn")
    make_trainer(tmp_path, steps=3, log_every=10, evaluate=lambda: {"loss": 1.0}, evaluate_every=2).train()
    (figure,) = figures
    assert (tmp_path / PLOT_FILE).read_bytes() == b"drawn"
    assert [axes.get_title("left") for axes in figure.axes] == ["loss", "accuracy", "learning rate", "gradient norm"]
    assert [line.get_xdata().tolist() for line in figure.axes[0].lines] == [[3], [2, 3]]
