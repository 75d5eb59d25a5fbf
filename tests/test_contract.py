"""What every layer promises: nothing is remembered, nothing is overwritten, gradients add up, the dtype stays."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from npbert.proof import blocks

from npbert import Dropout, EncoderLayer, FeedForward, LayerNorm, Linear, MultiHeadAttention, SinusoidalPositions
from npbert.gradcheck import LossOf, check_gradients, randomize
from npbert.gradcheck.inputs import different
from npbert.layers import Array, Layer
from npbert.models import PreTrainedModel, TaskModel


def all_blocks(dtype=np.float64):
    return [pytest.param(layer, inputs, id=name) for name, layer, inputs in blocks(np.random.default_rng(0), dtype)]


def forward(layer: Layer, inputs: tuple[Any, ...]) -> tuple[tuple[Array, ...], Any]:
    """The outputs as a tuple, and the cache; dropout is the same in every call."""
    y, cache = layer.forward(*copy.deepcopy(inputs))
    return (y if isinstance(y, tuple) else (y,)), cache


def backward(layer: Layer, dy: tuple[Any, ...], cache: Any) -> list[Array]:
    """The gradients of the inputs."""
    dx = layer.backward(dy[0] if len(dy) == 1 else dy, cache)
    return list(dx) if isinstance(dx, tuple) else [] if dx is None else [dx]


def random_dy(y: tuple[Array, ...], seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(np.shape(part)).astype(part.dtype) if np.ndim(part) else 1.5 for part in y)


def parameter_gradients(layer: Layer) -> list[Array]:
    return [parameter.grad.copy() for parameter in layer.parameters()]


def assert_all_close(got: list[Array], wanted: list[Array]) -> None:
    assert len(got) == len(wanted)
    for one, another in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, another, rtol=1e-12, atol=1e-13)


def test_every_layer_is_proved():
    def subclasses(cls):
        return {cls}.union(*map(subclasses, cls.__subclasses__()))

    layers = {cls for cls in subclasses(Layer) if cls.__module__.startswith("npbert.")}
    proved = {type(getattr(layer, "model", layer)) for _, layer, _ in blocks(np.random.default_rng(0))}
    nothing_to_learn = {Layer, LossOf, SinusoidalPositions, PreTrainedModel, TaskModel}
    assert layers - proved == nothing_to_learn


@pytest.mark.parametrize(("layer", "inputs"), all_blocks(np.float32))
def test_float32_stays_float32(layer, inputs):
    y, cache = forward(layer, inputs)
    gradients = backward(layer, random_dy(y, 0), cache)
    assert {part.dtype for part in (*y, *gradients)} == {np.dtype(np.float32)}
    assert {parameter.grad.dtype for parameter in layer.parameters()} <= {np.dtype(np.float32)}


@pytest.mark.parametrize(("layer", "inputs"), all_blocks())
def test_nothing_is_written_to(layer, inputs):
    for value in inputs:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    values = [parameter.value.copy() for parameter in layer.parameters()]
    y, cache = forward(layer, inputs)
    before = [np.copy(part) for part in y]
    dy = random_dy(y, 0)
    for part in dy:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    backward(layer, dy, cache)
    for part, copied in zip(y, before, strict=True):
        np.testing.assert_array_equal(part, copied)
    for parameter, value in zip(layer.parameters(), values, strict=True):
        np.testing.assert_array_equal(parameter.value, value)


@pytest.mark.parametrize("first_forward_first", [True, False])
@pytest.mark.parametrize(("layer", "inputs"), all_blocks())
def test_two_forwards_then_two_backwards(layer, inputs, first_forward_first):
    both = inputs, tuple(map(different, inputs))
    wanted = []
    layer.zero_grad()
    for seed, values in enumerate(both):
        y, cache = forward(layer, values)
        wanted.append(backward(layer, random_dy(y, seed), cache))
    wanted_parameters = parameter_gradients(layer)

    layer.zero_grad()
    calls = [forward(layer, values) for values in both]
    got: list[Any] = [None, None]
    for seed in (0, 1) if first_forward_first else (1, 0):
        y, cache = calls[seed]
        got[seed] = backward(layer, random_dy(y, seed), cache)
    assert_all_close(got[0] + got[1], wanted[0] + wanted[1])
    assert_all_close(parameter_gradients(layer), wanted_parameters)


@pytest.mark.parametrize(("layer", "inputs"), all_blocks())
def test_gradients_add_up(layer, inputs):
    layer.zero_grad()
    sums = []
    for _ in range(3):
        y, cache = forward(layer, inputs)
        backward(layer, random_dy(y, 0), cache)
        sums.append(parameter_gradients(layer))
    assert_all_close(sums[1], [2 * gradient for gradient in sums[0]])
    assert_all_close(sums[2], [3 * gradient for gradient in sums[0]])


@pytest.mark.parametrize(("layer", "inputs"), all_blocks())
def test_evaluation_is_deterministic_and_a_call_is_forward(layer, inputs):
    without_rng = [None if isinstance(value, np.random.Generator) else value for value in inputs]
    while without_rng[-1] is None:  # a layer that is called has no use for an rng, but for what comes after it
        without_rng.pop()
    called = layer(*without_rng)
    y, _ = forward(layer, tuple(without_rng))
    for part, again in zip(called if isinstance(called, tuple) else (called,), y, strict=True):
        np.testing.assert_array_equal(part, again)


class Twice(Layer):
    """One object at two places: y = layer(layer(x))."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer

    def forward(self, x: Array, *others: Any) -> tuple[Array, Any]:
        h, first = self.layer.forward(x, *others)
        y, second = self.layer.forward(h, *others)
        return y, (first, second)

    def backward(self, dy: Array, cache: Any) -> Array:
        first, second = cache
        return self.layer.backward(self.layer.backward(dy, second), first)


@pytest.mark.parametrize(
    ("make", "others"),
    [
        (lambda **init: Linear(6, 6, **init), ()),
        (lambda **init: LayerNorm(6, dtype=np.float64), ()),
        (lambda **init: Dropout(0.3), (np.random.default_rng(1),)),
        (lambda **init: FeedForward(6, 4, **init), ()),
        (lambda **init: MultiHeadAttention(6, 2, **init), (np.array([[1, 1, 0], [1, 1, 1]]),)),
        (
            lambda **init: EncoderLayer(6, 2, 4, dropout=0.3, **init),
            (np.array([[1, 1, 0], [1, 1, 1]]), np.random.default_rng(1)),
        ),
    ],
    ids=["Linear", "LayerNorm", "Dropout", "FeedForward", "MultiHeadAttention", "EncoderLayer"],
)
def test_one_object_at_two_places(make, others):
    rng = np.random.default_rng(0)
    twice = Twice(make(rng=rng, dtype=np.float64))
    randomize(twice, rng)
    check_gradients(twice, rng.standard_normal((2, 3, 6)), *others).raise_if_wrong()
