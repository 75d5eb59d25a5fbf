"""The optimizers and the clipping beside torch's. (tests/optim has other settings, tests/training the Trainer's.)"""

import numpy as np
import pytest

import npbert.optim
from npbert import Parameter, clip_by_global_norm
from tests.parity import torch

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adadelta"])
def test_steps_after_clipping(name):
    """By the defaults of both, of a matrix and a vector, which does not decay."""
    rng = np.random.default_rng(0)
    ours = [Parameter(rng.standard_normal(shape)) for shape in ((3, 4), 5)]
    matrix, vector = theirs = [torch.nn.Parameter(torch.tensor(parameter.value)) for parameter in ours]
    groups = [{"params": [matrix]}, {"params": [vector], "weight_decay": 0.0}]
    steppers = getattr(npbert.optim, name)(ours), getattr(torch.optim, name)(groups)
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
