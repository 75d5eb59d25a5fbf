"""The gradient in each layer after one backward."""

import numpy as np
import pytest

from npbert import Tape
from npbert.models.layers_of import layers_of
from npbert.plots import plot_gradient_flow
from tests.training.tiny import classifier, collate, examples

BATCH = collate(examples(4))


def test_the_usual_and_the_largest_derivative_of_each_layer():
    model = classifier(np.float64)
    axes = plot_gradient_flow(model, BATCH).axes[0]
    assert not any(parameter.grad.any() for parameter in model.parameters()), "no gradient is left"
    tape = Tape()
    model.loss(BATCH, tape)
    model.loss_backward(1.0, tape)
    layers = layers_of(model)
    grads = [np.concatenate([p.grad.ravel() for p in parameters]) for parameters in layers.values()]
    usual, largest = (line.get_xdata() for line in axes.lines)
    np.testing.assert_allclose(usual, [np.sqrt((grad**2).mean()) for grad in grads], rtol=1e-12)
    np.testing.assert_allclose(largest, [np.abs(grad).max() for grad in grads], rtol=1e-12)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(layers)
    assert list(layers) == ["embeddings", "layer 1", "layer 2", "pooler", "classifier"]
    assert axes.get_xscale() == "log"


def test_nothing_flows():
    model = classifier()
    model.classifier.weight.value[:] = np.nan
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="there is no flow to draw"):
        plot_gradient_flow(model, BATCH)
