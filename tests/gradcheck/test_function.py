"""What is asked of a layer beside its derivatives, and of its inputs."""

import numpy as np
import pytest

from npbert import Layer, Parameter
from npbert.gradcheck import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    GradientError,
    check_directions,
    check_gradients,
)
from tests.gradcheck.scale import Scale, X


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
