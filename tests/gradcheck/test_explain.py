"""A layer of one's own with a mistake in it: the edit at its line, or the part, or what is true of its numbers."""

import inspect

import numpy as np
import pytest

from npbert import NO_TAPE, Init, LayerNorm, Linear, Parameter
from npbert.gradcheck import COMPLEX_STEP, GradientError, check_directions, check_gradients
from tests.gradcheck.small import Function

RNG = np.random.default_rng(3)
N, D = 5, 7
X = RNG.standard_normal((N, 4))


def drawn(*shape):
    return Parameter(RNG.uniform(-1, 1, shape))


class Gated:
    """y = (x W) · σ(x V)."""

    def __init__(self):
        self.W, self.V = drawn(4, 3), drawn(4, 3)

    def forward(self, x, tape=NO_TAPE):
        a = x @ self.W.value
        g = 1 / (1 + np.exp(-(x @ self.V.value)))
        tape.keep(self, x, a, g)
        return a * g


class SlopeOfTheGateLeftOut(Gated):
    def backward(self, dy, tape):
        x, a, g = tape.take(self)
        da, dg = dy * g, dy * a * g  # here: factor
        self.W.add_grad(x.T @ da)
        self.V.add_grad(x.T @ dg)
        return da @ self.W.value.T + dg @ self.V.value.T


class OneRoadOnly(Gated):
    def backward(self, dy, tape):
        x, a, g = tape.take(self)
        da, ds = dy * g, dy * a * g * (1 - g)
        self.W.add_grad(x.T @ da)
        self.V.add_grad(x.T @ ds)
        return da @ self.W.value.T  # here: term


class MeanOfRows(Gated):
    def backward(self, dc, tape):
        x, a, g = tape.take(self)
        da, ds = dc * g, dc * a * g * (1 - g)
        dw = x.T @ da / len(x)  # here: drop factor
        self.W.add_grad(dw)
        self.V.add_grad(x.T @ ds)
        return da @ self.W.value.T + ds @ self.V.value.T


class Attention:
    """softmax(x Wq (x Wk)ᵀ) x, written without parts."""

    def __init__(self):
        self.Wq, self.Wk = drawn(4, 3), drawn(4, 3)

    def forward(self, x, tape=NO_TAPE):
        q, k = x @ self.Wq.value, x @ self.Wk.value
        s = q @ k.T
        p = np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)
        tape.keep(self, x, q, k, p)
        return p @ x


class KeysNotTransposed(Attention):
    def backward(self, dy, tape):
        x, q, k, p = tape.take(self)
        dp = dy @ x.T
        ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True))
        dq, dk = ds @ k, ds @ q  # here: transpose
        self.Wq.add_grad(x.T @ dq)
        self.Wk.add_grad(x.T @ dk)
        return p.T @ dy + dq @ self.Wq.value.T + dk @ self.Wk.value.T


class SumsOverTheWrongAxis(Attention):
    def backward(self, dy, tape):
        x, q, k, p = tape.take(self)
        dp = dy @ x.T
        ds = p * (dp - (dp * p).sum(axis=0, keepdims=True))  # here: axis
        dq, dk = ds @ k, ds.T @ q
        self.Wq.add_grad(x.T @ dq)
        self.Wk.add_grad(x.T @ dk)
        return p.T @ dy + dq @ self.Wq.value.T + dk @ self.Wk.value.T


def line_of(kind):
    """The number of the line that is marked, and the kind of edit that is named there."""
    lines, first = inspect.getsourcelines(kind)
    return next((first + i, line.split("# here: ")[1].strip()) for i, line in enumerate(lines) if "# here" in line)


SUBJECTS = {
    SlopeOfTheGateLeftOut: "dV, dx",
    OneRoadOnly: "dx",
    MeanOfRows: "dw",
    KeysNotTransposed: "dWk, dx",
    SumsOverTheWrongAxis: "dWk, dWq, dx",
}


@pytest.mark.parametrize("kind", SUBJECTS, ids=lambda kind: kind.__name__)
def test_an_edit_is_found_at_its_line(kind):
    report = check_gradients(kind(), X)
    (finding,) = report.diagnosis
    assert (finding.line, finding.kind) == line_of(kind)
    assert finding.subject == SUBJECTS[kind]
    assert str(report).startswith(f"WRONG: {finding.subject} {'are' if ', ' in finding.subject else 'is'} wrong; line ")
    assert f"With this change {finding.subject}" in str(report)


