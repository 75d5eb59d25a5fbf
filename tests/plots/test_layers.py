"""Gradients and updates by layer and step."""

import numpy as np
import pytest

from npbert.files import FileError
from npbert.plots import plot_layers, plot_update_ratios
from npbert.plots.layers import layer_numbers
from npbert.rows import LAYERS_FILE


def row(step, *norms, names=("embeddings", "layer 1", "pooler")):
    numbers = dict(zip(names, norms, strict=False))
    return {"step": step, "gradient_norms": numbers, "update_ratios": {k: v and v / 100 for k, v in numbers.items()}}


ROWS = [row(10, 1.0, 0.1, 0.01), row(20, 2.0, None, 0.0), row(30, 4.0, 0.2, 0.04)]


def test_a_row_a_layer_the_input_below_and_a_column_a_step():
    figure = plot_layers(ROWS)
    axes, bar = figure.axes
    shown = axes.images[0].get_array()
    np.testing.assert_allclose(shown.filled(np.nan)[0], np.log10([1, 2, 4]))
    assert shown.mask.tolist() == [[False] * 3, [False, True, False], [False, True, False]], "0 has no logarithm"
    assert axes.images[0].origin == "lower"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["embeddings", "layer 1", "pooler"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["10", "20", "30"]
    assert bar.get_ylabel() == "‖g‖"


def test_the_middle_layer_the_band_and_the_rule_of_thumb():
    axes = plot_update_ratios(ROWS).axes[0]
    middle, rule = axes.lines
    np.testing.assert_allclose(middle.get_xydata(), [[10, 1e-3], [20, 2e-2], [30, 2e-3]])
    assert set(rule.get_ydata()) == {1e-3}
    assert axes.get_yscale() == "log"


def test_of_many_steps_some():
    rows = [row(step, float(step)) for step in range(1, 5001)]
    names, steps, values = layer_numbers(rows, "gradient_norms")
    assert (names, steps[0], steps[-1], values.shape) == (["embeddings"], 1, 5000, (1, 240))
    np.testing.assert_array_equal(values[0], steps)


@pytest.mark.parametrize("draw", [plot_layers, plot_update_ratios])
def test_nothing_to_draw(tmp_path, draw):
    with pytest.raises(FileError, match=r"layers\.jsonl: there are no numbers of layers to draw"):
        draw(tmp_path)
    for value in (0.0, None):
        with pytest.raises(FileError, match="there is nothing to draw"):
            draw([row(1, value, value)])


@pytest.mark.parametrize(
    "line", ['{"step": 1}', '{"step": 1, "gradient_norms": [1]}', '{"step":1,"gradient_norms":{"a":{}}}']
)
def test_rows_that_no_run_writes(tmp_path, line):
    (tmp_path / LAYERS_FILE).write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"layers\.jsonl: a row has no gradient_norms by layer"):
        plot_layers(tmp_path)
