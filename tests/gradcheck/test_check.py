"""Is right believed, and wrong seen, entry by entry and along directions?"""

import numpy as np
import pytest

from npbert import NO_TAPE, Init, Layer, Linear, Parameter, ReLU
from npbert.gradcheck import (
    COMPLEX_STEP,
    EXACT,
    FINITE_DIFFERENCES,
    NOT_PROVED,
    TOLERANCES,
    GradientError,
    check_directions,
    check_gradients,
)
from npbert.gradcheck.function import ScalarFunction
from tests.gradcheck.small import Function, Scale, X, broken, unprovable

both_checks = pytest.mark.parametrize("check", [check_gradients, check_directions])


@pytest.mark.filterwarnings("error")
def test_right_is_believed():
    report = check_gradients(Scale(), X)
    report.raise_if_wrong()
    assert (bool(report), report.sizes, set(report.worst)) == (True, {"s": 3, "x": 6}, set(TOLERANCES))
    assert report.worst[COMPLEX_STEP].relative_error < 1e-15
    check_gradients(Scale(), X[:1]).raise_if_wrong()  # NumPy stretches a single row: that is no reason to call it wrong
    assert report.diagnosis == []
    assert str(report) == "PASS: 9 derivatives of s, x, proved. Cross-checks: finite differences, complex step."


def test_arrays_that_are_no_parameters_are_told_as_unchecked():
    layer = Scale()
    assert "Not checked" not in str(check_gradients(layer, X))
    layer.w, layer.ids = np.ones((3, 2)), np.arange(3)
    said = "\n  Not checked: self.w is a float array, not a Parameter."
    assert said in str(check_gradients(layer, X)) and said in str(check_directions(layer, X))


def test_a_parameter_in_a_hidden_place_is_checked_and_told():
    class Hidden(Scale):
        def __init__(self):
            self.held = {Parameter(np.array([1.0, 2.0, 3.0]))}  # a set, where named_parameters does not look

        s = property(lambda self: next(iter(self.held)))

    report = check_gradients(Hidden(), X)
    assert report.proof and report.sizes == {"hidden parameter 1": 3, "x": 6}
    assert "1 parameter checked that `parameters()` does not find" in str(report)
    hidden = type("Wrong", (Hidden,), {"backward": lambda self, dy, tape: dy * self.s.value + 0 * tape.take(self)})()
    assert check_gradients(hidden, X).wrong == {"hidden parameter 1": 3, "x": 0}


def test_a_global_with_the_name_of_an_attribute_is_not_of_the_layer(monkeypatch):
    monkeypatch.setitem(globals(), "w", Parameter(np.ones(3)))

    class Named(Scale):
        def forward(self, x, tape=NO_TAPE):
            return super().forward(x, tape) if self.w else x

    named = Named()
    named.w = True
    assert check_gradients(named, X).sizes == {"s": 3, "x": 6}


@both_checks
@pytest.mark.parametrize("method", TOLERANCES)
@pytest.mark.parametrize(("error", "is_right"), [(0.5, True), (2.0, False)])
def test_an_error_of_the_tolerance_makes_the_difference(check, method, error, is_right):
    """1e-7 for finite differences, and 1e-12 for the complex step; where it is not proved."""
    error *= {FINITE_DIFFERENCES: 1e-7, COMPLEX_STEP: 1e-12}[method]
    layer = unprovable(lambda x: 3 * x, lambda x: 3 * (1 + error))
    assert check(layer, X, tolerances={method: TOLERANCES[method]}).ok == is_right


@pytest.mark.parametrize(("size", "is_right"), [(30, False), (1e6, True)])
def test_an_error_counts_beside_its_own_array_down_to_a_hundredth_of_the_largest(size, is_right):
    """The derivatives of x are about 1, and those of s about as large as x."""

    def forward(self, x, tape):
        return Scale.forward(self, x, tape) + 0 * np.fft.fft(x).real

    def backward(self, dy, tape):
        return Scale.backward(self, dy, tape) * (1 + 3e-7)

    layer = broken(forward=forward, backward=backward)
    report = check_gradients(layer, size * X, tolerances={FINITE_DIFFERENCES: 1e-7})
    assert report.ok == is_right


