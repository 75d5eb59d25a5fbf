"""The promises of a layer, each broken alone. (Those that published code broke are planted: test_planted_bugs.py.)"""

import numpy as np
import pytest

from npbert import NO_TAPE, Parameter
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import COMPLEX_STEP, GradientError, check_directions, check_gradients
from tests.gradcheck.small import Scale, X, broken, returning
from tests.planted.contracts import remembering


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda dx: None, r"returns 0 gradients, for inputs \['x'\]"),
        (lambda dx: (dx, dx), r"returns 2 gradients, for inputs \['x'\]"),
        (lambda dx: dx[0], r"gives a gradient of shape \(3,\) and float64 for x, which has shape \(2, 3\)"),
        (lambda dx: dx.astype(np.float32), r"gives a gradient of shape \(2, 3\) and float32 for x"),
    ],
)
def test_another_number_shape_or_dtype_of_gradients_is_seen(change, message):
    with pytest.raises(GradientError, match=message):
        check_gradients(returning(change), X)


@pytest.mark.parametrize("dtype", [np.float32, np.longdouble])
def test_an_output_of_another_dtype_is_seen(dtype):
    layer = broken(forward=lambda self, x, tape: Scale.forward(self, x, tape).astype(dtype))
    with pytest.raises(GradientError, match=f"forward turns float64 into {np.dtype(dtype)}"):
        check_gradients(layer, X)


class Shift:
    """y = x + b + c, with a b and a c for each element: the gradient of all three is dy."""

    def __init__(self, memory_of_db="nobody"):
        self.b, self.c, self.memory_of_db = Parameter(np.ones(X.shape)), Parameter(np.ones(X.shape)), memory_of_db
        self.kept = np.full(X.shape, 7.0)

    def forward(self, x, tape):
        y = x + self.b.value + self.c.value
        tape.keep(self, x, y)
        return y

    def backward(self, dy, tape):
        x, y = tape.take(self)
        dx, dc = dy.copy(), dy.copy()
        memory = {"x": x, "y": y, "dy": dy, "the value of b": self.b.value, "what is kept": self.kept}
        memory |= {"the gradient of x": dx, "the gradient of c": dc, "nobody": dy.copy()}
        self.b.add_grad(memory[self.memory_of_db])
        self.c.add_grad(dc)
        return dx


def said(layer):
    """What a check of the layer raises; or its diagnosis, where the derivative is wrong, too."""
    try:
        return check_gradients(layer, X).diagnosis[-1].cause
    except GradientError as error:
        return str(error)


@pytest.mark.parametrize("whose", ["x", "y", "dy", "the value of b", "the gradient of x", "the gradient of c"])
def test_a_gradient_in_memory_that_is_somebody_elses_is_seen(whose):
    assert check_gradients(Shift(), X).ok
    assert f"the gradient of b shares memory with {whose}: add_grad wants an array" in said(Shift(whose))


def test_a_gradient_that_the_layer_keeps_is_seen():
    """The same array is handed over each time, so adding to it changes what is handed over next."""
    assert "the gradient of b is another one once others were added" in said(Shift("what is kept"))


@pytest.mark.parametrize("x", [X, X[:1], X[:1, :1]], ids=lambda x: str(x.shape))
def test_a_tape_kept_on_self_is_seen_even_for_a_single_number(x):
    with pytest.raises(GradientError, match="the gradient of s is another one when another call comes between"):
        check_gradients(remembering(Scale)(np.ones(x.shape[1])), x)


def test_too_many_rows_must_be_refused_in_whichever_output_has_rows():
    class Sums(Scale):
        def forward(self, x, tape):
            y = super().forward(x, tape)
            return y.sum(), y

        def backward(self, dy, tape):
            return super().backward(dy[0] + dy[1][: len(X)], tape)

    with pytest.raises(GradientError, match=r"does not mind a dy of shape \(6, 3\) for a y of shape \(2, 3\)"):
        check_gradients(Sums(), X)


