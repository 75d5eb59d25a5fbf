"""BERT once more, in plain torch: what npbert is compared with.

The modules use torch's own layers and autograd, and none of npbert's maths; attention goes by einsum. They compute
padded batches (B, T, D) with a mask, and every position of them: `on_rows` hands them npbert's packed rows. Attributes
have npbert's names, so that parameters find each other by name. H heads, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.optim.lr_scheduler import LambdaLR

import npbert
from npbert import BertConfig, Sequences, Tape

Rng = np.random.Generator | None

_ACTIVATIONS = {
    "gelu": nn.GELU,
    "gelu_new": lambda: nn.GELU(approximate="tanh"),
    "gelu_pytorch_tanh": lambda: nn.GELU(approximate="tanh"),
    "relu": nn.ReLU,
}


def on_rows(module: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """module(x, z, mask) of padded batches as a function of rows: pad, compute, and take what is real.

    x (M, D): the rows that look   z (N, D): the rows that are looked at   the result (M, ·)
    """

    def run(x: Tensor, z: Tensor, sequences: Sequences) -> Tensor:
        lengths, looking = sequences.lengths.tolist(), sequences.looking.tolist()
        y = module(_padded(x, looking), _padded(z, lengths), _padded(torch.ones(len(z)), lengths))
        return torch.cat([row[:count] for row, count in zip(y, looking, strict=True)])

    return run


def _padded(rows: Tensor, lengths: list[int]) -> Tensor:
    return nn.utils.rnn.pad_sequence(torch.split(rows, lengths), batch_first=True)


class Parts(nn.Module):
    """A module of these parts, by name."""

    def __init__(self, **parts: Any) -> None:
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


class Dropout(Parts):
    """Dropout with npbert's own masks: given a copy of its generator, it drops what npbert drops, in the same order.

    So a whole model with dropout can be compared, and a dropout in another place, or in another order, shows.
    """

    def __init__(self, p: float, rng: Rng) -> None:
        super().__init__(p=p, rng=rng)

    def forward(self, x: Tensor) -> Tensor:
        if self.rng is None:
            return x
        keep = npbert.Dropout(self.p).forward(np.ones(x.shape), Tape(self.rng)) != 0
        return x * torch.tensor(keep) / (1 - self.p)


class SinusoidalPositions(Parts):
    """Feature j of position t: the sine, for odd j the cosine, of t / 10000^(2⌊j/2⌋/D)."""

    def __init__(self, features: int) -> None:
        super().__init__(features=features)

    def forward(self, positions: Tensor) -> Tensor:
        j = torch.arange(self.features, dtype=torch.float64)
        angles = positions[..., None] * torch.exp(-2 * torch.floor(j / 2) / self.features * math.log(10000))
        return torch.where(j % 2 == 0, torch.sin(angles), torch.cos(angles))


class BertEmbeddings(Parts):
    def __init__(self, config: BertConfig, rng: Rng = None) -> None:
        size, is_learned = config.hidden_size, config.position_embedding_type == "absolute"
        sinusoidal = SinusoidalPositions(size)
        super().__init__(
            word_embeddings=nn.Embedding(config.vocab_size, size),
            position_embeddings=nn.Embedding(config.max_position_embeddings, size) if is_learned else sinusoidal,
            token_type_embeddings=nn.Embedding(config.type_vocab_size, size),
            layer_norm=nn.LayerNorm(size, eps=config.layer_norm_eps),
            dropout=Dropout(config.hidden_dropout_prob, rng),
        )

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, positions: Tensor) -> Tensor:
        words, where = self.word_embeddings(input_ids), self.position_embeddings(positions)
        return self.dropout(self.layer_norm(words + where + self.token_type_embeddings(token_type_ids)))


class FeedForward(Parts):
    def __init__(self, size: int, inner_size: int, activation: str) -> None:
        intermediate, output = nn.Linear(size, inner_size), nn.Linear(inner_size, size)
        super().__init__(intermediate=intermediate, activation=_ACTIVATIONS[activation](), output=output)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.activation(self.intermediate(x)))


class MultiHeadAttention(Parts):
    def __init__(self, size: int, num_heads: int, *, dropout: float = 0.0, rng: Rng = None) -> None:
        linear = {name: nn.Linear(size, size) for name in ("query", "key", "value", "output")}
        super().__init__(**linear, dropout=Dropout(dropout, rng), num_heads=num_heads)

    def forward(self, x: Tensor, z: Tensor, attention_mask: Tensor) -> Tensor:
        q, k, v = (part.unflatten(-1, (self.num_heads, -1)) for part in (self.query(x), self.key(z), self.value(z)))
        return self.output(self.context(q, k, v, attention_mask).flatten(start_dim=-2))

    def context(self, q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor) -> Tensor:
        """softmax(QKᵀ/√d + mask) V for each head; all are (B, T, H, d)."""
        scores = torch.einsum("bqhk,bthk->bhqt", q, k) / math.sqrt(q.shape[-1])
        scores = scores - 1e4 * (1 - attention_mask[:, None, None, :])
        return torch.einsum("bhqt,bthk->bqhk", self.dropout(torch.softmax(scores, dim=-1)), v)


class EncoderLayer(Parts):
    def __init__(self, config: BertConfig, rng: Rng = None) -> None:
        size, eps, rate = config.hidden_size, config.layer_norm_eps, config.attention_probs_dropout_prob
        super().__init__(
            attention=MultiHeadAttention(size, config.num_attention_heads, dropout=rate, rng=rng),
            attention_norm=nn.LayerNorm(size, eps=eps),
            feed_forward=FeedForward(size, config.intermediate_size, config.hidden_act),
            output_norm=nn.LayerNorm(size, eps=eps),
            dropout=Dropout(config.hidden_dropout_prob, rng),
        )

    def forward(self, x: Tensor, z: Tensor, attention_mask: Tensor) -> Tensor:
        h = self.attention_norm(x + self.dropout(self.attention(x, z, attention_mask)))
        return self.output_norm(h + self.dropout(self.feed_forward(h)))


class Encoder(Parts):
    def __init__(self, layers: Iterable[EncoderLayer]) -> None:
        super().__init__(layers=nn.ModuleList(layers))

    def forward(self, x: Tensor, attention_mask: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, x, attention_mask)
        return x


class Pooler(Parts):
    def __init__(self, size: int) -> None:
        super().__init__(dense=nn.Linear(size, size))

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.dense(x))


class MaskedLMHead(Parts):
    """`table` is the weight of the token embedding: one Parameter in two modules, so that autograd adds up both."""

    def __init__(self, table: nn.Parameter, *, activation: str = "gelu", layer_norm_eps: float = 1e-12) -> None:
        vocab_size, size = table.shape
        super().__init__(
            dense=nn.Linear(size, size),
            activation=_ACTIVATIONS[activation](),
            layer_norm=nn.LayerNorm(size, eps=layer_norm_eps),
            table=table,
            bias=nn.Parameter(torch.zeros(vocab_size)),
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.layer_norm(self.activation(self.dense(x))), self.table, self.bias)


class BertModel(Parts):
    def __init__(self, config: BertConfig, rng: Rng = None) -> None:
        encoder = Encoder(EncoderLayer(config, rng) for _ in range(config.num_hidden_layers))
        super().__init__(embeddings=BertEmbeddings(config, rng), encoder=encoder, pooler=Pooler(config.hidden_size))

    def forward(self, batch: SimpleNamespace) -> tuple[Tensor, Tensor]:
        """The hidden states, 0 for padding, and the pooled ones."""
        mask = batch.attention_mask
        positions = torch.arange(mask.shape[1]).expand_as(mask)
        hidden = self.encoder(self.embeddings(batch.input_ids, batch.token_type_ids, positions), mask)
        return hidden * mask[:, :, None], self.pooler(hidden[torch.arange(len(mask)), mask.argmax(dim=1)])


class BertForPreTraining(Parts):
    def __init__(self, config: BertConfig, rng: Rng = None) -> None:
        bert, choices = (
            BertModel(config, rng),
            {"activation": config.hidden_act, "layer_norm_eps": config.layer_norm_eps},
        )
        predictions = MaskedLMHead(bert.embeddings.word_embeddings.weight, **choices)
        super().__init__(bert=bert, predictions=predictions, seq_relationship=nn.Linear(config.hidden_size, 2))

    def forward(self, batch: SimpleNamespace) -> tuple[Tensor, Tensor]:
        """Logits for every position (B, T, V), 0 for padding, and for the sequences (B, 2)."""
        hidden, pooled = self.bert(batch)
        return self.predictions(hidden) * batch.attention_mask[:, :, None], self.seq_relationship(pooled)

    def losses(self, batch: SimpleNamespace) -> tuple[Tensor, Tensor, Tensor]:
        word_logits, relationship_logits = self(batch)
        mlm_loss = F.cross_entropy(word_logits.flatten(0, 1), batch.labels.flatten(), ignore_index=-100)
        nsp_loss = F.cross_entropy(relationship_logits, batch.next_sentence_label)
        return mlm_loss + nsp_loss, mlm_loss, nsp_loss


def adamw(module: nn.Module, **options: Any) -> torch.optim.AdamW:
    """What decays is chosen by name and kind, as in BERT's code: no bias, and nothing of a LayerNorm."""
    spared = {
        parameter
        for owner in module.modules()
        for name, parameter in owner.named_parameters(recurse=False)
        if name == "bias" or isinstance(owner, nn.LayerNorm)
    }
    decayed = [parameter for parameter in module.parameters() if parameter not in spared]
    return torch.optim.AdamW([{"params": decayed}, {"params": list(spared), "weight_decay": 0.0}], **options)


def warmup_and_decay(optimizer: torch.optim.Optimizer, warmup: int, steps: int) -> LambdaLR:
    """Linearly up for `warmup` steps, and down to 0."""
    return LambdaLR(optimizer, lambda step: min(step / warmup, (steps - step) / (steps - warmup)))
