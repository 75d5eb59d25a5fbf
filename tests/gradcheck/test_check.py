"""Is right believed, and wrong seen, entry by entry and along directions?"""

import re

import numpy as np
import pytest

from npbert import NO_TAPE, Layer, Parameter, ReLU
from npbert.gradcheck import (
    COMPLEX_STEP,
    EXACT,
    FINITE_DIFFERENCES,
    TOLERANCES,
    GradientError,
    check_directions,
    check_gradients,
)
from tests.gradcheck.small import Function, Scale, X, broken, unprovable


def accepts(report, method):
    """True if this estimate finds nothing wrong."""
    counts = [each.count for each in report.comparisons if each.method == method]
    return bool(counts) and not any(counts)


def scale_with(**held):
    layer = Scale()
    vars(layer).update(held)
    return layer


held = Parameter(np.ones(2))
"""Not the attribute of this name."""


class Hidden(Scale):
    def __init__(self):
        self.held = {Parameter(np.array([1.0, 2.0, 3.0]))}  # a set, where named_parameters does not look

    s = property(lambda self: next(iter(self.held)))


class Sums(Layer):
    def forward(self, first, *others, tape=NO_TAPE):
        tape.keep(self, first=first, other=others[0])
        return first + others[0] + others[1], None, first * others[0]

    def backward(self, dy, tape):
        (dsum, dproduct), (first, second) = dy, tape.take(self)
        return [dsum + dproduct * second, dsum + dproduct * first, None]


@pytest.mark.filterwarnings("error")
def test_right_is_believed():
    report = check_gradients(Scale(), X)
    report.raise_if_wrong()
    assert (bool(report), report.sizes, set(report.worst)) == (True, {"s": 3, "x": 6}, set(TOLERANCES))
    assert report.worst[COMPLEX_STEP].relative_error < 1e-15
    assert report.worst[FINITE_DIFFERENCES].relative_error < 2e-12
    check_gradients(Scale(), X[:1]).raise_if_wrong()  # NumPy stretches a single row: that is no reason to call it wrong
    assert report.diagnosis == []
    assert str(report) == "PASS: 9 derivatives of s, x, proved. Cross-checks: finite differences, complex step."


@pytest.mark.parametrize(
    ("layer", "inputs", "sizes", "says"),
    [
        (
            scale_with(w=np.ones((3, 2)), ids=np.arange(3)),
            [X],
            {"s": 3, "x": 6},
            "Not checked, as not a Parameter: self.w.",
        ),
        (Hidden(), [X], {"hidden parameter 1": 3, "x": 6}, "9 derivatives of hidden parameter 1, x, proved"),
        (scale_with(x=Parameter(np.ones(2))), [X], {"s": 3, "x": 2, "input x": 6}, "of s, x, input x, proved"),
        (Sums(), [X, 2 * X, 3 * X], {"first": 6, "input 1": 6}, "proved"),  # None is the gradient of a constant
    ],
)
def test_what_is_checked_is_told(layer, inputs, sizes, says):
    report = check_gradients(layer, *inputs)
    assert report.proof and report.sizes == sizes
    assert says in str(report)


@pytest.mark.parametrize("check", [check_gradients, check_directions])
@pytest.mark.parametrize(("method", "tolerance"), [(FINITE_DIFFERENCES, 1e-7), (COMPLEX_STEP, 1e-12)])
def test_without_a_proof_an_error_of_the_tolerance_makes_the_difference(check, method, tolerance):
    for times, is_right in ((0.5, True), (2.0, False)):
        layer = unprovable(lambda x: 3 * x, lambda x, error=times * tolerance: 3 * (1 + error))
        assert accepts(check(layer, X), method) == is_right


@pytest.mark.parametrize(("size", "is_right"), [(30, False), (1e6, True)])
def test_an_error_counts_beside_its_own_array_down_to_a_hundredth_of_the_largest(size, is_right):
    """The derivatives of x are about 1, and those of s about as large as x."""
    layer = broken(
        forward=lambda self, x, tape: Scale.forward(self, x, tape) + 0 * np.fft.fft(x).real,
        backward=lambda self, dy, tape: Scale.backward(self, dy, tape) * (1 + 3e-7),
    )
    assert accepts(check_gradients(layer, size * X), FINITE_DIFFERENCES) == is_right


