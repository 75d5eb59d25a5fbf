"""The optimizers and the clipping beside torch's: the defaults, and the steps. (tests/training has the Trainer's.)"""

import inspect

import numpy as np
import pytest

import npbert.optim
from npbert import Parameter, clip_by_global_norm
from tests.parity import torch

pytestmark = pytest.mark.torch
each_optimizer = pytest.mark.parametrize("name", ["Adam", "AdamW", "Adadelta"])


@each_optimizer
def test_defaults(name):
    ours = inspect.signature(getattr(npbert.optim, name)).parameters
    theirs = inspect.signature(getattr(torch.optim, name)).parameters
    for option in set(ours) - {"parameters"}:
        assert ours[option].default == theirs[option].default, option


@each_optimizer
def test_steps_after_clipping(name):
    """Of a matrix and a vector, which does not decay."""
    rng = np.random.default_rng(0)
    ours = [Parameter(rng.standard_normal(shape)) for shape in ((3, 4), 5)]
    matrix, vector = theirs = [torch.nn.Parameter(torch.tensor(parameter.value)) for parameter in ours]
    groups = [{"params": [matrix]}, {"params": [vector], "weight_decay": 0.0}]
    steppers = getattr(npbert.optim, name)(ours, lr=0.1), getattr(torch.optim, name)(groups, lr=0.1)
    for scale in (5.0, 0.1, 1.0, 20.0):
        for parameter, their in zip(ours, theirs, strict=True):
            parameter.zero_grad()
            parameter.add_grad(scale * rng.standard_normal(parameter.value.shape))
            their.grad = torch.tensor(parameter.grad)
        norm = torch.nn.utils.clip_grad_norm_(theirs, 1.0)
        assert clip_by_global_norm(ours, 1.0) == pytest.approx(norm.item(), rel=1e-12)
        for stepper in steppers:
            stepper.step()
    for parameter, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(parameter.value, their.detach(), rtol=1e-12)
