"""The activations of the feed-forward layer by Hugging Face's names for them (`hidden_act`)."""

from __future__ import annotations

from npbert.layers.gelu import GELU
from npbert.layers.parameter import Layer
from npbert.layers.relu import ReLU
from npbert.layers.tanh_gelu import TanhGELU

ACTIVATIONS: dict[str, type[Layer]] = {
    "gelu": GELU,
    "gelu_new": TanhGELU,
    "gelu_pytorch_tanh": TanhGELU,
    "relu": ReLU,
}


def make_activation(name: str) -> Layer:
    """The activation called `name`. Raises: ValueError for a name that is not in ACTIVATIONS."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation is {name!r}, wanted one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]()
