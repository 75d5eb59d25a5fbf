"""A layer of one's own with a mistake in it: the edit at its line, or the part, or what is true of its numbers."""

import numpy as np
import pytest

from npbert import Linear
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import COMPLEX_STEP, GradientError, check_directions, check_gradients
from npbert.gradcheck.explain import Finding, describe_place
from tests.gradcheck.small import Function, written

RNG = np.random.default_rng(3)
N, D = 5, 7
X = RNG.standard_normal((N, 4))
W, V = RNG.uniform(-1, 1, (2, 4, 3))
GATED = """
def forward(self, x, tape=NO_TAPE):
    a = x @ self.W.value
    g = 1 / (1 + np.exp(-(x @ self.V.value)))
    tape.keep(self, x, a, g)
    return a * g

def backward(self, dc, tape):
    x, a, g = tape.take(self)
    da, ds = dc * g, dc * a * g * (1 - g)
    dw = x.T @ da
    self.W.add_grad(dw)
    self.V.add_grad(x.T @ ds)
    return da @ self.W.value.T + ds @ self.V.value.T
"""
MISTAKES = [
    ("(1 - g)", "(1 + g)", "sign", "dV, dx"),
    (" + ds @ self.V.value.T", "", "missing term", "dx"),
    ("dw = x.T @ da", "dw = x.T @ da / len(x)", "extra factor", "dW"),
]


def with_mistake(before, after):
    """The layer, and the line that is not right."""
    assert GATED.count(before) == 1
    return written(GATED.replace(before, after), W=W, V=V), GATED[: GATED.index(before)].count("\n") + 1


@pytest.mark.parametrize(("before", "after", "kind", "subject"), MISTAKES)
def test_an_edit_is_found_at_its_line(before, after, kind, subject):
    layer, line = with_mistake(before, after)
    report = check_gradients(layer, X)
    (finding,) = report.diagnosis
    assert (finding.line, finding.kind, finding.subject) == (line, kind, subject)
    assert str(report).startswith(f"WRONG: {subject} {'are' if ', ' in subject else 'is'} wrong; line {line} (")
    assert f"With this change {subject}" in str(report)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("V.add_grad(x.T @ ds)", "V.grad[...] = x.T @ ds"),
        ("x.T @ ds", "ds.T @ x"),
        ("self.W.add_grad(dw)", "dc *= 2\n    self.W.add_grad(dw)"),
    ],
)
def test_a_broken_promise_comes_with_the_edit_that_keeps_it(before, after):
    layer, line = with_mistake(before, after)
    with pytest.raises(GradientError, match=rf"line {line} \("):
        check_gradients(layer, X)


def test_a_layer_is_left_as_it_was():
    layer, _ = with_mistake("(1 - g)", "(1 + g)")
    layer.W.add_grad(np.ones((4, 3)))
    report = check_gradients(layer, X)
    layer.V.value[...] = 0.0  # what comes after the check is not what is explained
    assert report.diagnosis[0].kind == "sign"
    assert (layer.W.value == W).all() and (layer.V.value == 0).all()
    assert (layer.W.grad == 1).all() and set(vars(layer)) == {"W", "V"}


class Halved(Linear):
    def backward(self, dy, tape):
        return Linear.backward(self, dy, tape) / 2


@pytest.mark.parametrize("check", [check_gradients, check_directions])
def test_a_part_is_named_before_its_edit(check):
    layer, inputs, _ = CATALOGUE["FeedForward, gelu"].make()
    layer.output.__class__ = Halved
    first, last = check(layer, *inputs).diagnosis
    assert (first.line, first.kind) == (Halved.backward.__code__.co_firstlineno + 1, "extra factor")
    assert first.subject == "in output (Halved), dx"
    assert last.cause == "right by themselves: intermediate, activation"


def unread(layer_class, backward):
    """The class with another backward, which nobody can read."""
    backward = backward.format(right="super(type(self), self).backward(dy, tape)")
    return type("Unread", (layer_class,), {"backward": eval(f"lambda self, dy, tape: {backward}", {"np": np})})


@pytest.mark.parametrize(
    ("slope", "kind", "says"),
    [
        ("1.234 * np.cos(x)", "factor", "dx is 1.234 times too large, everywhere"),
        ("np.cosh(x * x)", "example", "dx is wrong, for example at x["),
    ],
)
def test_what_is_not_mended_is_told_by_its_numbers_or_by_the_worst_of_them(slope, kind, says):
    layer = unread(Function, f"dy * (lambda x: {slope})(tape.take(self))")(np.sin, None)
    report = check_gradients(layer, X, tolerances={COMPLEX_STEP: 1e-12})
    (finding,) = report.diagnosis
    assert (finding.kind, finding.subject, finding.line) == (kind, "dx", 0)
    assert says in finding.cause and str(report).startswith(f"WRONG: {says}")


RIGHT_PARTS = "right by themselves: intermediate, activation, output; look at what Unread does with them"


@pytest.mark.parametrize(
    ("block", "backward", "kind", "says"),
    [
        ("SoftmaxCrossEntropy", "5 * {right}", "factor", "5 is the number of labels that are not ignored, as if a sum"),
        (
            "DotProductAttention",
            "tuple(3 * dx for dx in {right})",
            "factor",
            "3 is the number of columns of q / num_h",
        ),
        ("FeedForward, gelu", "np.exp({right})", "right parts", RIGHT_PARTS),
    ],
)
def test_a_factor_that_is_a_size_is_told_by_its_name_and_right_parts_are_listed(block, backward, kind, says):
    layer, inputs, rng = CATALOGUE[block].make(unread(CATALOGUE[block].layer_class, backward))
    finding = check_gradients(layer, *inputs, rng=rng).diagnosis[-1]
    assert finding.kind == kind
    assert says in finding.cause


@pytest.mark.parametrize(("found", "marks"), [("dy * 2", " " * 14 + "^" * 6), ("dx = dy * 2", ""), ("absent", "")])
def test_the_marks_stand_below_what_is_concerned(found, marks):
    said = describe_place(Finding("unknown", "dx", place="dx = dy * 2", found=found, line=42))
    assert said.splitlines()[1:] == ["    42:  dx = dy * 2", *filter(None, [marks])]