@pytest.mark.parametrize("check", [check_gradients, check_directions])
def test_nothing_is_left_changed(check):
    (layer, inputs, rng), (untouched, before, _) = (CATALOGUE["MultiHeadAttention, one sequence"].make() for _ in "ab")
    arrays, state = [parameter.value for parameter in layer.parameters()], rng.bit_generator.state
    layer.query.bias.add_grad(np.full(6, 7.0))
    assert check(layer, *inputs, rng=rng).ok
    for parameter, array, right in zip(layer.parameters(), arrays, untouched.parameters(), strict=True):
        assert parameter.value is array
        np.testing.assert_array_equal(array, right.value)
        np.testing.assert_array_equal(parameter.grad, 7 if parameter is layer.query.bias else 0)
    np.testing.assert_array_equal(inputs, before)
    assert rng.bit_generator.state == state


def test_what_a_wrong_layer_changed_is_mended():
    def backward(self, dy, tape):
        self.s.value -= 0.1 * dy.sum(axis=0)
        return Scale.backward(self, dy, tape)

    layer, x = broken(backward=backward), X.copy()
    with pytest.raises(GradientError, match="backward changes the value of s: only an optimiser may"):
        check_gradients(layer, X)
    np.testing.assert_array_equal(layer.s.value, [1, 2, 3])
    np.testing.assert_array_equal(layer.s.grad, 0)
    with pytest.raises(ValueError, match="read-only"):
        check_gradients(broken(forward=lambda self, x, tape: np.multiply(x, 2, out=x)), x)
    np.testing.assert_array_equal(x, X)


def test_a_single_row_may_be_stretched():
    """NumPy does so in a layer that is right: that is no reason to call the layer wrong."""
    check_gradients(Scale(), X[:1]).raise_if_wrong()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda dw: dw.T,
            r"gradient of shape \(3, 7\) and float64 for w, which has shape \(7, 3\) .* transposed, it is r",
        ),
        (lambda dw: dw[None], r"for w, which has shape \(7, 3\) and float64: summed over axis 0, it is right"),
        (lambda dw: dw[0], r"gradient of shape \(3,\) and float64 for w, which has shape \(7, 3\) and float64"),
        (lambda dw: dw.astype(np.float32), r"gradient of shape \(7, 3\) and float32 for w"),
    ],
)
def test_a_gradient_that_its_parameter_refuses_is_named_with_both_shapes(change, says):
    class Product:
        def __init__(self):
            self.w = Parameter(np.random.default_rng(0).standard_normal((7, 3)))

        def forward(self, x, tape=NO_TAPE):
            tape.keep(self, x)
            return x @ self.w.value

        def backward(self, dy, tape):
            self.w.add_grad(change(tape.take(self).T @ dy))
            return dy @ self.w.value.T

    with pytest.raises(GradientError, match=says):
        check_gradients(Product(), np.random.default_rng(1).standard_normal((5, 7)))


def test_what_is_written_into_is_named():
    def in_dy(self, dy, tape):
        dy *= self.s.value
        return dy

    def in_x(self, dy, tape):
        x = tape.take(self)
        x *= 2
        return dy

    for method, wrong, says in (
        ("backward", in_dy, "backward writes into dy"),
        ("backward", in_x, "backward writes into x"),
        ("forward", lambda self, x, tape: np.multiply(x, 2, out=x), "forward writes into x"),
    ):
        with pytest.raises(
            ValueError, match=f"{says}, which is the caller's, and read-only here: compute in an array of"
        ):
            check_gradients(broken(**{method: wrong}), X)


def test_set_and_not_added_is_said():
    def backward(self, dy, tape):
        self.s.zero_grad()
        return Scale.backward(self, dy, tape)

    with pytest.raises(
        GradientError, match=r"s is set by backward, .* only that of the last is there, as if = stood for \+="
    ):
        check_gradients(broken(backward=backward), X)


def test_what_is_neither_set_nor_added_is_not_called_set():
    def backward(self, dy, tape):
        before = self.s.grad.copy()
        dx = Scale.backward(self, dy, tape)
        self.s.grad[...] -= before / 2
        return dx

    with pytest.raises(GradientError, match="the gradient of s is not the sum of two backwards: each should add"):
        check_gradients(broken(backward=backward), X)


def test_a_wrong_derivative_is_said_before_a_promise_that_is_broken_too():
    layer = broken(backward=lambda self, dy, tape: dy[: len(X)] + 0 * tape.take(self))
    report = check_gradients(layer, X, tolerances={COMPLEX_STEP: 1e-12})
    assert report.diagnosis[0].subject == "ds"
    assert [finding.kind for finding in report.diagnosis][-1] == "contract"
