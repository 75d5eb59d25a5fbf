"""Wrong answers that no exercise knows by name: what is said of them is true, and points at the right term."""

import pytest

from tests.learn.answering import answered

NORM = """
self.gamma.add_grad((dy * x_hat).sum(axis=0))
self.beta.add_grad(dy.sum(axis=0))
u = self.gamma.value * dy
a, b = u.mean(axis=-1, keepdims=True), (u * x_hat).mean(axis=-1, keepdims=True)
"""
LINEAR = """
self.weight.add_grad(x.T @ dy)
self.bias.add_grad(dy.sum(axis=0))
return dy @ self.weight.value.T
"""
LOSS = """
p = np.exp(scores - largest) / total
p[np.arange(len(targets)), targets] -= 1
dlogits = np.zeros((len(is_target), scores.shape[1]))
dlogits[is_target] = p * dloss / len(targets)
return dlogits
"""
TABLE = "dW = np.zeros_like(self.weight.value)\n"
HALVES = """
ds = self.output_norm.backward(dy, tape)
dh = ds + self.feed_forward.backward(self.dropout.backward(ds, tape), tape)
dt = self.attention_norm.backward(dh, tape)
dx, dz = self.attention.backward(self.dropout.backward(dt, tape), tape)
"""
BACKWARD = {
    2: "Linear.backward",
    3: "GELU.value_and_slope",
    4: "Softmax.backward",
    5: "SoftmaxCrossEntropy.backward",
    6: "Embedding.backward",
    7: "LayerNorm.backward",
    8: "Dropout.backward",
    9: "EncoderLayer.backward",
}
DENSITY = "density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)\n"
UNKNOWN = [
    (2, LINEAR.replace("dy.sum(axis=0)", "(x.T @ dy).sum(axis=0)"), "db is the sum of dW over the rows, where the sum"),
    (2, LINEAR.replace("dy.sum(axis=0)", "self.bias.value * dy.sum(axis=0)"), "as if bias was multiplied"),
    (2, LINEAR.replace("x.T @ dy", "x[1:].T @ dy[1:]"), 'In dW, "row 0" is missing; the rest is right.'),
    (3, DENSITY + "return self.value(x), _cdf(x) * density", "dx is dy · (Φ(x) φ(x)), where dy · ("),
    (
        3,
        DENSITY + "return _cdf(x) + x * density",
        "value_and_slope returns one array, wanted two arrays",
    ),
    (3, DENSITY + "slope = _cdf(x) + x * density", "value_and_slope returns nothing, wanted two arrays"),
    (
        3,
        DENSITY + "return x, _cdf(x) + x * density",
        "The first of the two arrays",
    ),
    (4, "return p * dp - (p * dp).mean(axis=-1, keepdims=True)", "dx is p · dp − mean(p · dp): "),
    (4, "return softmax(dp)", "softmax is applied to dp, where its derivative should be"),
    (
        5,
        LOSS.replace("np.exp(scores - largest)", "(np.exp(scores) - largest)"),
        "(e^score − largest) / total · dloss/n − ",
    ),
    (5, LOSS.replace("-= 1", "+= 1"), '"the right answers" has the wrong sign'),
    (6, TABLE + "np.add.at(dW, ids, dy)\nreturn dW", "that of a parameter is handed over with add_grad"),
    (
        6,
        TABLE + "np.add.at(dW, ids - 1, dy)\nself.weight.add_grad(dW)",
        "row 0 has what belongs in row 1",
    ),
    (6, TABLE + "np.add.at(dW, ids[1:], dy[1:])\nself.weight.add_grad(dW)", 'In dW, "dy[0]" is missing; the rest is'),
    (7, NORM + "return (u - 5 * a - x_hat * b) / sigma", "dx is dx̂/σ − sum(dx̂)/σ − x̂ · mean(dx̂ · x̂)/σ: "),
    (7, NORM + "return (u - dy.mean(-1, keepdims=True) - x_hat * b) / sigma", "dx is dx̂/σ − mean(dy)/σ − "),
    (7, NORM + "return (u - a) / sigma - x_hat * b", "dx is dx̂/σ − mean(dx̂)/σ − x̂ · mean(dx̂ · x̂): "),
    (7, NORM + "return (u - a - x_hat * b * 5 / 7) / sigma", "− x̂ · sum(dx̂ · x̂)/N/σ: "),
    (
        7,
        NORM.replace("(dy * x_hat)", "(dy * dy)") + "return (u - a - x_hat * b) / sigma",
        "dγ is the sum of dy · dy",
    ),
    (
        8,
        "if mask is not None:\n    return dy * mask / (1 - self.p)",
        "returns nothing when nothing is dropped",
    ),
    (
        8,
        "if mask is None:\n    return dy",
        "is there a `return` on every way past the `if`?",
    ),
    (8, "return dy if mask is None else mask / (1 - self.p)", "as if dy was left out"),
    (8, "return dy if mask is None else 3 * dy[mask]", "dx has the shape (55,), wanted (11, 7)"),
    (8, "return self.forward(dy, tape)", "TapeError: backward is over, but the tape still holds what Dropout kept"),
    (9, HALVES + "return dx - dt, dz", '"past attention" has the wrong sign'),
    (
        9,
        HALVES + "return dx + dt + dh, dz",
        "dx would be right, but what attention_norm.backward is given is added to it.",
    ),
]


@pytest.fixture
def first_line(wrong):
    """first_line(number, text) -> what is said first of a file with this text."""

    def first_line(number, text):
        return wrong(number, text).says

    return first_line


@pytest.mark.parametrize(("number", "body", "says"), UNKNOWN)
def test_what_is_said_first_points_at_the_right_term(number, body, says, first_line):
    assert says.lower() in first_line(number, answered(number, {BACKWARD[number]: body})).lower()


DAMAGED = [
    (2, LINEAR, ", plus=self.bias.value)", ")"),
    (3, DENSITY + "return self.value(x), _cdf(x) + x * density", "0.5 * (1 + erf", "(1 + erf"),
    (3, DENSITY + "return self.value(x), _cdf(x)", "return x * _cdf(x)", "return _cdf(x)"),
    (4, "return p * dp", "p /= p.sum(axis=-1, keepdims=True)", "p /= p.sum()"),
    (5, LOSS, "-log_p.mean()", "-log_p.sum()"),
    (7, NORM + "return u / sigma", " + self.beta.value, x_hat", ", x_hat"),
    (7, NORM + "return (u - a - x_hat * b) / sigma", "/ x.shape[-1] + self.eps", "/ (x.shape[-1] - 1) + self.eps"),
    (8, "return self.apply(dy, mask)", "x * (1 / (1 - self.p)) * mask", "x * mask"),
]


@pytest.mark.parametrize(("number", "body", "old", "new"), DAMAGED)
def test_a_forward_that_was_damaged_is_said_before_all_else(number, body, old, new, first_line):
    text = answered(number, {BACKWARD[number]: body})
    assert text.count(old) == 1
    assert "it was finished when the file was made" in first_line(number, text.replace(old, new))