@pytest.mark.parametrize("k", [0.1, 1.0, 10.0])
def test_finite_differences_are_exact_to_many_digits(k):
    layer = Function(lambda x: np.sin(k * x), lambda x: k * np.cos(k * x))
    report = check_gradients(layer, X)
    assert report.worst[FINITE_DIFFERENCES].relative_error < 2e-12
    assert report.worst[COMPLEX_STEP].relative_error < 1e-15


def test_the_worst_entry_is_named_and_what_is_wrong_is_counted():
    def backward(self, dy, tape):
        dx = Scale.backward(self, dy, tape)
        self.s.grad[:2] += dy[0, 0] * np.array([0.1, 0.5])
        return dx

    report = check_gradients(broken(backward=backward), X)
    worst = report.worst[EXACT]
    assert not report
    assert (worst.name, worst.index) == ("s", (1,))
    with pytest.raises(GradientError, match=r"\n  9 derivatives of s, x. The worst:\n  s\[1\]: backward") as raised:
        report.raise_if_wrong()
    assert str(raised.value).endswith("\n  wrong: s (2 of 3)\n  right: x")
    assert "\n  right: none" in str(check_gradients(Function(lambda x: x, lambda x: x + 1), X))


def test_nan_is_wrong_and_so_is_a_gradient_where_there_is_none():
    report = check_gradients(broken(backward=lambda *given: np.array([1, np.nan, 1]) * Scale.backward(*given)), X)
    assert (report.ok, report.wrong, report.worst[FINITE_DIFFERENCES].index) == (False, {"s": 0, "x": 2}, (0, 1))
    assert not check_gradients(Function(lambda x: 0 * x, lambda x: 1e-9), X)
    assert check_gradients(Function(lambda x: 0 * x, lambda x: 0.0), X)
    assert check_gradients(Function(lambda x: x, lambda x: 1.0), X), "y may be x itself"


def test_directions_are_all_different_and_no_array_is_small_beside_another(monkeypatch):
    steps = []

    def noted(function, step):
        steps.append(np.concatenate([step["s"], step["x"].ravel() / 1e6]))
        return 0.0

    monkeypatch.setattr(ScalarFunction, "_complex_step", noted)
    check_directions(Scale(), 1e6 * X, directions=20, tolerances={COMPLEX_STEP: 1e-12})
    for drawn in (np.random.default_rng(seed).standard_normal(len(steps[0])) for seed in range(3)):
        assert np.abs(steps @ drawn).max() < 0.99 * np.linalg.norm(drawn) * np.linalg.norm(steps, axis=1).max()
    cosines = np.array(steps) @ np.transpose(steps)
    assert np.abs(cosines - np.diag(cosines.diagonal())).max() < 0.95 * cosines.diagonal().max()
    assert (np.min(steps, axis=0) < -0.1).all() and (np.max(steps, axis=0) > 0.1).all()


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
    assert "\n  s: backward" in str(check_gradients(layer, X))


def test_inputs_beyond_the_named_ones_and_several_outputs():
    class Sums(Layer):
        def forward(self, first, *others, tape=NO_TAPE):
            tape.keep(self, first=first, other=others[0])
            return first + others[0] + others[1], None, first * others[0]

        def backward(self, dy, tape):
            (dsum, dproduct), (first, second) = dy, tape.take(self)
            return [dsum + dproduct * second, dsum + dproduct * first, dsum]

    report = check_gradients(Sums(), X, 2 * X, 3 * X)
    assert (report.ok, report.sizes) == (True, {"first": 6, "input 1": 6, "input 2": 6})


def test_a_parameter_and_an_input_of_one_name_are_told_apart():
    scale = Scale()
    scale.x = Parameter(np.ones(2))
    report = check_gradients(scale, X)
    assert (report.ok, report.sizes) == (True, {"s": 3, "x": 2, "input x": 6})


