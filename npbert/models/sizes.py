"""The published sizes as a table to choose from."""

from __future__ import annotations

from npbert.models.config import PRESETS, BertConfig
from npbert.suggest import did_you_mean


def size_table() -> str:
    """A line for each size: its names, its layers, its hidden size and its parameters."""
    names: dict[BertConfig, list[str]] = {}
    for name in PRESETS:
        names.setdefault(BertConfig.preset(name), []).append(name)
    lines = [f"  {'size':<32}{'layers':>8}{'hidden':>8}{'parameters':>14}"]
    for config, of_one in sorted(names.items(), key=lambda entry: num_parameters(entry[0])):
        name, layers, hidden = " or ".join(sorted(of_one)), config.num_hidden_layers, config.hidden_size
        lines.append(f"  {name:<32}{layers:>8}{hidden:>8}{num_parameters(config):>14,}")
    return "\n".join(lines)


def num_parameters(config: BertConfig) -> int:
    """How many parameters a BertModel has, told without making one."""
    features, inner = config.hidden_size, config.intermediate_size  # D and F
    square = features * features + features  # a Linear from D to D
    rows = config.vocab_size + config.type_vocab_size
    rows += config.max_position_embeddings if config.position_embedding_type == "absolute" else 0
    layer = 4 * square + 2 * features * inner + inner + features + 2 * 2 * features
    return rows * features + 2 * features + config.num_hidden_layers * layer + square


def neither_size_nor_folder(name: str) -> str:
    """What to say of a name that was to be a size or a folder, and is neither."""
    return f"there is no size {name!r}, and no such folder{did_you_mean(name, PRESETS)}\n{size_table()}"
