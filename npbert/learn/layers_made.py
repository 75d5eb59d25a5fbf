"""Layers as a learner wrote them, made and run at a random point: what an exercise of a layer begins with."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Init, named_parameters
from npbert.gradcheck import check_directions, check_gradients, randomize

MANY = 100
"""Parameters that are so many that they are not checked one by one."""


def make(setting: Setting, layer_class: type[Any], seed: int) -> tuple[Any, tuple[Any, ...], np.random.Generator]:
    """As setting.make, at another random point for each seed."""
    layer = setting.build(layer_class, Init(np.random.default_rng([seed, 0]), 1.0, np.float64))
    randomize(layer, np.random.default_rng([seed, 1]))
    return layer, setting.inputs(np.random.default_rng([seed, 2])), np.random.default_rng([seed, 3])


def given_of(setting: Setting) -> str:
    """What the backward of the layer calls the gradient that it is given: `dy`, `dc`, `dloss`."""
    return list(inspect.signature(setting.layer_class.backward).parameters)[1]


def check_of(layer: Any) -> Any:
    """One by one, or along directions where there are many derivatives."""
    return check_gradients if sum(p.value.size for _, p in named_parameters(layer)) <= MANY else check_directions


def file_of(layer_class: type[Any]) -> str:
    return str(layer_class.forward.__code__.co_filename)
