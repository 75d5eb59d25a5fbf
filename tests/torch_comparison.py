"""How npbert is compared with torch: parameters find each other by name, and then everything has to be the same."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from npbert import Batch, Layer, Parameter, Tape, randomize
from npbert.compute import Array

EXACT = 1e-10
"""The relative error up to which two float64 results are the same."""

# Of the largest gradient of all. In float32 a hundredth would ask for less than the rounding of the terms.
_SMALLEST_SCALE = {"float64": 1e-2, "float32": 1e-1}
_TORCH_NAMES = {"gamma": "weight", "beta": "bias"}


class Pair(NamedTuple):
    """One parameter on both sides. torch keeps the weight of a Linear as (out, in), so it is `transposed`."""

    name: str
    ours: Parameter
    theirs: nn.Parameter
    transposed: bool

    def turned(self, tensor: Tensor) -> Tensor:
        """A tensor of one side, with its axes in the order of the other side."""
        return tensor.T if self.transposed else tensor


def pair_parameters(layer: Layer, module: nn.Module) -> list[Pair]:
    """The parameters of both sides by name. Raises: ValueError when one is left over on either side."""
    left_over = dict(module.named_parameters())
    pairs = []
    for name, parameter in layer.named_parameters():
        owner, _, last = name.rpartition(".")
        torch_name = f"{owner}.{_TORCH_NAMES.get(last, last)}".lstrip(".")
        if torch_name not in left_over:
            raise ValueError(f"torch has no parameter {torch_name}, for npbert's {name}")
        transposed = last == "weight" and isinstance(module.get_submodule(owner), nn.Linear)
        pairs.append(Pair(name, parameter, left_over.pop(torch_name), transposed))
    if left_over:
        raise ValueError(f"npbert has no parameters for torch's {', '.join(left_over)}")
    return pairs


def copy_parameters(layer: Layer, module: nn.Module) -> None:
    """Give the torch module npbert's values, in npbert's dtype. Raises: ValueError unless all names and shapes fit."""
    for pair in pair_parameters(layer, module):
        value = pair.turned(torch.tensor(pair.ours.value)).contiguous()
        if value.shape != pair.theirs.shape:
            raise ValueError(f"{pair.name}: {tuple(value.shape)} for torch, which wants {tuple(pair.theirs.shape)}")
        pair.theirs.data = value


def as_torch(value: Any) -> Any:
    """A copy of an array, or of each array of a Batch, as tensors; floats want a gradient. Else the value itself."""
    if isinstance(value, Batch):
        return SimpleNamespace(**{name: as_torch(array) for name, array in vars(value).items()})
    if isinstance(value, np.ndarray):
        return torch.tensor(value, requires_grad=value.dtype.kind == "f")
    return value


def assert_close(name: str, ours: Any, theirs: Tensor, *, tolerance: float = EXACT, scale: float = 0.0) -> None:
    """The same shape, dtype and numbers; the error is relative to the largest number, or to `scale` if that is more."""
    ours, expected = np.asarray(ours), theirs.detach().numpy()
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype), name
    limit = tolerance * max(np.abs(expected).max(initial=0), scale)
    error = np.abs(ours - expected).max(initial=0)
    assert error <= limit, f"{name} differs from torch by {error:.1e}, more than {limit:.1e}"


def assert_gradients_close(gradients: dict[str, tuple[Array, Tensor]], tolerance: float = EXACT) -> None:
    """By name, npbert's gradient and torch's, which are the same.

    Where terms cancel to 0 up to rounding, as in the key bias, an error relative to the sum would say nothing; so the
    scale is at least a share of the largest gradient of all.
    """
    largest = max((float(theirs.abs().max()) for _, theirs in gradients.values()), default=0.0)
    for name, (ours, theirs) in gradients.items():
        scale = _SMALLEST_SCALE[ours.dtype.name] * largest
        assert_close(f"the gradient of {name}", ours, theirs, tolerance=tolerance, scale=scale)


def assert_same_gradients(
    layer: Layer, module: nn.Module, inputs: dict[str, tuple[Array, Tensor]] | None = None, tolerance: float = EXACT
) -> None:
    """The same gradient for every parameter, and for `inputs`: by name, npbert's gradient and torch's."""
    gradients = dict(inputs or {})
    for pair in pair_parameters(layer, module):
        assert pair.theirs.grad is not None, f"torch reaches {pair.name} with no gradient"
        gradients[pair.name] = pair.ours.grad, pair.turned(pair.theirs.grad)
    assert_gradients_close(gradients, tolerance)


def assert_parity(
    layer: Layer,
    module: nn.Module,
    *inputs: Any,
    rng: np.random.Generator,
    tolerance: float = EXACT,
    run: Callable[..., Any] | None = None,
) -> None:
    """With the same random parameters of size 1: the same outputs, and for a random dy the same gradients.

    run: what torch computes from the inputs, where that is not the module itself. backward returns None, an array or a
    tuple of them: a gradient for each float array among the inputs.
    """
    randomize(layer, rng)
    copy_parameters(layer, module)
    layer.zero_grad()
    module.zero_grad()
    tape, torch_inputs = Tape(), [as_torch(value) for value in inputs]
    y, torch_y = layer.forward(*inputs, tape=tape), (run or module)(*torch_inputs)

    ours, theirs = (y, torch_y) if isinstance(y, tuple) else ((y,), (torch_y,))
    dys = [np.asarray(rng.standard_normal(our.shape), our.dtype) for our in ours]
    for index, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        assert_close(f"output {index}", our, their, tolerance=tolerance)
    dx = layer.backward(tuple(dys) if isinstance(y, tuple) else dys[0], tape)
    torch.autograd.backward(theirs, [torch.tensor(dy) for dy in dys])
    dxs = dx if isinstance(dx, tuple) else () if dx is None else (dx,)
    wanted = [value.grad for value in torch_inputs if isinstance(value, Tensor) and value.requires_grad]
    pairs = zip(dxs, wanted, strict=True)
    assert_same_gradients(layer, module, {f"float input {i}": pair for i, pair in enumerate(pairs)}, tolerance)
