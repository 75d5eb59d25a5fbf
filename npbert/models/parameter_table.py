"""A table of every parameter of a BERT, counted from the model itself."""

from __future__ import annotations

import math

from npbert.models.bert import BertModel
from npbert.models.config import BertConfig


def parameter_table(config: BertConfig) -> str:
    """Every tensor of a BertModel with its shape and count, with sums for embeddings, each layer, pooler and all."""
    groups: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for name, parameter in BertModel(config, rng=None).named_parameters():
        parts = name.split(".")
        group = ".".join(parts[:3]) if parts[0] == "encoder" else parts[0]
        groups.setdefault(group, []).append((name, parameter.value.shape))

    sums = {group: sum(math.prod(shape) for _, shape in tensors) for group, tensors in groups.items()}
    width = max(len(name) + 2 for tensors in groups.values() for name, _ in tensors)
    lines = []
    for group, tensors in groups.items():
        lines.append(f"{group:<{width}}  {'':>15}  {sums[group]:>13,}")
        for name, shape in tensors:
            lines.append(f"  {name:<{width - 2}}  {shape!s:>15}  {math.prod(shape):>13,}")
    lines.append(f"{'total':<{width}}  {'':>15}  {sum(sums.values()):>13,}")
    return "\n".join(lines)
