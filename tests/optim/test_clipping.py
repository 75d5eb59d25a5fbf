"""Clipping by the norm of all gradients together."""

import numpy as np
import pytest

from npbert import Adadelta, Adam, AdamW, Parameter, clip_by_global_norm, clip_factor, global_norm


def make(*gradients, dtype=np.float64):
    parameters = [Parameter(np.zeros(np.shape(gradient), dtype)) for gradient in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad[...] = gradient
    return parameters


def test_one_norm_over_all():
    parameters = make([[3.0, 0], [0, 0]], [0.0, 4.0])
    assert clip_by_global_norm(parameters, 1.0) == 5
    np.testing.assert_allclose(parameters[0].grad, [[0.6, 0], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(parameters[1].grad, [0, 0.8], rtol=1e-6)


def test_a_small_norm_is_left_alone():
    parameters = make([3.0], [4.0])
    assert clip_by_global_norm(parameters, 5.1) == 5
    np.testing.assert_array_equal([parameter.grad[0] for parameter in parameters], [3, 4])


def test_a_tied_parameter_counts_once():
    (parameter,) = make([3.0, 4.0])
    assert clip_by_global_norm([parameter, parameter], 1.0) == 5
    assert np.linalg.norm(parameter.grad) == pytest.approx(1, rel=1e-6)


def test_float32_stays():
    (parameter,) = make([3.0, 4.0], dtype=np.float32)
    clip_by_global_norm([parameter], 1.0)
    assert parameter.grad.dtype == np.float32


@pytest.mark.parametrize("max_norm", [0, -1, float("nan")])
def test_wrong_norm(max_norm):
    with pytest.raises(ValueError, match=f"max_norm is {max_norm}, wanted a positive number"):
        clip_by_global_norm(make([1.0]), max_norm)


@pytest.mark.parametrize("optimizer", [Adam, AdamW, Adadelta])
@pytest.mark.parametrize("max_norm", [0.7, 100.0])
def test_clipped_in_the_step_as_before_it(optimizer, max_norm):
    rng = np.random.default_rng(0)
    ours, theirs = make(np.zeros((3, 4)), np.zeros(5)), make(np.zeros((3, 4)), np.zeros(5))
    fused, plain = optimizer(ours, lr=0.1), optimizer(theirs, lr=0.1)
    for _ in range(3):
        for one, other in zip(ours, theirs, strict=True):
            one.grad[...] = other.grad[...] = rng.standard_normal(one.grad.shape)
        before = [parameter.grad.copy() for parameter in ours]
        norm = global_norm(ours)
        fused.step(clip_factor(norm, max_norm))
        assert clip_by_global_norm(theirs, max_norm) == norm
        plain.step()
        for one, other, grad in zip(ours, theirs, before, strict=True):
            np.testing.assert_allclose(one.value, other.value, rtol=1e-13)
            np.testing.assert_array_equal(one.grad, grad)
    for name, arrays in fused.moments().items():
        for one, other in zip(arrays, plain.moments()[name], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)


def test_the_factor():
    assert clip_factor(5.0, 1.0) == pytest.approx(0.2, rel=1e-6)
    assert clip_factor(0.5, 1.0) == 1
    assert np.isnan(clip_factor(float("nan"), 1.0)), "what is wrong is not hidden"
