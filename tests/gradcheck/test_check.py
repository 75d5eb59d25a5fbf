"""The checker itself: what it must see, what it must not mind, and what it says."""

import numpy as np
import pytest

from npbert import Embedding, EncoderLayer, Layer, LayerNorm, Linear, Parameter, ReLU
from npbert.gradcheck import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    GradientError,
    LossOf,
    check_directions,
    check_gradients,
    randomize,
)


class Scale:
    """y = s · x: a layer of one's own, which inherits from nothing. A test breaks it by overriding a method."""

    def __init__(self, features=3, dtype=np.float64):
        self.s = Parameter(np.arange(1, features + 1).astype(dtype))

    def forward(self, x):
        return self.s.value * x, x

    def backward(self, dy, x):
        self.s.grad += (dy * x).sum(axis=0)
        return dy * self.s.value


X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])


def test_right_is_proved():
    report = check_gradients(Scale(), X)
    assert report.ok
    assert report.count == 3 + 6
    assert set(report.worst) == {FINITE_DIFFERENCES, COMPLEX_STEP}
    assert report.worst[COMPLEX_STEP].relative_error < 1e-15
    assert report.worst[FINITE_DIFFERENCES].relative_error < 1e-11
    assert str(report).startswith("proved, 9 derivatives of s, x; the worst:\n  ")
    report.raise_if_wrong()


@pytest.mark.parametrize("check", [check_gradients, check_directions])
def test_a_small_error_is_seen_by_both_methods(check):
    class Wrong(Scale):
        def backward(self, dy, x):
            dx = super().backward(dy, x)
            dx[1, 2] *= 1 + 1e-5
            return dx

    report = check(Wrong(), X)
    assert not report.ok
    assert all(worst.relative_error > 1e-7 for worst in report.worst.values())


def test_the_report_names_the_worst_entry():
    class Wrong(Scale):
        def backward(self, dy, x):
            dx = super().backward(dy, x)
            self.s.grad[1] += 0.5
            return dx

    report = check_gradients(Wrong(), X)
    worst = report.worst[COMPLEX_STEP]
    assert (worst.name, worst.index) == ("s", (1,))
    assert worst.analytic - worst.numeric == pytest.approx(0.5)
    with pytest.raises(
        GradientError, match=r"WRONG, 9 derivatives of s, x; the worst:\n  s\[1\]: backward .*, relative error"
    ):
        report.raise_if_wrong()


def test_nan_is_wrong():
    class Wrong(Scale):
        def backward(self, dy, x):
            dx = super().backward(dy, x)
            dx[0, 0] = np.nan
            return dx

    report = check_gradients(Wrong(), X)
    assert not report.ok
    assert report.worst[COMPLEX_STEP].index == (0, 0)


def test_a_gradient_where_there_is_none_is_wrong():
    class Wrong(Scale):
        def forward(self, x):
            return x, x

        def backward(self, dy, x):
            self.s.grad += 1e-9
            return dy

    assert not check_gradients(Wrong(), X).ok


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda dx: None, r"returns 0 gradients, for inputs \['x'\]"),
        (lambda dx: (dx, dx), r"returns 2 gradients, for inputs \['x'\]"),
        (lambda dx: dx[0], r"returns a gradient of shape \(3,\) for x \(2, 3\)"),
    ],
)
def test_wrong_number_or_shape(returned, message):
    class Wrong(Scale):
        def backward(self, dy, x):
            return returned(super().backward(dy, x))

    with pytest.raises(GradientError, match=message):
        check_gradients(Wrong(), X)


def test_setting_in_place_of_adding_is_seen():
    class Wrong(Scale):
        def backward(self, dy, x):
            self.s.grad[...] = (dy * x).sum(axis=0)
            return dy * self.s.value

    with pytest.raises(GradientError, match="backward sets the gradient of s, where it should add to it"):
        check_gradients(Wrong(), X)