@pytest.mark.parametrize(("method", "sees"), [(FINITE_DIFFERENCES, 0.1), (COMPLEX_STEP, 1e-9)])
def test_each_estimate_is_doubted_as_far_as_it_may_be_off(method, sees):
    """Beside 10¹⁰, two digits of a difference are left, and all digits of a complex step."""
    for error in (0.0, sees):
        layer = unprovable(lambda x: 1e10 + np.sin(x), lambda x, error=error: np.cos(x) * (1 + error), of=np.real)
        assert accepts(check_gradients(layer, X), method) == (not error)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_turns_often_beside_how_large_x_is_is_told_right_and_a_wrong_sign_wrong(sign):
    layer = unprovable(np.tan, lambda x: sign / np.cos(x) ** 2, of=np.real)
    assert accepts(check_gradients(layer, 1e6 * X), FINITE_DIFFERENCES) == (sign == 1)


def test_the_worst_entry_is_named_and_what_is_wrong_is_counted():
    def backward(self, dy, tape):
        dx = Scale.backward(self, dy, tape)
        self.s.grad[:2] += dy[0, 0] * np.array([0.1, 0.5])
        return dx

    report = check_gradients(broken(backward=backward), X)
    worst = report.worst[EXACT]
    assert (report.ok, worst.name, worst.index) == (False, "s", (1,))
    with pytest.raises(GradientError, match=r"\n  9 derivatives of s, x. The worst:\n  s\[1\]: backward") as raised:
        report.raise_if_wrong()
    assert str(raised.value).endswith("\n  wrong: s (2 of 3)\n  right: x")


def test_nan_is_wrong_and_so_is_a_gradient_where_there_is_none():
    report = check_gradients(broken(backward=lambda *given: np.array([1, np.nan, 1]) * Scale.backward(*given)), X)
    assert (report.ok, report.wrong, report.worst[FINITE_DIFFERENCES].index) == (False, {"s": 0, "x": 2}, (0, 1))
    assert [check_gradients(Function(lambda x: 0 * x, lambda x, dx=dx: dx), X).ok for dx in (0, 1e-9)] == [True, False]


def test_empty_arrays_and_numbers_are_checked_too():
    """A parameter () and an empty one, an input () and with it an output ()."""

    def backward(self, dy, tape):
        self.s.add_grad((dy * tape.take(self)).sum() * self.factor)
        return dy * self.s.value

    layer = broken(backward=backward)
    layer.s, layer.nothing, layer.factor = Parameter(np.array(2.0)), Parameter(np.zeros((0, 3))), 1
    for x in (X, X[:0], np.array(1.5)):
        report = check_gradients(layer, x)
        assert (report.ok, report.sizes) == (True, {"s": 1, "nothing": 0, "x": x.size})
        assert check_directions(layer, x).ok
    layer.factor = 2
    assert check_gradients(layer, X).wrong["s"] == 1


def test_a_forward_that_is_not_analytic_is_judged_by_differences_alone():
    for layer in (Function(np.abs, np.sign), unprovable(np.abs, np.sign, of=np.real)):
        report = check_gradients(layer, X)
        assert (report.ok, set(report.worst)) == (True, {FINITE_DIFFERENCES})
    assert not check_gradients(unprovable(np.abs, lambda x: np.sign(x) * (1 + 3e-7), of=np.real), X)


@pytest.mark.parametrize("x", [1e-4, 0.0, -1e-7])
def test_a_kink_that_is_near_or_here_does_no_harm(x):
    """A derivative at 0 may be that of either side; but no third one."""
    x = np.array([x, 1.0])
    slopes = [(lambda x: x > 0, True), (lambda x: x >= 0, True), (lambda x: 1.3 - 0.3 * (x > 0.1), False)]
    assert check_gradients(ReLU(), x)
    for slope, is_right in slopes:
        assert check_gradients(unprovable(lambda x: x * (x.real > 0), slope), x).ok == is_right


TIED = np.ones(3)
REFUSED = [
    (scale_with(s=Parameter(np.ones(3, np.float32))), X, {}, TypeError, "s is float32, wanted float64"),
    (Scale(), X.astype(np.float32), {}, TypeError, "x is float32, wanted float64"),
    (ReLU(), X[:0], {}, ValueError, "nothing to check: "),
    (Scale(), np.where(X > 1.9, np.inf, X), {}, ValueError, "x has a number that is not finite"),
    (Scale(), X, {"directions": 0}, ValueError, "directions is 0, wanted at least 1"),
    (
        scale_with(s=Parameter(TIED), tied=Parameter(TIED[::-1])),
        X,
        {},
        GradientError,
        "s and tied share memory; tie weights with one Parameter",
    ),
]


@pytest.mark.parametrize(("layer", "x", "options", "error", "says"), REFUSED)
def test_what_cannot_be_checked_is_refused(layer, x, options, error, says):
    check = check_directions if "directions" in options else check_gradients
    with pytest.raises(error, match=re.escape(says)):
        check(layer, x, **options)
