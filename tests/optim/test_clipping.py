"""Clipping by the norm of all gradients together."""

import math

import numpy as np
import pytest

from npbert import Adadelta, Adam, AdamW, Parameter, clip_by_global_norm, clip_factor, global_norm
from npbert.compute import BLOCK
from tests.computing import in_pieces, on_threads

SHAPES = [(), (1,), (7,), (3, 8), (17,), (2, 3, 5)]


def make(shapes=SHAPES, dtype=np.float64):
    rng = np.random.default_rng(0)
    parameters = [Parameter(np.zeros(shape, dtype)) for shape in shapes]
    for parameter in parameters:
        parameter.add_grad(np.array(rng.standard_normal(parameter.value.shape), dtype))
    return parameters


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-14)])
@pytest.mark.parametrize("shapes", [SHAPES, *([shape] for shape in SHAPES), [(3, BLOCK), (BLOCK + 1,)]], ids=str)
def test_one_factor_brings_all_gradients_to_the_norm(count, dtype, tolerance, shapes):
    with on_threads(count), in_pieces(8 if shapes[0] != (3, BLOCK) else BLOCK):
        for of_norm in (1 / 3, 1.1):
            parameters = make(shapes, dtype)
            before = [parameter.grad.copy() for parameter in parameters]
            norm = math.sqrt(math.fsum((grad.astype(float) ** 2).sum() for grad in before))
            clipped = clip_by_global_norm(iter([*parameters, *parameters]), norm * of_norm)
            assert clipped == pytest.approx(norm, rel=tolerance)
            factor = min(1, norm * of_norm / (norm + 1e-6))
            for parameter, grad in zip(parameters, before, strict=True):
                assert parameter.grad.dtype == dtype
                np.testing.assert_allclose(parameter.grad, grad * factor, rtol=10 * tolerance)


def test_gradients_in_another_order_and_gradients_of_0():
    parameter = Parameter(np.zeros((3, 4)))
    parameter.add_grad(np.arange(12.0).reshape(4, 3).T)
    norm = math.sqrt(506)
    with in_pieces(5):
        assert clip_by_global_norm([parameter], 1.0) == pytest.approx(norm, rel=1e-14)
    np.testing.assert_allclose(parameter.grad, np.arange(12.0).reshape(4, 3).T / norm, rtol=1e-6)
    assert clip_by_global_norm([Parameter(np.zeros(5))], 1.0) == 0


@pytest.mark.parametrize("optimizer", [Adam, AdamW, Adadelta])
@pytest.mark.parametrize("max_norm", [0.7, 100.0])
def test_clipped_in_the_step_is_as_clipped_before_it(optimizer, max_norm):
    ours, theirs = make(), make()
    optimizer(ours, lr=0.1).step(clip_factor(global_norm(ours), max_norm))
    clip_by_global_norm(theirs, max_norm)
    optimizer(theirs, lr=0.1).step()
    for one, other, untouched in zip(ours, theirs, make(), strict=True):
        np.testing.assert_allclose(one.value, other.value, rtol=1e-13)
        np.testing.assert_array_equal(one.grad, untouched.grad)


def test_the_factor():
    assert clip_factor(5.0, 1.0) == pytest.approx(0.2, rel=1e-6)
    assert clip_factor(0.5, 1.0) == 1
    assert np.isnan(clip_factor(float("nan"), 1.0)), "what is wrong is not hidden"
    for max_norm in (0, -1, float("nan")):
        with pytest.raises(ValueError, match=f"max_norm is {max_norm}, wanted a positive number"):
            clip_by_global_norm(make(), max_norm)