def test_a_new_gradient_array_is_seen():
    """The sum is right, but whoever holds the old array (an optimiser, a view) would miss it."""

    class Wrong(Scale):
        def backward(self, dy, x):
            self.s.grad = self.s.grad + (dy * x).sum(axis=0)
            return dy * self.s.value

    layer = Wrong()
    grad = layer.s.grad
    with pytest.raises(GradientError, match="where it should add to it, in place"):
        check_gradients(layer, X)
    assert layer.s.grad is grad


def test_a_second_backward_that_says_something_else_is_seen():
    class Wrong(Scale):
        calls = 0

        def backward(self, dy, x):
            self.calls += 1
            return super().backward(dy, x) * self.calls

    with pytest.raises(GradientError, match="returns another gradient of x when it runs again"):
        check_gradients(Wrong(), X)


def test_two_parameters_over_one_memory_are_seen():
    class Wrong(Scale):
        def __init__(self):
            super().__init__()
            self.tied = Parameter(self.s.value)

    with pytest.raises(GradientError, match="s and tied share memory: a tied weight is one Parameter"):
        check_gradients(Wrong(), X)


def test_changing_a_value_is_seen_and_mended():
    class Wrong(Scale):
        def backward(self, dy, x):
            dx = super().backward(dy, x)
            self.s.value -= 0.1 * self.s.grad
            return dx

    layer = Wrong()
    with pytest.raises(GradientError, match="backward changes the value of s: only an optimiser may"):
        check_gradients(layer, X)
    np.testing.assert_array_equal(layer.s.value, [1, 2, 3])


def test_a_cache_on_self_is_seen():
    class Wrong(Scale):
        def forward(self, x):
            self.x = x
            return self.s.value * x, None

        def backward(self, dy, cache):
            return super().backward(dy, self.x)

    assert not check_gradients(Wrong(), X).ok


def test_writing_into_an_input_is_refused():
    class Wrong(Scale):
        def forward(self, x):
            x *= self.s.value
            return x, x

    x = X.copy()
    with pytest.raises(ValueError, match="read-only"):
        check_gradients(Wrong(), x)
    np.testing.assert_array_equal(x, X)


def test_nothing_is_left_changed():
    layer = Scale()
    layer.s.grad[...] = 7
    value, x = layer.s.value, X.copy()
    check_gradients(layer, x)
    check_directions(layer, x)
    assert layer.s.value is value
    np.testing.assert_array_equal(value, [1, 2, 3])
    np.testing.assert_array_equal(layer.s.grad, 7)
    np.testing.assert_array_equal(x, X)


def test_a_forward_that_is_not_analytic_says_so():
    class Buffer(Scale):
        def forward(self, x):
            y = np.empty(x.shape)
            y[...] = self.s.value * x
            return y, x

    class Absolute(Layer):
        def forward(self, x):
            return np.abs(x), x

        def backward(self, dy, x):
            return dy * np.sign(x)

    for layer in (Buffer(), Absolute()):
        with pytest.raises(TypeError, match="complex numbers do not flow through forward"):
            check_gradients(layer, X)
        assert check_gradients(layer, X, tolerances={FINITE_DIFFERENCES: 1e-7}).ok


def test_float32_is_refused():
    with pytest.raises(TypeError, match="s is float32; a proof needs float64"):
        check_gradients(Scale(dtype=np.float32), X)
    with pytest.raises(TypeError, match="x is float32; a proof needs float64"):
        check_gradients(Scale(), X.astype(np.float32))


def test_nothing_to_prove():
    class Nothing(Layer):
        def forward(self, number):
            return np.ones(number), None

        def backward(self, dy, cache):
            return None

    with pytest.raises(ValueError, match="there is nothing to prove"):
        check_gradients(Nothing(), 3)


def test_inputs_beyond_the_named_ones_and_several_outputs():
    class Sums(Layer):
        def forward(self, *arrays):
            return (sum(arrays), arrays[0] * arrays[1]), arrays

        def backward(self, dy, arrays):
            dsum, dproduct = dy
            return [dsum + dproduct * arrays[1], dsum + dproduct * arrays[0], dsum]

    report = check_gradients(Sums(), X, 2 * X, 3 * X)
    assert report.ok
    assert report.count == 18


