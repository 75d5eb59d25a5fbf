"""The activations of the feed-forward layer by Hugging Face's names for them (`hidden_act`)."""

from __future__ import annotations

from npbert.layers import GELU, Elementwise, ReLU, TanhGELU

ACTIVATIONS: dict[str, type[Elementwise]] = {
    "gelu": GELU,
    "gelu_new": TanhGELU,
    "gelu_pytorch_tanh": TanhGELU,
    "relu": ReLU,
}


def make_activation(name: str) -> Elementwise:
    """The activation called `name`. Raises: ValueError for a name that is not in ACTIVATIONS."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation is {name!r}, wanted one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]()
