"""A layer of one's own with a mistake in it: the edit at its line, or the part, or what is true of its numbers; at any
seed, and never where it is not true."""

import re

import numpy as np
import pytest

from npbert import Linear
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import GradientError, check_directions, check_gradients, explain
from npbert.gradcheck.explain.finding import describe, edited
from npbert.gradcheck.explain.grammar import KINDS
from npbert.gradcheck.explain.trial import Failed, Trial
from tests.gradcheck.small import Function, written
from tests.tables import one_in

RNG = np.random.default_rng(3)
X = RNG.standard_normal((5, 4))
W, V = RNG.uniform(-1, 1, (2, 4, 3))
GATED = """
def forward(self, x, tape=NO_TAPE):
    a = x @ self.W.value
    g = 1 / (1 + np.exp(-(x @ self.V.value)))
    tape.keep(self, x=x, a=a, g=g)
    return a * g

def backward(self, dc, tape):
    x, a, g = tape.take(self)
    da, ds = dc * g, dc * a * g * (1 - g)
    dw = x.T @ da
    self.W.add_grad(dw)
    self.V.add_grad(x.T @ ds)
    return da @ self.W.value.T + ds @ self.V.value.T
"""
NORM = """
def forward(self, x, tape=NO_TAPE):
    centred = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    tape.keep(self, x_hat=centred / sigma, sigma=sigma)
    return centred / sigma * self.gamma.value

def backward(self, dy, tape):
    x_hat, sigma = tape.take(self)
    self.gamma.add_grad((dy * x_hat).sum(axis=0))
    dx_hat = dy * self.gamma.value
    shift = dx_hat.mean(axis=-1, keepdims=True)
    stretch = (dx_hat * x_hat).mean(axis=-1, keepdims=True)
    return (dx_hat - shift - x_hat * stretch) / sigma
"""
TABLE = """
def forward(self, ids, tape=NO_TAPE):
    tape.keep(self, ids=ids)
    return self.table.value[ids]

def backward(self, dy, tape):
    ids = tape.take(self)
    dtable = np.zeros_like(self.table.value)
    for v, row in zip(ids, dy, strict=True):
        dtable[v] += row
    self.table.add_grad(dtable)
"""
LAYERS = {
    GATED: (X, {"W": W, "V": V}),
    NORM: (X, {"gamma": np.array([0.5, -1.5, 2.0, 0.75])}),
    TABLE: (np.array([2, 0, 2, 1, 2]), {"table": W}),
}
MISTAKES = [
    (GATED, "(1 - g)", "(1 + g)", "sign", "dV, dx"),
    (GATED, " + ds @ self.V.value.T", "", "missing term", "dx"),
    (GATED, "dw = x.T @ da", "dw = x.T @ da / len(x)", "extra factor", "dW"),
    (GATED, "    self.W.add", "    dw *= len(x)\n    self.W.add", "extra line", "dW"),
    (NORM, "sum(axis=0)", "mean(axis=0)", "sum or mean", "dgamma"),
    (NORM, "dx_hat.mean(axis=-1", "dx_hat.mean(axis=0", "axis", "dx"),
    (NORM, "dx_hat * x_hat).mean", "dy * x_hat).mean", "wrong name", "dx"),
    (NORM, "x_hat * stretch) / sigma", "x_hat * stretch / sigma)", "brackets", "dx"),
    (NORM, "stretch) / sigma", "stretch) / (sigma + 1)", "extra term", "dx"),
    (TABLE, "+= row", "= row", "= or +=", "dtable"),
    (TABLE, "+= row", "+= row[0]", "index", "dtable"),
    (TABLE, "zip(ids", "zip(np.sort(ids)", "extra step", "dtable"),
    (
        TABLE,
        "for v, row in zip(ids, dy, strict=True):\n        dtable[v] += row",
        "dtable[ids] += dy",
        "repeated index",
        "dtable",
    ),
]


def with_mistake(source, before, after):
    """The layer, its input, and the line that is not right."""
    assert source.count(before) == 1
    line = source[: source.index(before)].count("\n") + 1
    inputs, parameters = LAYERS[source]
    return written(source.replace(before, after), **parameters), inputs, line