def test_a_parameter_and_an_input_of_one_name():
    class Shift(Layer):
        def __init__(self):
            self.x = Parameter(np.ones(3))

        def forward(self, x):
            return self.x.value + x, None

        def backward(self, dy, cache):
            self.x.grad += dy
            return 2 * dy

    worst = check_gradients(Shift(), np.ones(3)).worst[COMPLEX_STEP]
    assert (worst.name, worst.relative_error > 0.5) == ("input x", True)


def test_the_loss_of_a_model_is_a_layer():
    class Model(Layer):
        def __init__(self):
            self.linear = Linear(3, 1, rng=np.random.default_rng(0), dtype=np.float64)

        def loss(self, x):
            y, cache = self.linear.forward(x)
            return ((y * y).sum(), "and others"), (y, cache)

        def backward(self, cache, dloss=1.0):
            y, linear_cache = cache
            self.linear.backward(2 * y * dloss, linear_cache)

    model = LossOf(Model())
    randomize(model, np.random.default_rng(0))
    assert check_gradients(model, np.arange(3)[None, :]).ok


def test_directions_cover_parameters_and_inputs():
    rng = np.random.default_rng(0)
    norm = LayerNorm(20, dtype=np.float64)
    randomize(norm, rng)
    report = check_directions(norm, rng.standard_normal((30, 20)), directions=5)
    assert report.ok
    assert report.count == 5


def test_no_direction_and_no_method_prove_nothing():
    assert check_directions(Scale(), X, directions=1).ok
    with pytest.raises(ValueError, match="directions is 0, wanted at least 1"):
        check_directions(Scale(), X, directions=0)
    for tolerances in ({}, {"fd": 1e-7}):
        with pytest.raises(ValueError, match="wanted one or both of"):
            check_gradients(Scale(), X, tolerances=tolerances)
    with pytest.raises(ValueError, match="there is nothing to prove"):
        check_gradients(ReLU(), np.zeros((0, 3)))


def test_a_report_is_as_true_as_it_is_right():
    class Wrong(Scale):
        def backward(self, dy, x):
            return 2 * super().backward(dy, x)

    assert check_gradients(Scale(), X)
    assert not check_gradients(Wrong(), X)


def test_methods_that_disagree_say_why():
    class Variance(Layer):
        def forward(self, x):
            return x.var(axis=-1, keepdims=True) * x.sum(), x

        def backward(self, dy, x):
            variance, centred = x.var(axis=-1, keepdims=True), x - x.mean(axis=-1, keepdims=True)
            return (dy * variance).sum() + dy * x.sum() * 2 * centred / x.shape[-1]

    report = check_gradients(Variance(), X)
    assert report.worst[FINITE_DIFFERENCES].relative_error < 1e-10
    assert "does forward use what complex numbers do not flow through" in str(report)
    assert "is a kink near" in str(check_gradients(ReLU(), np.array([1e-4, 1.0])))


def test_many_arrays_are_counted_and_few_are_named():
    encoder_layer = EncoderLayer(4, 2, 3, rng=np.random.default_rng(0), dtype=np.float64)
    assert "derivatives of 17 arrays; the worst" in str(
        check_gradients(encoder_layer, np.ones((1, 2, 4)) * np.arange(4))
    )


def test_randomize_leaves_no_blind_spot():
    norm = LayerNorm(1000)
    randomize(norm, np.random.default_rng(0))
    for parameter in norm.parameters():
        assert parameter.value.dtype == np.float32
        assert np.abs(parameter.value).max() > 0.9
        assert 0.5 < parameter.value.std() < 0.65


def test_integer_inputs_are_handed_on():
    embedding = Embedding(4, 3, rng=np.random.default_rng(0), dtype=np.float64)
    assert check_gradients(embedding, np.array([[1, 1, 3]])).count == 12
