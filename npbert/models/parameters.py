"""Lists every parameter of a model with its shape and size, as rows, as a table, and by layer; and the known sizes."""

import re
from typing import Any, NamedTuple

from npbert.core import Layer, Parameter, named_parameters
from npbert.io import did_you_mean
from npbert.models.bert import BertModel
from npbert.models.config import PRESETS, BertConfig

_GROUP = re.compile(r"(?:bert\.)?(?:.*?\d+(?=\.)|[^.]+)")
"""Matches a name up to its first number, or else its first word."""


class ParameterRow(NamedTuple):
    """A parameter: its dotted name, shape and size."""

    name: str
    shape: tuple[int, ...]
    count: int  # type: ignore[assignment]  # replaces the method of tuples


def parameter_rows(model: Layer | BertConfig) -> list[ParameterRow]:
    """Return every parameter of a model, or of a configuration's BertModel, once even if it is shared."""
    layer = model if isinstance(model, Layer) else BertModel(model, rng=None)
    return [ParameterRow(name, each.value.shape, each.value.size) for name, each in layer.named_parameters()]


def parameter_table(model: Layer | BertConfig) -> str:
    """Return `parameter_rows` as text, with sums for the embeddings, each layer, each head and the whole."""
    rows = parameter_rows(model)
    groups: dict[str, list[ParameterRow]] = {}
    for row in rows:
        groups.setdefault(_group(row.name), []).append(row)

    width = max((len(row.name) + 2 for row in rows), default=0)
    lines = []
    for group, members in groups.items():
        if [group] != [row.name for row in members]:  # a single parameter is its own sum
            lines.append(f"{group:<{width}}  {'':>15}  {sum(row.count for row in members):>13,}")
        lines += [f"  {row.name:<{width - 2}}  {row.shape!s:>15}  {row.count:>13,}" for row in members]
    lines.append(f"{'total':<{width}}  {'':>15}  {sum(row.count for row in rows):>13,}")
    return "\n".join(lines)


def parameters_by_layer(model: Any) -> dict[str, list[Parameter]]:
    """Return the parameters of a model by layer, from the input on: embeddings, layer 1, layer 2 …, pooler, and the
    heads.

    "layer 3" is `bert.encoder.layers.2`.
    """
    layers: dict[str, list[Parameter]] = {}
    for name, parameter in named_parameters(model):
        group = _group(name).removeprefix("bert.").replace("_", " ")
        number = group.removeprefix("encoder.layers.")
        layers.setdefault(group if number == group else f"layer {int(number) + 1}", []).append(parameter)
    return layers


def _group(name: str) -> str:
    match = _GROUP.match(name)
    assert match, "every parameter has a name"
    return match[0]


def size_table() -> str:
    """Return a line for each size: its names, layers, hidden size and parameters."""
    names: dict[BertConfig, list[str]] = {}
    for name in sorted(PRESETS):
        names.setdefault(BertConfig.preset(name), []).append(name)
    lines = [f"  {'size':<32}{'layers':>8}{'hidden':>8}{'parameters':>14}"]
    counts = {config: BertModel(config, rng=None).num_parameters() for config in names}
    for config in sorted(names, key=counts.__getitem__):
        sizes = f"{config.num_hidden_layers:>8}{config.hidden_size:>8}{counts[config]:>14,}"
        lines.append(f"  {' or '.join(names[config]):<32}{sizes}")
    return "\n".join(lines)


def neither_size_nor_folder(name: str) -> str:
    """Return the error message for a name that is neither a size nor a folder."""
    return f"{name!r} is not a folder or a size{did_you_mean(name, PRESETS)}\n{size_table()}"
