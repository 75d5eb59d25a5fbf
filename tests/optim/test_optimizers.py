"""Adam, AdamW and Adadelta against their algorithms as printed. (Against torch: tests/parity.) Clipping by the norm of
all gradients together, and the schedule."""

import math
import re

import numpy as np
import pytest

from npbert import Adam, AdamW, Init, Linear, Parameter, clip_by_global_norm, linear_warmup_decay
from npbert.optim import Adadelta, clip_factor
from tests.computing import in_pieces, on_threads
from tests.optim.textbook import adadelta, adam, take_steps


def default(optimizer):
    return lambda parameters, **options: optimizer(parameters)


ADAM = {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3}
ALGORITHMS = {
    "Adam": (Adam, adam, ADAM),
    "AdamW": (AdamW, adam, {**ADAM, "weight_decay": 0.3}),
    "Adadelta": (Adadelta, adadelta, {"lr": 0.7, "rho": 0.8, "eps": 1e-4}),
    "Adam by default": (default(Adam), adam, {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8}),
    "AdamW by default": (default(AdamW), adam, {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}),
    "Adadelta by default": (default(Adadelta), adadelta, {"lr": 1.0, "rho": 0.9, "eps": 1e-6}),
}
each_algorithm = pytest.mark.parametrize(("optimizer", "algorithm", "options"), ALGORITHMS.values(), ids=ALGORITHMS)
SHAPES = [(), (1,), (7,), (8, 1), (3, 8), (9, 3), (2, 3, 5)]


def make(dtype=np.float64, orders="CC"):
    """Parameters of SHAPES, and gradients for four steps of many sizes, 0 among them. orders: of both in memory."""
    rng = np.random.default_rng(0)
    parameters = [Parameter(np.array(rng.uniform(-1, 1, shape), dtype, order=orders[0])) for shape in SHAPES]
    sizes = [rng.choice([0, 1e-8, 1e-3, 1, 100], (4, *shape)) for shape in SHAPES]
    return parameters, [np.array(rng.standard_normal(size.shape) * size, dtype, order=orders[1]) for size in sizes]


@each_algorithm
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_steps_are_those_of_the_paper(optimizer, algorithm, options, scale):
    """The values and both moments, from gradients that are left as they are. Only matrices decay."""
    parameters, gradients = make()
    wanted = []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        own = {n: option for n, option in options.items() if n != "weight_decay" or parameter.value.ndim > 1}
        wanted.append(algorithm(parameter.value, scale * gradient, **own))
    made = optimizer(parameters, **options)
    take_steps(made, gradients, scale)
    moments = made.moments().values()
    for number, (parameter, values) in enumerate(zip(parameters, wanted, strict=True)):
        for got, value in zip((parameter.value, *(arrays[number] for arrays in moments)), values, strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-300)
        np.testing.assert_array_equal(parameter.grad, gradients[number][-1])
    assert made.steps == 4


@pytest.mark.parametrize("optimizer", [Adam, AdamW, Adadelta])
@pytest.mark.parametrize("orders", ["CC", "FC", "CF"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pieces_and_threads_change_no_bit(optimizer, orders, dtype):
    """An element's neighbours make no difference to it; the values change in place, and so stay what they are."""
    (one, gradients), (other, _) = make(dtype=dtype, orders=orders), make(dtype=dtype)
    arrays = [parameter.value for parameter in one]
    made = optimizer(one, lr=0.0)
    made.lr = 0.1  # it is that of each step
    with on_threads(4), in_pieces(8):
        take_steps(made, gradients)
    with on_threads(1):
        take_steps(optimizer(other, lr=0.1), gradients)
    for parameter, array, wanted in zip(one, arrays, other, strict=True):
        assert parameter.value is array
        np.testing.assert_array_equal(array, wanted.value, strict=True)
    assert {array.dtype for arrays in made.moments().values() for array in arrays} == {np.dtype(dtype)}


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (Adam, {"lr": "1e-3"}, "lr is '1e-3', wanted from 0"),
        (Adam, {"lr": float("nan")}, "lr is nan"),
        (Adam, {"betas": (1.0, 0.9)}, "beta1 is 1.0, wanted from 0 up to, but not including, 1"),
        (Adam, {"betas": (0.9, -0.1)}, "beta2 is -0.1"),
        (Adam, {"eps": -1e-8}, "eps is -1e-08"),
        (AdamW, {"weight_decay": -0.1}, "weight_decay is -0.1"),
        (Adadelta, {"rho": 1.5}, "rho is 1.5"),
        (Adadelta, {"eps": -1}, "eps is -1"),
        (Adam, {"parameters": []}, "parameters is empty, wanted at least one Parameter"),
        (Adam, {"parameters": enumerate([1])}, "parameters has a tuple, wanted Parameters"),
        (AdamW, {"parameters": Linear(2, 3, Init(None))}, "wanted its parameters; use AdamW(model.parameters())"),
    ],
)
def test_wrong_settings_are_refused(kind, options, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        kind(**{"parameters": make()[0], **options})


def test_a_schedule_goes_up_from_0_then_down_to_0():
    rates = [linear_warmup_decay(step, lr=8.0, warmup_steps=4, total_steps=12) for step in range(15)]
    assert rates == [0, 2, 4, 6, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]
    assert [linear_warmup_decay(step, lr=3.0, warmup_steps=0, total_steps=3) for step in (0, 2)] == [3, 1]
    for step, warmup, message in [
        (-1, 1, "step is -1"),
        (0, 5, "warmup_steps is 5, wanted at least 0 and less"),
        (0, -1, "-1"),
    ]:
        with pytest.raises(ValueError, match=message):
            linear_warmup_decay(step, lr=1.0, warmup_steps=warmup, total_steps=5)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-14)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("of_norm", [1 / 3, 1.1])
def test_one_factor_brings_all_gradients_to_the_norm(dtype, tolerance, order, of_norm):
    parameters, gradients = make(dtype=dtype, orders="C" + order)
    before = [of_steps[0] for of_steps in gradients]
    for parameter, gradient in zip(parameters, before, strict=True):
        parameter.add_grad(gradient.copy(order="K"))
    norm = math.sqrt(math.fsum((gradient.astype(float) ** 2).sum() for gradient in before))
    with on_threads(4), in_pieces(8):
        clipped = clip_by_global_norm(iter([*parameters, *parameters]), norm * of_norm)
    assert clipped == pytest.approx(norm, rel=tolerance)
    factor = min(1, norm * of_norm / (norm + 1e-6))
    for parameter, gradient in zip(parameters, before, strict=True):
        np.testing.assert_allclose(parameter.grad, (gradient * factor).astype(dtype), rtol=10 * tolerance, strict=True)


def test_the_factor():
    assert clip_factor(5.0, 1.0) == pytest.approx(0.2, rel=1e-6)
    assert clip_factor(0.5, 1.0) == 1
    assert np.isnan(clip_factor(float("nan"), 1.0)), "what is wrong is not hidden"
    for max_norm in (0, -1, float("nan")):
        with pytest.raises(ValueError, match=f"max_norm is {max_norm}, wanted a positive number"):
            clip_factor(1.0, max_norm)