def test_a_forward_that_is_not_analytic_is_judged_by_differences_alone():
    def in_a_buffer(x):
        y = np.empty(x.shape)
        y[...] = 2 * x
        return x + y

    for f, slope in ((in_a_buffer, lambda x: 3.0), (np.abs, np.sign), (lambda x: np.abs(x) ** 2, lambda x: 2 * x)):
        for layer in (Function(f, slope), unprovable(f, slope, of=np.real)):
            report = check_gradients(layer, X)
            assert (report.ok, set(report.worst)) == (True, {FINITE_DIFFERENCES})
        assert not check_gradients(unprovable(f, lambda x, slope=slope: slope(x) * (1 + 3e-7), of=np.real), X)


@pytest.mark.parametrize("x", [1e-4, 1e-9, 0.0, -1e-7])
def test_a_kink_that_is_near_or_here_does_no_harm(x):
    """A derivative at 0 may be that of either side; but no third one."""
    for layer in (ReLU(), unprovable(lambda x: x * (x.real > 0), lambda x: x > 0)):
        assert check_gradients(layer, np.array([x, 1.0]))
    assert check_gradients(unprovable(lambda x: x * (x.real > 0), lambda x: x >= 0), np.array([x, 1.0]))
    assert not check_gradients(
        unprovable(lambda x: x * (x.real > 0), lambda x: 1.3 - 0.3 * (x > 0.1)), np.array([x, 1.0])
    )


def test_what_is_right_on_exact_numbers_and_wrong_in_floats_is_wrong():
    """Overflow: exp of 800, as in a softmax without its maximum; and a function that is only nearly itself."""

    class NearlyTanh(Function):
        def forward(self, x, tape=NO_TAPE):
            y = super().forward(x, tape)
            return y if y.dtype == object else y + 1e-5 * y * y

    nearly = NearlyTanh(np.tanh, lambda x: 1 - np.tanh(x) ** 2)
    report = check_gradients(nearly, X)
    assert (report.ok, report.proof.verdict) == (False, NOT_PROVED)
    assert "takes another path on exact numbers: y[0, 0] is" in str(report)

    def softmax(x):
        return np.exp(x) / np.exp(x).sum()

    large = Function(lambda x: softmax(x).sum() * x, lambda x: np.ones_like(x) * softmax(x).sum())
    with np.errstate(all="ignore"), pytest.raises(GradientError, match="not finite"):
        check_gradients(large, 800 * np.abs(X))


def test_what_cannot_be_checked_is_refused():
    layer = Scale()
    layer.s.value = layer.s.value.astype(np.float32)
    for wrong, x, name in ((layer, X, "s"), (Scale(), X.astype(np.float32), "x")):
        with pytest.raises(TypeError, match=f"{name} is float32, wanted float64"):
            check_gradients(wrong, x)
    with pytest.raises(ValueError, match="nothing to check: "):
        check_gradients(ReLU(), np.zeros((0, 3)))
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="x has a number that is not finite"):
            check_gradients(Scale(), np.where(np.arange(X.size).reshape(X.shape) == 1, wrong, X))
    with pytest.raises(ValueError, match="directions is 0, wanted at least 1"):
        check_directions(Scale(), X, directions=0)
    for tolerances in ({}, {"fd": 1e-7}):
        with pytest.raises(ValueError, match="wanted one or both of"):
            check_gradients(Scale(), X, tolerances=tolerances)
    layer.s, layer.tied = Parameter(np.ones(3)), Parameter(np.ones(3))
    layer.tied.value = layer.s.value[::-1]
    with pytest.raises(GradientError, match="s and tied share memory; tie weights with one Parameter"):
        check_gradients(layer, X)


def test_a_list_in_the_place_of_an_array_is_told_what_is_wanted():
    layer = Linear(2, 3, Init(np.random.default_rng(0), dtype=np.float64))
    layer.forward = lambda x, tape: Linear.forward(layer, np.array(x), tape)
    with pytest.raises(GradientError, match=r"returns 1 gradient, for inputs \[\]: return one for each NumPy array"):
        check_gradients(layer, [[1.0, 2.0]])