@pytest.mark.parametrize(("source", "before", "after", "kind", "subject"), one_in(5, MISTAKES))
def test_an_edit_is_found_at_its_line_and_makes_the_layer_right(source, before, after, kind, subject):
    layer, inputs, line = with_mistake(source, before, after)
    report = check_gradients(layer, inputs)
    (finding,) = report.diagnosis
    assert (finding.line, finding.kind, finding.subject) == (line, kind, subject)
    assert finding.cause == KINDS[kind].cause
    assert str(report).startswith(f"FAIL: {subject} {'are' if ', ' in subject else 'is'} wrong; line {line} (")
    assert f"With this change {subject}" in str(report) and "With this change" not in describe(finding)
    mended = source.replace(before, after).replace(finding.place, edited(finding) or "pass")
    assert check_gradients(written(mended, **LAYERS[source][1]), inputs)


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    one_in(
        3,
        [
            ("V.add_grad(x.T @ ds)", "V.grad[...] = x.T @ ds", "self.V.grad[...] += x.T @ ds"),
            ("x.T @ ds", "ds.T @ x", "self.V.add_grad(x.T @ ds)"),
            ("self.W.add_grad(dw)", "dc *= 2\n    self.W.add_grad(dw)", "dc = dc * 2"),
        ],
    ),
)
def test_a_broken_promise_comes_with_the_edit_that_keeps_it(before, after, edit):
    layer, inputs, line = with_mistake(GATED, before, after)
    with pytest.raises(GradientError, match=rf"(?s)line {line} \(.* is right:\n +{re.escape(edit)}$"):
        check_gradients(layer, inputs)


def test_each_mistake_has_its_edit_and_a_broken_promise_is_told_with_them():
    source = (
        GATED.replace("(1 - g)", "(1 + g)")
        .replace("x.T @ da", "x.T @ da * 2")
        .replace("add_grad(dw)", "grad[...] = dw")
    )
    found = check_gradients(written(source, W=W, V=V), X).diagnosis
    assert [(each.line, each.kind) for each in found] == [(10, "sign"), (11, "extra factor"), (12, "= or +=")]
    takes_any_dy = TABLE.replace(", strict=True", "").replace("+= row", "= row")
    found = check_gradients(written(takes_any_dy, table=W), LAYERS[TABLE][0]).diagnosis
    assert [each.kind for each in found] == ["= or +=", "contract"]


@pytest.mark.parametrize("line", one_in(3, ["while True: pass", "import sys; sys.exit()", "print('x' * 99)"]))
def test_endless_loops_exits_and_prints_are_survived(line, capsys):
    layer = written(
        GATED.replace("    dw = x.T @ da", f"    dw = x.T @ da / 2\n    if dw.size > 12:\n        {line}"), W=W, V=V
    )
    (finding,) = check_gradients(layer, X).diagnosis
    assert (finding.line, finding.kind) == (11, "extra factor")
    assert capsys.readouterr() == ("", "")


def test_an_array_that_grows_in_a_loop_ends_the_run_before_memory_does():
    with pytest.raises(Failed):
        Trial(None, []).step({"x": np.broadcast_to(0.0, 2_000_000)})


def test_a_layer_is_left_as_it_was():
    layer, *_ = with_mistake(GATED, "(1 - g)", "(1 + g)")
    layer.W.add_grad(np.ones((4, 3)))
    report = check_gradients(layer, X)
    layer.V.value[...] = 0.0  # what comes after the check is not what is explained
    assert report.diagnosis[0].kind == "sign"
    assert (layer.W.value == W).all() and (layer.V.value == 0).all()
    assert (layer.W.grad == 1).all() and set(vars(layer)) == {"W", "V"}


class Halved(Linear):
    def backward(self, dy, tape):
        return super().backward(dy, tape) / 2


def test_a_part_is_named_before_its_edit():
    layer, inputs, _ = CATALOGUE["FeedForward, gelu"].make()
    layer.output.__class__ = Halved
    first, last = check_directions(layer, *inputs).diagnosis
    assert (first.line, first.kind) == (Halved.backward.__code__.co_firstlineno + 1, "extra factor")
    assert first.subject == "dx of output (Halved)"
    assert last.cause == "right by themselves: intermediate, activation"


def unread(layer_class, backward):
    """The class with another backward, which nobody can read."""
    backward = backward.format(right="super(type(self), self).backward(dy, tape)")
    return type("Unread", (layer_class,), {"backward": eval(f"lambda self, dy, tape: {backward}", {"np": np})})


