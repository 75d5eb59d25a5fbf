"""Adam, AdamW and clipping in blocks on several threads, against their formulas over whole arrays in float64."""

import numpy as np
import pytest
from npbert.optim.blocks import BLOCK

from npbert import Adam, AdamW, Parameter, clip_by_global_norm
from tests.computing import assert_same_but_for_rounding, in_pieces, on_threads

SMALL = 8
SIZES = [SMALL - 1, SMALL, SMALL + 1, 2 * SMALL - 1, 2 * SMALL, 2 * SMALL + 1, 50]
SHAPES = [(), (1,), *((size,) for size in SIZES), (SMALL, 1), (3, SMALL), (SMALL + 1, 3), (2, 3, 5)]
REAL = [(BLOCK - 1,), (BLOCK,), (BLOCK + 1,), (3, BLOCK), (7,)]
STEPS = 3

threads = pytest.mark.parametrize("count", [1, 2, 4])
dtypes = pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-14)])


def make(shapes, dtype, order="C"):
    """Parameters of these shapes, and the gradients of some steps for each."""
    rng = np.random.default_rng(0)
    parameters = [Parameter(np.array(rng.standard_normal(shape), dtype, order=order)) for shape in shapes]
    return parameters, [rng.standard_normal((STEPS, *shape)).astype(dtype) for shape in shapes]


def textbook(value, gradients, decay, lr=0.1, beta1=0.8, beta2=0.9, eps=1e-3):
    value, m, v = value.astype(np.float64), 0.0, 0.0
    for t, g in enumerate(gradients.astype(np.float64), start=1):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
        value = value - lr * decay * value - lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps)
    return value


def check_steps(shapes, decay, dtype, tolerance, order="C"):
    parameters, gradients = make(shapes, dtype, order)
    options = {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3}
    wanted = [textbook(p.value, g, decay * (p.value.ndim > 1)) for p, g in zip(parameters, gradients, strict=True)]
    arrays = [parameter.value for parameter in parameters]
    optimizer = AdamW(parameters, weight_decay=decay, **options) if decay else Adam(parameters, **options)
    for step in range(STEPS):
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad[...] = gradient[step]
        optimizer.step()
    for parameter, array, expected in zip(parameters, arrays, wanted, strict=True):
        assert parameter.value is array
        assert_same_but_for_rounding(parameter.value, expected.astype(dtype), tolerance)


@threads
@dtypes
@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_adam(count, dtype, tolerance, decay):
    with on_threads(count), in_pieces(SMALL):
        check_steps(SHAPES, decay, dtype, tolerance)
        for shape in SHAPES:
            check_steps([shape], decay, dtype, tolerance)


def test_adam_at_its_real_size():
    with on_threads(2):
        check_steps(REAL, 0.3, np.float32, 1e-6)


@threads
def test_adam_of_arrays_in_another_order(count):
    with on_threads(count), in_pieces(SMALL):
        check_steps([(3, SMALL), (5, 2)], 0.3, np.float64, 1e-14, order="F")


def check_clipping(shapes, dtype, tolerance):
    parameters, gradients = make(shapes, dtype)
    norm = np.sqrt(sum((g[0].astype(np.float64) ** 2).sum() for g in gradients))
    for max_norm in (norm / 3, norm * 1.1):
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad[...] = gradient[0]
        assert clip_by_global_norm(parameters, max_norm) == pytest.approx(norm, rel=tolerance)
        factor = min(1, max_norm / (norm + 1e-6))
        for parameter, gradient in zip(parameters, gradients, strict=True):
            assert_same_but_for_rounding(parameter.grad, (gradient[0] * factor).astype(dtype), tolerance)


@threads
@dtypes
def test_clipping(count, dtype, tolerance):
    with on_threads(count), in_pieces(SMALL):
        check_clipping(SHAPES, dtype, tolerance)
        for shape in SHAPES:
            check_clipping([shape], dtype, tolerance)


def test_clipping_at_its_real_size():
    with on_threads(2):
        check_clipping(REAL, np.float32, 1e-6)


def test_clipping_of_gradients_in_another_order_and_of_none():
    parameter = Parameter(np.zeros((3, 4)))
    parameter.grad = np.arange(12.0).reshape(4, 3).T
    norm = np.sqrt((parameter.grad**2).sum())
    with in_pieces(5):
        assert clip_by_global_norm([parameter], 1.0) == pytest.approx(norm, rel=1e-14)
    np.testing.assert_allclose(parameter.grad, np.arange(12.0).reshape(4, 3).T / norm, rtol=1e-6)
    assert clip_by_global_norm([Parameter(np.zeros(5))], 1.0) == 0
