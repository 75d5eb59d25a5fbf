"""another_dtype: whether a right layer turns float32 into float64, which is no mistake, but should be known."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Init, Tape
from npbert.gradcheck.inputs import as_tuple, is_float_array
from npbert.learn.attempt import Failure, attempt

_WHERE = "One thing to know: where all that is given is float32, as it mostly is in training, "
_KEPT = (
    "np.zeros(x.shape) and np.sqrt(2) make float64; np.zeros_like(x) and math.sqrt(2) keep the dtype, and so training "
    "stays as fast as it is."
)


def another_dtype(setting: Setting, layer_class: type[Any]) -> str:
    """What is said of a layer that gives, or hands over, a gradient of float64 where all that it has is float32."""
    layer = setting.build(layer_class, Init(np.random.default_rng(0), 1.0, np.float32))
    given = setting.inputs(np.random.default_rng(0))
    inputs = [value.astype(np.float32) if is_float_array(value) else value for value in given]
    tape = Tape(np.random.default_rng(0))

    def gradients() -> Any:
        y = layer.forward(*inputs, tape=tape)
        return layer.backward(np.ones_like(y) if np.ndim(y) else 1.0, tape)

    found = attempt(
        gradients, inspect.getfile(layer_class.backward) if inspect.isfunction(layer_class.backward) else ""
    )
    if isinstance(found, Failure):
        is_told = found.kind == "TypeError" and "float64" in found.message
        where = f"line {found.line}" if found.line else "it"
        return f"{_WHERE}{where} stops: {found.message}. {_KEPT}" if is_told else ""
    wide = [part for part in as_tuple(found) if np.asarray(part).dtype == np.float64] if found is not None else []
    return f"{_WHERE}backward returns float64. {_KEPT}" if wide else ""
