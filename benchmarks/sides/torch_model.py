"""BERT for pre-training as one would write it in torch for speed on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


class EncoderLayer(nn.Module):
    """Q, K and V from one product; attention by torch's own function."""

    def __init__(self, hidden: int, heads: int, intermediate: int, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout, self.attention_dropout = heads, dropout, attention_dropout
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.output = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.up = nn.Linear(hidden, intermediate)
        self.down = nn.Linear(intermediate, hidden)
        self.output_norm = nn.LayerNorm(hidden, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)  # each (B, H, T, d)
        context = F.scaled_dot_product_attention(q, k, v, mask, self.attention_dropout)
        y = self.output(context.transpose(1, 2).flatten(2))
        x = self.attention_norm(x + F.dropout(y, self.dropout))
        return self.output_norm(x + F.dropout(self.down(F.gelu(self.up(x))), self.dropout))


class PreTraining(nn.Module):
    """The loss of a batch: only the masked rows go through the decoder, and no mask is passed where nothing is padded.

    config: by Hugging Face's names.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        hidden, self.dropout = config["hidden_size"], config["hidden_dropout_prob"]
        self.words = nn.Embedding(config["vocab_size"], hidden)
        self.positions = nn.Embedding(config["max_position_embeddings"], hidden)
        self.types = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.layers = nn.ModuleList(
            EncoderLayer(
                hidden,
                config["num_attention_heads"],
                config["intermediate_size"],
                self.dropout,
                config["attention_probs_dropout_prob"],
            )
            for _ in range(config["num_hidden_layers"])
        )
        self.pooler = nn.Linear(hidden, hidden)
        self.transform = nn.Linear(hidden, hidden)
        self.transform_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.decoder_bias = nn.Parameter(torch.zeros(config["vocab_size"]))
        self.relationship = nn.Linear(hidden, 2)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        ids, real = batch["input_ids"], batch["attention_mask"].bool()
        mask = None if bool(real.all()) else real[:, None, None, :]
        x = self.words(ids) + self.positions.weight[: ids.shape[1]] + self.types(batch["token_type_ids"])
        x = F.dropout(self.norm(x), self.dropout)
        for layer in self.layers:
            x = layer(x, mask)
        labels = batch["labels"].flatten()
        masked = (labels != -100).nonzero().squeeze(1)
        h = self.transform_norm(F.gelu(self.transform(x.flatten(0, 1).index_select(0, masked))))
        logits = F.linear(h, self.words.weight, self.decoder_bias)
        relationship = self.relationship(torch.tanh(self.pooler(x[:, 0])))
        return F.cross_entropy(logits, labels[masked]) + F.cross_entropy(relationship, batch["next_sentence_label"])


NAMES = {
    "bert.embeddings.word_embeddings": "words",
    "bert.embeddings.position_embeddings": "positions",
    "bert.embeddings.token_type_embeddings": "types",
    "bert.embeddings.LayerNorm": "norm",
    "bert.encoder.layer": "layers",
    "attention.output.dense": "output",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "output_norm",
    "bert.pooler.dense": "pooler",
    "cls.predictions.transform.dense": "transform",
    "cls.predictions.transform.LayerNorm": "transform_norm",
    "cls.predictions.bias": "decoder_bias",
    "cls.seq_relationship": "relationship",
}
"""Hugging Face's names, and those here; the first that fits is taken."""


def rename(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The state of a PreTraining from tensors with Hugging Face's names: Q, K and V become one."""
    state: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        state[name] = tensor
    for name in [name for name in state if ".self.query." in name]:
        parts = [state.pop(name.replace("query", part)) for part in ("query", "key", "value")]
        state[name.replace("attention.self.query", "qkv")] = torch.cat(parts)
    return state
