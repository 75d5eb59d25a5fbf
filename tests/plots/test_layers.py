"""The gradient in each layer after one backward, and gradients and updates by layer and step."""

import re

import numpy as np
import pytest

from npbert import Tape
from npbert.io.files import FileError
from npbert.models import parameters_by_layer
from npbert.plots import plot_gradient_flow, plot_layers, plot_update_ratios
from tests.training.tiny import classifier, collate, examples


def row(step, *norms):
    numbers = dict(zip(("embeddings", "layer 1", "pooler"), norms, strict=False))
    return {"step": step, "gradient_norms": numbers, "update_ratios": {k: v and v / 100 for k, v in numbers.items()}}


ROWS = [row(10, 1.0, 0.1, 0.01), row(20, 2.0, None, 0.0), row(30, 4.0, 0.2, 0.04)]


def test_a_row_a_layer_the_input_below_and_a_column_a_step():
    axes, bar = plot_layers(ROWS).axes
    shown = axes.collections[0].get_array()
    np.testing.assert_allclose(shown.filled(np.nan)[0], [1, 2, 4])
    assert shown.mask.tolist() == [[False] * 3, [False, True, False], [False, True, False]], "0 has no logarithm"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["embeddings", "layer 1", "pooler"]
    assert axes.get_xlim() == (10, 40) and not axes.yaxis_inverted(), "a column is from its step to the next"
    assert bar.get_ylabel() == "‖g‖" and axes.get_xlabel() == "step"
    for steps in ([5], [5, 5], [3, 6, 9]):
        low, high = plot_layers([row(step, 1.0) for step in steps]).axes[0].get_xlim()
        assert low == steps[0] and high > steps[-1]


@pytest.mark.parametrize("norms", [(1.9e-5, 3e-5, 4e-5), (1e-3, 1.0, 1e4), (5e-324, 1.0, 1.7e308)])
def test_shades_are_named_by_round_numbers(norms):
    figure = plot_layers([row(1, *norms)])
    figure.draw_without_rendering()
    names = [tick.get_text() for tick in figure.axes[1].get_yticklabels()]
    assert 1 < len(names) <= 12 and all(re.fullmatch(r"[\d.]+(e[−+-]\d+)?|", name) for name in names)


def test_the_middle_layer_and_the_rule_of_thumb():
    axes = plot_update_ratios(ROWS).axes[0]
    middle, rule = axes.lines
    np.testing.assert_allclose(middle.get_xydata(), [[10, 1e-3], [20, 2e-2], [30, 2e-3]])
    assert set(rule.get_ydata()) == {1e-3} and axes.get_yscale() == "log"
    alone, _ = plot_update_ratios(ROWS[:1]).axes[0].lines
    assert alone.get_marker() == "o" != middle.get_marker()


def test_nothing_to_draw(tmp_path):
    for draw in (plot_layers, plot_update_ratios):
        for run in (tmp_path, [row(1, 0.0, 0.0)], [row(1, None)]):
            with pytest.raises(FileError, match=r"layers\.jsonl has no .* above 0, wanted numbers to draw"):
                draw(run)


def test_the_usual_and_the_largest_derivative_of_each_layer():
    model, batch = classifier(np.float64), collate(examples(4))
    axes = plot_gradient_flow(model, batch).axes[0]
    assert not any(parameter.grad.any() for parameter in model.parameters()), "no gradient is left"
    tape = Tape()
    model.loss(batch, tape)
    model.loss_backward(1.0, tape)
    layers = parameters_by_layer(model)
    grads = [np.concatenate([p.grad.ravel() for p in parameters.values()]) for parameters in layers.values()]
    usual, largest = (line.get_xdata() for line in axes.lines)
    np.testing.assert_allclose(usual, [np.sqrt((grad**2).mean()) for grad in grads], rtol=1e-12)
    np.testing.assert_allclose(largest, [np.abs(grad).max() for grad in grads], rtol=1e-12)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(layers)
    assert axes.get_xscale() == "log"
    model.classifier.weight.value[:] = np.nan
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="wanted numbers to draw"):
        plot_gradient_flow(model, batch)