def test_a_layer_is_left_as_it_was():
    layer = KeysNotTransposed()
    values = [parameter.value.copy() for parameter in (layer.Wq, layer.Wk)]
    layer.Wq.add_grad(np.ones((4, 3)))
    report = check_gradients(layer, X)
    layer.Wk.value[...] = 0.0  # what comes after the check is not what is explained
    assert report.diagnosis[0].kind == "transpose"
    assert (layer.Wq.value == values[0]).all() and (layer.Wk.value == 0).all()
    assert (layer.Wq.grad == 1).all() and set(vars(layer)) == {"Wq", "Wk"}


class Affine:
    def __init__(self):
        self.W = drawn(4, 3)

    def forward(self, x, tape=NO_TAPE):
        tape.keep(self, x)
        return x @ self.W.value


class Sets(Affine):
    def backward(self, dy, tape):
        self.W.grad[...] = tape.take(self).T @ dy  # here: accumulate
        return dy @ self.W.value.T


class Shaped(Affine):
    def backward(self, dy, tape):
        self.W.add_grad(dy.T @ tape.take(self))  # here: order
        return dy @ self.W.value.T


@pytest.mark.parametrize("kind", [Sets, Shaped])
def test_a_broken_promise_comes_with_the_edit_that_keeps_it(kind):
    line, _ = line_of(kind)
    with pytest.raises(GradientError, match=rf"line {line} \("):
        check_gradients(kind(), X)


class AddAndNorm:
    """y = LayerNorm(x + Linear(x)), whose backward joins what comes back past Linear and through it."""

    def __init__(self, join):
        init = Init(np.random.default_rng(0), 1.0, np.float64)
        self.linear, self.norm, self.join = Linear(D, D, init), LayerNorm(D, init, eps=0.1), join

    def forward(self, x, tape=NO_TAPE):
        return self.norm.forward(x + self.linear.forward(x, tape), tape)

    def backward(self, dy, tape):
        ds = self.norm.backward(dy, tape)
        return self.join(ds, self.linear.backward(ds, tape))


class Halved(Linear):
    def backward(self, dy, tape):
        return Linear.backward(self, dy, tape) / 2  # here: drop factor


def square():
    return np.random.default_rng(1).standard_normal((N, D))


@pytest.mark.parametrize("check", [check_gradients, check_directions])
def test_a_part_is_named_before_its_edit(check):
    layer = AddAndNorm(lambda past, through: past + through)
    layer.linear = Halved(D, D, Init(np.random.default_rng(0), 1.0, np.float64))
    first, last = check(layer, square()).diagnosis
    assert (first.line, first.kind) == line_of(Halved)
    assert first.subject == "in linear (Halved), dx"
    assert last.cause == "right by themselves: norm"


def without_source(text):
    """An AddAndNorm with another backward, which nobody can read."""
    return type("Unread", (AddAndNorm,), {"backward": eval(text)})(None)


def test_right_parts_are_listed_where_the_layer_itself_is_wrong():
    layer = without_source("lambda self, dy, tape: 3 * self.linear.backward(self.norm.backward(dy, tape), tape)")
    report = check_gradients(layer, square())
    assert report.diagnosis[-1].cause == "right by themselves: linear, norm; look at what Unread does with them"


def test_a_backward_that_is_given_something_wrong_is_named():
    layer = without_source("lambda self, dy, tape: self.linear.backward(self.norm.backward(dy, tape) ** 2, tape)")
    report = check_gradients(layer, square())
    assert (report.diagnosis[0].kind, report.diagnosis[0].subject) == ("handed on", "linear")
    assert "what linear.backward is given is wrong" in report.diagnosis[0].cause
    assert "(what norm got is right)" in report.diagnosis[0].cause


def test_what_is_not_mended_is_told_by_its_numbers():
    (finding,) = check_gradients(
        Function(np.sin, lambda x: 7 * np.cos(x)), X, tolerances={COMPLEX_STEP: 1e-12}
    ).diagnosis
    assert finding.subject == "dx"
    layer = Function(np.sin, eval("lambda x: 1.234 * np.cos(x)", {"np": np}))
    (finding,) = check_gradients(layer, X).diagnosis
    assert (finding.kind, finding.cause) == ("factor", "dx is 1.234 times too large, everywhere")


def test_what_nothing_explains_has_the_smallest_counterexample():
    report = check_gradients(Function(np.sin, eval("lambda x: np.cosh(x * x)", {"np": np})), X)
    (finding,) = report.diagnosis
    assert (finding.kind, finding.subject, finding.line) == ("example", "dx", 0)
    assert "their difference / 0.002, is" in finding.cause and "backward says" in finding.cause
    assert str(report).startswith("WRONG: dx is wrong, for example with x = [[")


def test_nothing_is_said_of_a_right_layer():
    assert check_gradients(AddAndNorm(lambda past, through: past + through), square()).diagnosis == []
