"""Lists every parameter of a model with its shape and size in a table, and by layer; and the known sizes."""

import re
from typing import Any

import numpy as np

from npbert.core import Parameter, named_parameters
from npbert.io import did_you_mean
from npbert.models.bert import BertModel
from npbert.models.config import PRESETS, BertConfig

_GROUP = re.compile(r"(?:bert\.)?(?:.*?\d+(?=\.)|[^.]+)")
"""Matches a name up to its first number, or else its first word."""


def parameters_by_layer(model: Any) -> dict[str, dict[str, Parameter]]:
    """Return the parameters of a model, each once, by layer and name, from the input on: embeddings, layer 1, layer 2
    …, pooler, and the heads.

    "layer 3" is `bert.encoder.layers.2`.
    """
    layers: dict[str, dict[str, Parameter]] = {}
    for name, parameter in named_parameters(model):
        group = _GROUP.findall(name)[0].removeprefix("bert.").replace("_", " ")
        number = group.removeprefix("encoder.layers.")
        layers.setdefault(group if number == group else f"layer {int(number) + 1}", {})[name] = parameter
    return layers


def parameter_table(model: Any) -> str:
    """Return `parameters_by_layer` as text, with shapes and sizes, and the sums of each layer and of the whole."""
    rows: list[tuple[str, object, int]] = []
    for layer, members in parameters_by_layer(model).items():
        if len(members) > 1:
            rows.append((layer, "", sum(each.value.size for each in members.values())))
        rows += [(f"  {name}", each.value.shape, each.value.size) for name, each in members.items()]
    rows.append(("total", "", sum(each.value.size for _, each in named_parameters(model))))
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"{name:<{width}}  {shape!s:>15}  {size:>13,}" for name, shape, size in rows)


def size_table() -> str:
    """Return a line for each size: its names, layers, hidden size and parameters."""
    names: dict[BertConfig, list[str]] = {}
    for name, config in PRESETS.items():
        names.setdefault(config, []).append(name)
    lines = [f"  {'size':<32}{'layers':>8}{'hidden':>8}{'parameters':>14}"]
    for config, same in names.items():
        count = BertModel(config, rng=None, dtype=np.float16).num_parameters()  # half the memory of float32
        sizes = f"{config.num_hidden_layers:>8}{config.hidden_size:>8}{count:>14,}"
        lines.append(f"  {' or '.join(same):<32}{sizes}")
    return "\n".join(lines)


def neither_size_nor_folder(name: str) -> str:
    """Return the error message for a name that is neither a size nor a folder."""
    return f"{name!r} is not a folder or a size{did_you_mean(name, PRESETS)}\n{size_table()}"
