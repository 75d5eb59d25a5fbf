"""The optimisers against torch, step by step, and the schedule against transformers'.

(AdamW with clipping and a schedule, all together: test_torch_pretraining_run.py.)
"""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npbert.optim
from npbert import Parameter, clip_by_global_norm
from tests.parity import torch
from tests.parity.torch_comparison import assert_close
from tests.strategies import rngs

pytestmark = pytest.mark.torch

SHAPES = ((3, 4), (4,), (2, 3, 2), (1, 5), (6,))
STEPS, STEP_BY_STEP = 25, 1e-12
BETAS = {"betas": st.sampled_from([(0.9, 0.999), (0.5, 0.9), (0.0, 0.99)]), "eps": st.sampled_from([1e-8, 1e-3])}
OPTIONS = {
    "Adam": st.fixed_dictionaries(BETAS),
    "AdamW": st.fixed_dictionaries({**BETAS, "weight_decay": st.sampled_from([0.01, 0.5])}),
    "Adadelta": st.fixed_dictionaries({"rho": st.sampled_from([0.9, 0.5]), "eps": st.sampled_from([1e-6, 1e-2])}),
}


@pytest.mark.parametrize("name", OPTIONS)
@given(st.data(), rngs, st.sampled_from([None, 1e-3, 0.5, 0.99, 1.01, 10]))
def test_steps(name, data, rng, share):
    """Gradients of a fresh size in each step, some elements 0. share: of the norm, what they are clipped to.

    Matrices alone decay, which torch has to be told.
    """
    options = data.draw(OPTIONS[name])
    ours = [Parameter(rng.standard_normal(shape)) for shape in SHAPES]
    theirs = [torch.nn.Parameter(torch.tensor(parameter.value)) for parameter in ours]
    vectors = {"params": [t for t in theirs if t.ndim == 1], **({"weight_decay": 0.0} if name == "AdamW" else {})}
    torch_optimizer = getattr(torch.optim, name)([{"params": [t for t in theirs if t.ndim > 1]}, vectors], **options)
    optimizer = getattr(npbert.optim, name)(ours, **options)
    for step in range(STEPS):
        optimizer.lr = rng.uniform(0, 0.1)
        for group in torch_optimizer.param_groups:
            group["lr"] = optimizer.lr
        for parameter, tensor in zip(ours, theirs, strict=True):
            parameter.grad[...] = 10.0 ** rng.integers(-4, 3) * rng.standard_normal(parameter.value.shape)
            parameter.grad[rng.random(parameter.value.shape) < 0.1] = 0
            tensor.grad = torch.tensor(parameter.grad)
        if share is not None:
            max_norm = share * float(np.linalg.norm(np.concatenate([p.grad.ravel() for p in ours])))
            norm, torch_norm = clip_by_global_norm(ours, max_norm), torch.nn.utils.clip_grad_norm_(theirs, max_norm)
            assert_close("the norm", norm, torch_norm, tolerance=STEP_BY_STEP)
        optimizer.step()
        torch_optimizer.step()
        for parameter, tensor in zip(ours, theirs, strict=True):
            assert_close(f"{tuple(tensor.shape)} at step {step}", parameter.value, tensor, tolerance=STEP_BY_STEP)


@pytest.mark.parametrize("name", OPTIONS)
def test_defaults(name):
    ours = inspect.signature(getattr(npbert.optim, name)).parameters
    theirs = inspect.signature(getattr(torch.optim, name)).parameters
    for option in set(ours) - {"parameters"}:
        assert ours[option].default == theirs[option].default, option
