"""The defaults of the optimizers are torch's. (tests/optim has their steps, test_torch_pretraining_run.py torch's.)"""

import inspect

import pytest

import npbert.optim
from tests.parity import torch

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adadelta"])
def test_defaults(name):
    ours = inspect.signature(getattr(npbert.optim, name)).parameters
    theirs = inspect.signature(getattr(torch.optim, name)).parameters
    for option in set(ours) - {"parameters"}:
        assert ours[option].default == theirs[option].default, option
