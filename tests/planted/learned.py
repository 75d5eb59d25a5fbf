"""What people write when they learn it: mistakes of the exercises, planted in the blocks of the catalogue."""

import math

import numpy as np

from npbert.layers.softmax import softmax_backward
from tests.planted import plant
from tests.planted.contracts import SETS


@plant("Linear", says=SETS)
def assigns(self, dy, tape):
    """dW and db are set, and should be added."""
    x = tape.take(self)
    for parameter, gradient in ((self.weight, x.T @ dy), (self.bias, dy.sum(axis=0))):
        parameter.zero_grad()
        parameter.add_grad(gradient)
    return dy @ self.weight.value.T


class Slopes:
    @plant("GELU", method="value_and_slope")
    def slope_of_the_tanh_form(self, x):
        """The derivative of the tanh form, for the value of the erf form: 7e-4 off."""
        t = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
        inner = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
        return self.value(x), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner

    @plant("GELU", method="value_and_slope")
    @plant("FeedForward, gelu", part="activation", method="value_and_slope")
    def product_rule_cut_short(self, x):
        """y′ = Φ(x): the x inside Φ is forgotten."""
        y = self.value(x)
        return y, y / x


@plant("Softmax")
def averaged_over_the_leading_axis(self, dp, tape):
    """Divided by the number of rows: right where there is one."""
    return softmax_backward(dp, tape.take(self)) / len(dp)


def _of_loss(tape, layer, share):
    """dlogits with `share(targets, rows)` in the place of dloss / targets."""
    is_target, targets, scores, largest, total = tape.take(layer)
    dlogits = np.zeros((len(is_target), scores.shape[1]), scores.dtype)
    p = np.exp(scores - largest) / total
    p[np.arange(len(targets)), targets] -= 1
    dlogits[is_target] = share(len(targets), len(is_target)) * p
    return dlogits


class Losses:
    @plant("SoftmaxCrossEntropy")
    def sum_over_the_targets(self, dloss, tape):
        """Not divided by the number of targets."""
        return _of_loss(tape, self, lambda targets, rows: dloss)

    @plant("SoftmaxCrossEntropy")
    @plant("BertForSequenceClassification", "BertForQuestionAnswering", part="model.loss_function")
    def dloss_is_ignored(self, dloss, tape):
        """As if dloss was always 1."""
        return _of_loss(tape, self, lambda targets, rows: 1 / targets)

    @plant("SoftmaxCrossEntropy")
    @plant("BertForTokenClassification", part="model.loss_function")
    def divided_by_all_rows(self, dloss, tape):
        """Divided by the rows that are ignored, too."""
        return _of_loss(tape, self, lambda targets, rows: dloss / rows)


@plant("Embedding")
def last_of_repeated_ids_wins(self, dy, tape):
    """dW[ids] += dy writes each row once."""
    self.weight.grad[tape.take(self)] += dy


class Norms:
    @plant("LayerNorm")
    def gamma_out_of_the_sums(self, dy, tape):
        """γ (dy − mean(dy) − x̂ mean(dy x̂)) / σ: right while γ is 1."""
        x_hat, sigma = _norm_parameters(self, dy, tape)
        return self.gamma.value * _three_roads(dy, x_hat) / sigma

    @plant("LayerNorm")
    def eps_out_of_the_derivative(self, dy, tape):
        """Divided by the root of the variance, without eps."""
        x_hat, sigma = _norm_parameters(self, dy, tape)
        return _three_roads(self.gamma.value * dy, x_hat) / np.sqrt(sigma**2 - self.eps)


def _norm_parameters(layer, dy, tape):
    x_hat, sigma = tape.take(layer)
    layer.gamma.add_grad((dy * x_hat).sum(axis=0))
    layer.beta.add_grad(dy.sum(axis=0))
    return x_hat, sigma


def _three_roads(g, x_hat):
    return g - g.mean(axis=-1, keepdims=True) - x_hat * (g * x_hat).mean(axis=-1, keepdims=True)


@plant("Dropout")
def backward_scaled_by_one_over_p(self, dy, tape):
    """dx = dy · mask / p: right at p = ½."""
    _, _, mask = tape.take(self)
    return dy if mask is None else dy * mask / self.p


class Attended:
    @plant("DotProductAttention", method="attend_backward")
    def key_gradient_reshaped(self, dc, q, k, v, p, mask=None):
        """dK = dS reshaped, and not transposed, times Q."""
        ds, dv = _scores(self, dc, q, v, p, mask)
        return ds @ k, ds.reshape(*ds.shape[:-2], ds.shape[-1], ds.shape[-2]) @ q, dv

    @plant("DotProductAttention", method="attend_backward")
    def scale_forgotten_in_dq(self, dc, q, k, v, p, mask=None):
        """1/√d is missing in dQ."""
        ds, dv = _scores(self, dc, q, v, p, mask)
        return ds @ k * math.sqrt(q.shape[-1]), ds.swapaxes(-1, -2) @ q, dv


def _scores(layer, dc, q, v, p, mask):
    a = layer.dropout.apply(p, mask)
    ds = softmax_backward(layer.dropout.apply(dc @ v.swapaxes(-1, -2), mask), p) / math.sqrt(q.shape[-1])
    return ds, a.swapaxes(-1, -2) @ dc
