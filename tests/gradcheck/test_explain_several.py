"""Several mistakes in one function: each at its line."""

import re

import numpy as np
import pytest

from npbert.gradcheck import GradientError, check_gradients
from npbert.gradcheck.explain import findings
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.repair import Mending
from npbert.gradcheck.explain.trial import Sample, quiet
from tests.gradcheck.small import written

RNG = np.random.default_rng(3)
X, W = RNG.standard_normal((5, 4)), RNG.uniform(-1, 1, (4, 3))
LINEAR = """
def forward(self, x, tape=NO_TAPE):
    tape.keep(self, x=x)
    return x @ self.W.value

def backward(self, dy, tape):
    x = tape.take(self)
    self.W.add_grad(dy.T @ x)
    return dy @ self.W.value
"""


def test_two_wrong_shapes_are_two_edits_though_the_first_stops_backward():
    with pytest.raises(GradientError) as raised:
        check_gradients(written(LINEAR, W=W), X)
    assert re.findall(r"(\w+) is wrong; line (\d+) \((\w+)\)", str(raised.value)) == [
        ("dW", "8", "transpose"),
        ("dx", "9", "transpose"),
    ]


def shifted(x, gamma, beta):
    return gamma * x + beta, (x, gamma)


def shifted_backward(dout, cache):
    dx, dgamma = None, None
    x, gamma = cache
    dgamma = (dout * x).sum(axis=0, keepdims=True)
    dbeta = dout.sum(axis=0, keepdims=True)
    dx = dout * gamma * np.tanh(x)
    return dx, dgamma, dbeta


def test_two_wrong_shapes_of_a_function_are_two_edits_and_a_gradient_that_is_none_is_not_right():
    with pytest.raises(GradientError) as raised:
        check_gradients(shifted, shifted_backward, X, X[0], X[1])
    said, first = str(raised.value), shifted_backward.__code__.co_firstlineno
    assert re.findall(r"(\w+ is wrong); line (\d+) .*\((.+)\)", said) == [
        ("dgamma is wrong", str(first + 3), "keepdims"),
        ("dbeta is wrong", str(first + 4), "keepdims"),
        ("dx is wrong", str(first + 5), "extra factor"),
    ]


class Dropped:
    """Forward names what it keeps; its last p is not kept."""

    def __init__(self):
        self.V = W.copy()

    def forward(self, x):
        p = np.tanh(x)
        self.p = p
        self.mask = np.ones_like(x)
        self.mask[::2, 1] = 0
        p = p * self.mask / 0.7
        return p @ self.V

    def backward(self, dy):
        self.dV = self.p.T @ dy
        return (dy @ self.V.T) * self.mask / 0.7 * (1 - self.p**2)


def test_an_expression_of_forward_is_told_in_terms_of_what_backward_has():
    (finding,) = check_gradients(Dropped(), X).diagnosis
    assert finding.subject == "dV" and finding.line == Dropped.backward.__code__.co_firstlineno + 1
    assert finding.wanted == "(self.p * self.mask / 0.7)"


class Centered:
    """γ is outside of the sum, n is held, and γ = 1 hides it."""

    def __init__(self, n):
        self.n, self.gamma = n, np.ones(n)

    def forward(self, x):
        self.centered = x - x.sum(axis=1, keepdims=True) / self.n
        return self.gamma * self.centered

    def backward(self, dy):
        self.dgamma = (dy * self.centered).sum(axis=0)
        e = dy.T
        return (self.gamma.reshape(-1, 1) * (e - e.sum(axis=0) / self.n)).T


def test_a_factor_outside_of_a_sum_is_told_though_it_is_1_here_and_the_layer_holds_its_size():
    (finding,) = check_gradients(Centered(4), X).diagnosis
    assert (finding.kind, finding.line) == ("misplaced factor", Centered.backward.__code__.co_firstlineno + 3)


def squares(x, t):
    return np.mean(np.sum((x - t) ** 2, axis=1)), x - t


def cross_entropy(x, t):
    p = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    dx = p - t
    return -np.sum(t * np.log(p)) / len(t), dx


@pytest.mark.parametrize(("loss", "line", "wanted"), [(squares, 1, "2 * (x - t)"), (cross_entropy, 2, "(p - t)")])
def test_the_share_of_a_row_is_told_also_for_labels_that_are_floats(loss, line, wanted):
    (finding,) = check_gradients(loss, X, np.eye(4)[[0, 2, 1, 1, 3]]).diagnosis
    assert finding.line == loss.__code__.co_firstlineno + line and finding.wanted == f"{wanted} / len(x)"


MEAN_OF_TARGETS = """
def forward(self, scores, labels, tape=NO_TAPE):
    is_target = labels != -100
    tape.keep(self, scores=scores, labels=labels, is_target=is_target)
    return (scores[np.arange(len(labels)), labels * is_target] ** 2)[is_target].mean()

def backward(self, dy, tape):
    scores, labels, is_target = tape.take(self)
    dx = np.zeros(scores.shape)
    rows = np.arange(len(labels))[is_target]
    dx[rows, labels[is_target]] = 2 * dy * scores[rows, labels[is_target]] / scores.size
    return dx
"""


def test_an_edit_is_right_for_ignored_labels_too():
    """Where none is ignored, len(labels) is as right as len(rows)."""
    report = check_gradients(written(MEAN_OF_TARGETS), X, np.array([0, 2, 1, 1, 3]))
    (finding,) = report.diagnosis
    assert finding.line == 11 and finding.wanted in ("rows.size", "len(rows)", "is_target.sum()")


