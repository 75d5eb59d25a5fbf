"""Adam, AdamW and Adadelta against their algorithms in scalars. (Against torch: tests/parity.)"""

import math

import numpy as np
import pytest

from npbert import Adadelta, Adam, AdamW, Linear, Parameter

GRADIENTS = [0.5, -2.0, 0.0, 1e-3]


def make_parameters(dtype=np.float64):
    return [Parameter(np.full((2, 3), 1.5, dtype)), Parameter(np.full(4, -0.5, dtype))]


def run(optimizer, steps=GRADIENTS):
    for gradient in steps:
        for factor, parameter in enumerate(optimizer.parameters, start=1):
            parameter.grad[...] = gradient * factor
        optimizer.step()
    return [parameter.value for parameter in optimizer.parameters]


def adam(theta, factor, decay=0.0, lr=0.1, beta1=0.9, beta2=0.99, eps=1e-3):
    m = v = 0.0
    for t, gradient in enumerate(GRADIENTS, start=1):
        g = gradient * factor
        theta -= lr * decay * theta
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        theta -= lr * (m / (1 - beta1**t)) / (math.sqrt(v / (1 - beta2**t)) + eps)
    return theta


def test_adam():
    matrix, vector = run(Adam(make_parameters(), lr=0.1, betas=(0.9, 0.99), eps=1e-3))
    np.testing.assert_allclose(matrix, adam(1.5, 1), rtol=1e-14)
    np.testing.assert_allclose(vector, adam(-0.5, 2), rtol=1e-14)


def test_adamw_decays_matrices_only():
    matrix, vector = run(AdamW(make_parameters(), lr=0.1, betas=(0.9, 0.99), eps=1e-3, weight_decay=0.3))
    np.testing.assert_allclose(matrix, adam(1.5, 1, decay=0.3), rtol=1e-14)
    np.testing.assert_allclose(vector, adam(-0.5, 2), rtol=1e-14)


def test_adadelta():
    def adadelta(theta, factor, lr=0.7, rho=0.8, eps=1e-4):
        v = u = 0.0
        for gradient in GRADIENTS:
            g = gradient * factor
            v = rho * v + (1 - rho) * g * g
            delta = g * math.sqrt(u + eps) / math.sqrt(v + eps)
            u = rho * u + (1 - rho) * delta * delta
            theta -= lr * delta
        return theta

    matrix, vector = run(Adadelta(make_parameters(), lr=0.7, rho=0.8, eps=1e-4))
    np.testing.assert_allclose(matrix, adadelta(1.5, 1), rtol=1e-14)
    np.testing.assert_allclose(vector, adadelta(-0.5, 2), rtol=1e-14)


@pytest.mark.parametrize("make", [Adam, AdamW, Adadelta])
def test_float32_stays_and_values_change_in_place(make):
    parameters = make_parameters(np.float32)
    arrays = [parameter.value for parameter in parameters]
    optimizer = make(parameters)
    run(optimizer)
    for parameter, array in zip(parameters, arrays, strict=True):
        assert parameter.value is array
        assert array.dtype == np.float32
    states = [item for value in vars(optimizer).values() if isinstance(value, list) for item in value]
    assert {state.dtype for state in states if isinstance(state, np.ndarray)} == {np.dtype(np.float32)}


@pytest.mark.parametrize("make", [Adam, AdamW, Adadelta])
def test_a_tied_parameter_is_stepped_once(make):
    once, twice = make_parameters()[0], make_parameters()[0]
    run(make([once]))
    run(make([twice, twice]))
    np.testing.assert_array_equal(once.value, twice.value)


@pytest.mark.parametrize("make", [Adam, AdamW, Adadelta])
def test_an_lr_of_0_changes_nothing(make):
    for value, start in zip(run(make(make_parameters(), lr=0.0)), make_parameters(), strict=True):
        np.testing.assert_array_equal(value, start.value)


def test_names_are_no_parameters():
    with pytest.raises(TypeError, match=r"takes Parameters \(model.parameters\(\)\), got a tuple"):
        Adam(Linear(2, 3, rng=None).named_parameters())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: Adam([]), "there are no parameters to optimise"),
        (lambda p: Adam(p, lr=-1), "lr is -1, wanted from 0"),
        (lambda p: Adam(p, lr=float("nan")), "lr is nan"),
        (lambda p: Adam(p, betas=(1.0, 0.9)), "beta1 is 1.0, wanted from 0 up to, but not including, 1"),
        (lambda p: Adam(p, betas=(0.9, -0.1)), "beta2 is -0.1"),
        (lambda p: Adam(p, eps=-1e-8), "eps is -1e-08"),
        (lambda p: AdamW(p, weight_decay=-0.1), "weight_decay is -0.1"),
        (lambda p: Adadelta(p, rho=1.5), "rho is 1.5"),
        (lambda p: Adadelta(p, eps=-1), "eps is -1"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make(make_parameters())
