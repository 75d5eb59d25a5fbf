"""Lists every parameter of a model with its shape and size in a table, and by layer; and the known sizes."""

import re
from typing import Any

from npbert.core import Parameter, named_parameters
from npbert.io import did_you_mean
from npbert.models.bert import BertModel
from npbert.models.config import PRESETS, BertConfig

_GROUP = re.compile(r"(?:bert\.)?(?:.*?\d+(?=\.)|[^.]+)")
"""Matches a name up to its first number, or else its first word."""


def parameter_table(model: Any) -> str:
    """Return every parameter of a model as text, with its shape and size, once even if it is shared, and sums for the
    embeddings, each layer, each head and the whole."""
    rows: list[tuple[str, object, int]] = []
    for group, members in _groups(model).items():
        if [group] != [*members]:  # a single parameter is its own sum
            rows.append((group, "", sum(each.value.size for each in members.values())))
        rows += [(f"  {name}", each.value.shape, each.value.size) for name, each in members.items()]
    rows.append(("total", "", sum(each.value.size for _, each in named_parameters(model))))
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"{name:<{width}}  {shape!s:>15}  {size:>13,}" for name, shape, size in rows)


def parameters_by_layer(model: Any) -> dict[str, list[Parameter]]:
    """Return the parameters of a model by layer, from the input on: embeddings, layer 1, layer 2 …, pooler, and the
    heads.

    "layer 3" is `bert.encoder.layers.2`.
    """
    layers: dict[str, list[Parameter]] = {}
    for group, members in _groups(model).items():
        name = group.removeprefix("bert.").replace("_", " ")
        number = name.removeprefix("encoder.layers.")
        layers.setdefault(name if number == name else f"layer {int(number) + 1}", []).extend(members.values())
    return layers


def _groups(model: Any) -> dict[str, dict[str, Parameter]]:
    """Return the parameters of each group by name."""
    groups: dict[str, dict[str, Parameter]] = {}
    for name, parameter in named_parameters(model):
        groups.setdefault(_GROUP.findall(name)[0], {})[name] = parameter
    return groups


def size_table() -> str:
    """Return a line for each size: its names, layers, hidden size and parameters."""
    names: dict[BertConfig, list[str]] = {}
    for name, config in PRESETS.items():
        names.setdefault(config, []).append(name)
    lines = [f"  {'size':<32}{'layers':>8}{'hidden':>8}{'parameters':>14}"]
    for config, same in names.items():
        count = BertModel(config, rng=None).num_parameters()
        sizes = f"{config.num_hidden_layers:>8}{config.hidden_size:>8}{count:>14,}"
        lines.append(f"  {' or '.join(same):<32}{sizes}")
    return "\n".join(lines)


def neither_size_nor_folder(name: str) -> str:
    """Return the error message for a name that is neither a size nor a folder."""
    return f"{name!r} is not a folder or a size{did_you_mean(name, PRESETS)}\n{size_table()}"