def slope(x):
    """The derivative of x tanh(x)."""
    return np.tanh(x) + x * (1 - np.tanh(x) ** 2)


SLOPES = [Sample(lambda x=x: [{"slope": slope(x)}], {"slope": slope(x)}, {"slope": 1e-9}) for x in (X, 2 * X[1:])]


@pytest.mark.parametrize(
    ("wrong", "lines"),
    [
        (["t = np.tanh(x)", "return t + x * np.exp(t) / 3"], [3]),
        (["t = np.tanh(2 * x)", "u = np.exp(t) / 3", "return t + x * u"], [2, 3]),
    ],
)
@quiet()
def test_lines_unlike_those_of_a_right_code_are_told_each_and_no_right_line(wrong, lines):
    plain = ["tanh = np.tanh(x)", "square = tanh * tanh", "slope = 1 - square", "return tanh + x * slope"]
    code, right = (Code.parsed("\n    ".join(["def slope(x):", *lines]), {"np": np}) for lines in (wrong, plain))
    mending = Mending(code, slope, SLOPES, right=right).rewrite(500, lines=[1, 2, 3])
    assert [finding.line for finding in mending.findings] == lines
    assert not mending.left


def another_loss(p, t):
    grads = np.cosh(p) - t
    return -(t * np.log(p)).sum(), grads


def test_where_no_edit_is_found_the_lines_from_which_only_wrong_gradients_come_are_named():
    report = str(check_gradients(another_loss, abs(X), X, wrt="p"))
    assert re.search(r"In test_explain_several.py, look at line.*\n.*grads = np.cosh", report)


def normalized(x):
    centered = x - x.mean(axis=1, keepdims=True)
    sigma = np.sqrt((centered**2).mean(axis=1, keepdims=True))
    return centered / sigma, (centered / sigma, sigma)


def normalized_backward(dy, cache):
    y, sigma = cache
    of_mean = dy.mean(axis=0, keepdims=True)
    of_sigma = y * (dy * y).mean(axis=0, keepdims=True)
    ones = np.ones(dy.shape).mean(axis=0, keepdims=True)
    return (dy - of_mean - of_sigma) * ones / sigma


def test_a_mistake_that_is_made_twice_is_told_at_both_lines_and_not_where_it_is_none():
    report = check_gradients(normalized, normalized_backward, X)
    lines = [each.line - normalized_backward.__code__.co_firstlineno for each in report.diagnosis]
    assert lines == [2, 3] and str(report).count("With these changes dx is right") == 2


class Arctan:
    def forward(self, z):
        self.z = z
        return np.arctan(z)

    def backward(self, dy):
        slope = np.exp(self.z)
        return dy * slope


class Summed:
    def __init__(self):
        self.W, self.arctan = W.copy(), Arctan()

    def forward(self, x):
        self.x = x
        return self.arctan.forward(x @ self.W).sum(axis=1)

    def backward(self, dy):
        dy = dy[:, None] * np.ones((1, 3))
        dz = self.arctan.backward(dy)
        self.dW = self.x.T @ dz
        return dz @ self.W.T


def test_without_an_edit_the_first_line_that_has_no_right_gradient_is_named_in_the_method_that_is_wrong(monkeypatch):
    monkeypatch.setattr(findings, "TRIES", 300)
    (place,) = (each for each in check_gradients(Summed(), X).diagnosis if each.line)
    assert place.place == "slope = np.exp(self.z)"


class Relu:
    def backward(self, x):
        return np.where(x > 0, 1.0, 0.0)


class Dense:
    def __init__(self):
        self.W, self.relu = W.copy(), Relu()

    def forward(self, x):
        self.x = x
        self.output = np.maximum(x @ self.W, 0)
        return self.output

    def backward(self, dy, learning_rate):
        slope = self.relu.backward(dy)
        dz = dy * slope
        self.W -= learning_rate * self.x.T @ dz
        return dz @ self.W.T


def test_an_argument_that_moves_nothing_a_little_is_told_beside_a_step_that_is_too_early():
    first = check_gradients(Dense(), X).diagnosis[0]
    assert (first.kind, first.wanted) == ("wrong name", "self.output")


def decayed(w, x, t, rate=0.3):
    difference = x @ w - t
    dw = x.T @ difference
    return 0.5 * (difference**2).sum() + 0.5 * rate * (w**2).sum(), dw


def test_a_term_of_a_number_and_an_array_is_told():
    report = check_gradients(decayed, W, X, X[:, :3], wrt=("w",))
    assert "+ rate * w" in str(report) or "+ w * rate" in str(report)


def test_a_missing_sum_over_a_broadcast_axis_is_told_in_float32():
    def product(a, b):
        return np.matmul(a.astype(np.float32), b), (a, b)

    def product_backward(dy, cache):
        a, b = cache
        return np.matmul(dy, b.T), np.matmul(a.swapaxes(1, 2), dy)

    with pytest.raises(GradientError, match=r"a.swapaxes\(1, 2\), dy\).sum\(axis=0\)"):
        check_gradients(product, product_backward, RNG.standard_normal((2, 2, 2)), RNG.standard_normal((2, 2)))


def squared(z, t):
    p = np.tanh(z)
    dp = 2 * (p - t)
    dz = dp * np.arctan(p)
    return ((p - t) ** 2).sum(), dz


def test_a_right_gradient_on_the_way_is_known_in_a_loss_without_dy(monkeypatch):
    monkeypatch.setattr(findings, "TRIES", 300)
    (place,) = (each for each in check_gradients(squared, X, X[::-1], wrt=("z",)).diagnosis if each.line)
    assert place.place == "dz = dp * np.arctan(p)"