@pytest.mark.parametrize(
    ("slope", "kind", "says"),
    [
        ("1.234 * np.cos(x)", "factor", "dx is 1.234 times too large, everywhere"),
        ("np.cosh(x * x)", "example", "dx is wrong: "),
    ],
)
def test_what_is_not_mended_is_told_by_its_numbers_or_by_the_worst_of_them(slope, kind, says):
    layer = unread(Function, f"dy * (lambda x: {slope})(tape.take(self))")(np.sin, None)
    report = check_gradients(layer, X)
    (finding,) = report.diagnosis
    assert (finding.kind, finding.subject, finding.line) == (kind, "dx", 0)
    assert says in finding.cause and str(report).startswith(f"FAIL: {says}")


OF_ALL = "each of dq, dk, dv is 3 times too large, everywhere"
RIGHT_PARTS = "right by themselves: intermediate, activation, output; look at how Unread combines them"


@pytest.mark.parametrize(
    ("block", "backward", "kind", "says"),
    one_in(
        3,
        [
            ("DotProductAttention", "tuple(3 * dx for dx in {right})", "factor", OF_ALL),
            ("FeedForward, gelu", "np.exp({right})", "right parts", RIGHT_PARTS),
        ],
    ),
)
def test_a_factor_is_told_and_right_parts_are_listed(block, backward, kind, says):
    layer, inputs, rng = CATALOGUE[block].make(unread(CATALOGUE[block].layer_class, backward))
    finding = [each for each in check_gradients(layer, *inputs, rng=rng).diagnosis if each.kind != "contract"][-1]
    assert finding.kind == kind
    assert says in finding.cause


N, D = 11, 6
SEEDS = range(4)


def drawn(seed):
    return np.random.default_rng(seed).standard_normal((2, N, D))


def with_rows(right, rows, factor):
    wrong = right.copy()
    wrong[rows] *= factor
    return wrong


MISTAKES = {
    # what is wrong, the kind, and what is said of it
    "sum for mean": (lambda r: r * D, "factor", "6 times too large, everywhere"),
    "mean for sum": (lambda r: r / N, "factor", "11 times too small, everywhere"),
    "sign": (lambda r: -r, "factor", "dx has the wrong sign, everywhere"),
    "one row": (lambda r: with_rows(r, 4, 2.0), "place", "right but for row 4 (counted from 0)"),
    "places": (lambda r: r * (1 + np.eye(N, D)), "place", "but for 6 of its 66 numbers, at [0, 0], [1, 1], [2, 2]"),
    "zero": (lambda r: 0 * r, "zero", "is 0 everywhere, but y depends on x"),
    "infinite": (lambda r: np.where(np.arange(D) == 3, np.inf, r), "not finite", "has 11 of 66 numbers that are not"),
    "other dtype": (lambda r: r.astype(np.float32), "dtype", "dx is float32, wanted float64"),
    "flat": (lambda r: r.sum(axis=0), "shape", "it is right, but summed over axis 0"),
    "shape": (lambda r: r.T, "shape", "dx has shape (6, 11), wanted (11, 6): transposed, it is right"),
}
WITHOUT_NOISE = ("zero", "not finite", "dtype", "shape")


@pytest.mark.parametrize(("mistake", "kind", "says"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_wrong_is_said_at_any_seed(mistake, kind, says):
    for seed in SEEDS:
        right, _ = drawn(seed)
        (finding,) = explain(mistake(right), right, name="x")
        assert (finding.kind, finding.subject, finding.line) == (kind, "dx", 0)
        assert says in finding.cause


@pytest.mark.parametrize("name", [name for name, (_, kind, _) in MISTAKES.items() if kind not in WITHOUT_NOISE])
def test_nothing_is_said_that_is_only_nearly_true(name):
    for seed in SEEDS:
        right, noise = drawn(seed)
        wrong = MISTAKES[name][0](right)
        wrong = wrong + 1e-4 * np.abs(wrong - right).max() * noise
        assert explain(wrong, right, name="x") == []


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 2), (7, 1), (2, 3, 5)])
def test_nothing_is_said_of_noise_in_any_shape_and_of_what_is_right(shape):
    rng = np.random.default_rng(0)
    for _ in range(20):
        wrong, right = rng.standard_normal((2, *shape))
        assert explain(right, right, name="x") == []
        assert explain(wrong, right, name="x") == []
