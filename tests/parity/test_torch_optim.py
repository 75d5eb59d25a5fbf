"""The optimisers, clipping and the schedule against torch, step by step."""

import inspect

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import npbert
from npbert import Adadelta, Adam, AdamW, Parameter, clip_by_global_norm, linear_warmup_decay
from tests.strategies import rngs
from tests.torch_comparison import assert_close

pytestmark = pytest.mark.torch

SHAPES = ((3, 4), (4,), (2, 3, 2), (1, 5), (6,))
STEPS = 50
STEP_BY_STEP = 1e-12

betas = st.sampled_from([(0.9, 0.999), (0.5, 0.9), (0.0, 0.99)])
epsilons = st.sampled_from([1e-8, 1e-3])


def make_parameters(rng):
    """npbert's parameters and torch's, with the same values and gradients."""
    ours = [Parameter(rng.standard_normal(shape)) for shape in SHAPES]
    theirs = [torch.nn.Parameter(torch.tensor(parameter.value)) for parameter in ours]
    draw_gradients(ours, theirs, rng)
    return ours, theirs


def draw_gradients(ours, theirs, rng):
    """Fresh gradients, of a fresh size for each parameter, and some elements without any."""
    for parameter, tensor in zip(ours, theirs, strict=True):
        size = 10.0 ** rng.integers(-4, 3)
        parameter.grad[...] = size * rng.standard_normal(parameter.value.shape)
        parameter.grad[rng.random(parameter.value.shape) < 0.1] = 0
        tensor.grad = torch.tensor(parameter.grad)


def assert_same_steps(make_optimizer, make_torch_optimizer, rng):
    ours, theirs = make_parameters(rng)
    optimizer, torch_optimizer = make_optimizer(ours), make_torch_optimizer(theirs)
    for step in range(STEPS):
        lr = rng.uniform(0, 0.1)
        optimizer.lr = lr
        for group in torch_optimizer.param_groups:
            group["lr"] = lr
        draw_gradients(ours, theirs, rng)
        optimizer.step()
        torch_optimizer.step()
        for parameter, tensor in zip(ours, theirs, strict=True):
            assert_close(f"{tuple(tensor.shape)} at step {step}", parameter.value, tensor, tolerance=STEP_BY_STEP)


@given(rngs, betas, epsilons)
def test_adam(rng, betas, eps):
    options = {"betas": betas, "eps": eps}
    assert_same_steps(lambda p: Adam(p, **options), lambda p: torch.optim.Adam(p, **options), rng)


@given(rngs, betas, epsilons, st.sampled_from([0.01, 0.5]))
def test_adamw_decays_matrices_only(rng, betas, eps, weight_decay):
    options = {"betas": betas, "eps": eps, "weight_decay": weight_decay}

    def make_torch_optimizer(tensors):
        vectors = {"params": [tensor for tensor in tensors if tensor.ndim == 1], "weight_decay": 0.0}
        return torch.optim.AdamW([{"params": [t for t in tensors if t.ndim > 1]}, vectors], **options)

    assert_same_steps(lambda p: AdamW(p, **options), make_torch_optimizer, rng)


@given(rngs, st.sampled_from([0.9, 0.5]), st.sampled_from([1e-6, 1e-2]))
def test_adadelta(rng, rho, eps):
    options = {"rho": rho, "eps": eps}
    assert_same_steps(lambda p: Adadelta(p, **options), lambda p: torch.optim.Adadelta(p, **options), rng)


@given(rngs, st.sampled_from([1e-3, 0.5, 0.99, 1.01, 10]))
def test_clipping(rng, share):
    """max_norm as a share of the norm: below 1 the gradients are clipped, above they stay."""
    ours, theirs = make_parameters(rng)
    max_norm = share * float(np.linalg.norm(np.concatenate([parameter.grad.ravel() for parameter in ours])))
    before = [parameter.grad.copy() for parameter in ours]
    norm, torch_norm = clip_by_global_norm(ours, max_norm), torch.nn.utils.clip_grad_norm_(theirs, max_norm)
    assert_close("the norm", norm, torch_norm, tolerance=STEP_BY_STEP)
    for parameter, tensor in zip(ours, theirs, strict=True):
        assert_close("a gradient", parameter.grad, tensor.grad, tolerance=STEP_BY_STEP)
    changed = any((parameter.grad != old).any() for parameter, old in zip(ours, before, strict=True))
    assert changed == (share < 1)


def of_lambda(optimizer, warmup_steps, total_steps):
    def factor(step):
        rising = step / warmup_steps if warmup_steps else 1
        return max(0, min(rising, (total_steps - step) / (total_steps - warmup_steps)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def of_hugging_face(*arguments):
    reason = "Hugging Face's library is not installed: pip install transformers"
    return pytest.importorskip("transformers", reason=reason).get_linear_schedule_with_warmup(*arguments)


@pytest.mark.parametrize("make_scheduler", [of_lambda, of_hugging_face])
@pytest.mark.parametrize(("warmup_steps", "total_steps"), [(0, 7), (1, 7), (5, 50), (6, 7)])
def test_schedule(make_scheduler, warmup_steps, total_steps):
    """The rates of torch's scheduler, with torch's own count of the steps, to a little beyond the last."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.3)
    scheduler = make_scheduler(optimizer, warmup_steps, total_steps)
    for step in range(total_steps + 3):
        ours = linear_warmup_decay(step, lr=0.3, warmup_steps=warmup_steps, total_steps=total_steps)
        assert ours == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-14, abs=0)
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adadelta"])
def test_defaults(name):
    ours = inspect.signature(getattr(npbert, name)).parameters
    theirs = inspect.signature(getattr(torch.optim, name)).parameters
    for option in set(ours) - {"parameters"}:
        assert ours[option].default == theirs[option].default, option
