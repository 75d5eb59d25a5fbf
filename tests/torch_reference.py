"""BERT once more, in plain torch: what npbert is compared with.

The modules use torch's own layers and autograd, and none of npbert's maths; attention goes by einsum. They compute all
positions of padded batches (B, T, D) with a mask; `on_rows` hands them npbert's packed rows. Attributes have npbert's
names, so that parameters find each other by name. H heads, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import SimpleNamespace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

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
    """module(x, z, mask) of padded batches as a function of rows: pad, compute, and take what is real."""

    def run(x: Tensor, z: Tensor, sequences: Sequences) -> Tensor:
        lengths, looking = sequences.lengths.tolist(), sequences.looking.tolist()
        y = module(_padded(x, looking), _padded(z, lengths), _padded(torch.ones(len(z)), lengths))
        return torch.cat([row[:count] for row, count in zip(y, looking, strict=True)])

    return run


def _padded(rows: Tensor, lengths: list[int]) -> Tensor:
    return nn.utils.rnn.pad_sequence(torch.split(rows, lengths), batch_first=True)


class Dropout(nn.Module):
    """Dropout with npbert's own masks: given a copy of its generator, it drops what npbert drops, in the same order.

    So a whole model with dropout can be compared, and a dropout in another place, or in another order, shows.
    """

    def __init__(self, p: float, rng: Rng) -> None:
        super().__init__()
        self.p, self.rng = p, rng

    def forward(self, x: Tensor) -> Tensor:
        if self.rng is None:
            return x
        keep = npbert.Dropout(self.p).forward(np.ones(x.shape), Tape(self.rng)) != 0
        return x * torch.tensor(keep) / (1 - self.p)


class SinusoidalPositions(nn.Module):
    """Feature j of position t: the sine, for odd j the cosine, of t / 10000^(2⌊j/2⌋/D)."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features

    def forward(self, positions: Tensor) -> Tensor:
        j = torch.arange(self.features, dtype=torch.float64)
        angles = positions[..., None] * torch.exp(-2 * torch.floor(j / 2) / self.features * math.log(10000))
        return torch.where(j % 2 == 0, torch.sin(angles), torch.cos(angles))


class BertEmbeddings(nn.Module):
    def __init__(self, config: BertConfig, rng: Rng = None) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings: nn.Module
        if config.position_embedding_type == "absolute":
            self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        else:
            self.position_embeddings = SinusoidalPositions(config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob, rng)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, positions: Tensor) -> Tensor:
        words, where = self.word_embeddings(input_ids), self.position_embeddings(positions)
        return self.dropout(self.layer_norm(words + where + self.token_type_embeddings(token_type_ids)))


class FeedForward(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int, activation: str) -> None:
        super().__init__()
        self.intermediate = nn.Linear(hidden_size, intermediate_size)
        self.activation = _ACTIVATIONS[activation]()
        self.output = nn.Linear(intermediate_size, hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.activation(self.intermediate(x)))


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int, *, dropout: float = 0.0, rng: Rng = None) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(hidden_size, hidden_size) for _ in range(4))
        self.dropout = Dropout(dropout, rng)
        self.num_heads = num_heads

    def forward(self, x: Tensor, z: Tensor, attention_mask: Tensor) -> Tensor:
        q, k, v = (part.unflatten(-1, (self.num_heads, -1)) for part in (self.query(x), self.key(z), self.value(z)))
        return self.output(self.context(q, k, v, attention_mask).flatten(start_dim=-2))

    def context(self, q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor) -> Tensor:
        """softmax(QKᵀ/√d + mask) V for each head; all are (B, T, H, d)."""
        scores = torch.einsum("bqhk,bthk->bhqt", q, k) / math.sqrt(q.shape[-1])
        scores = scores - 1e4 * (1 - attention_mask[:, None, None, :])
        return torch.einsum("bhqt,bthk->bqhk", self.dropout(torch.softmax(scores, dim=-1)), v)


class EncoderLayer(nn.Module):
    def __init__(self, config: BertConfig, rng: Rng = None) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(
            config.hidden_size, config.num_attention_heads, dropout=config.attention_probs_dropout_prob, rng=rng
        )
        self.attention_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.feed_forward = FeedForward(config.hidden_size, config.intermediate_size, config.hidden_act)
        self.output_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob, rng)

    def forward(self, x: Tensor, z: Tensor, attention_mask: Tensor) -> Tensor:
        h = self.attention_norm(x + self.dropout(self.attention(x, z, attention_mask)))
        return self.output_norm(h + self.dropout(self.feed_forward(h)))


class Encoder(nn.Module):
    def __init__(self, layers: Iterable[EncoderLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor, attention_mask: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, x, attention_mask)
        return x


class Pooler(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.dense(x))


class MaskedLMHead(nn.Module):
    """`table` is the weight of the token embedding: one Parameter in two modules, so that autograd adds up both."""

    def __init__(self, table: nn.Parameter, *, activation: str = "gelu", layer_norm_eps: float = 1e-12) -> None:
        super().__init__()
        vocab_size, hidden_size = table.shape
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.activation = _ACTIVATIONS[activation]()
        self.layer_norm = nn.LayerNorm(hidden_size, eps=layer_norm_eps)
        self.table = table
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.layer_norm(self.activation(self.dense(x))), self.table, self.bias)


class BertModel(nn.Module):
    def __init__(self, config: BertConfig, rng: Rng = None) -> None:
        super().__init__()
        self.embeddings = BertEmbeddings(config, rng)
        self.encoder = Encoder(EncoderLayer(config, rng) for _ in range(config.num_hidden_layers))
        self.pooler = Pooler(config.hidden_size)

    def forward(self, batch: SimpleNamespace) -> tuple[Tensor, Tensor]:
        """The hidden states, 0 for padding, and the pooled ones."""
        mask = batch.attention_mask
        positions = torch.arange(mask.shape[1]).expand_as(mask)
        hidden = self.encoder(self.embeddings(batch.input_ids, batch.token_type_ids, positions), mask)
        return hidden * mask[:, :, None], self.pooler(hidden[:, 0])


class BertForPreTraining(nn.Module):
    def __init__(self, config: BertConfig, rng: Rng = None) -> None:
        super().__init__()
        self.bert = BertModel(config, rng)
        table = self.bert.embeddings.word_embeddings.weight
        self.predictions = MaskedLMHead(table, activation=config.hidden_act, layer_norm_eps=config.layer_norm_eps)
        self.seq_relationship = nn.Linear(config.hidden_size, 2)

    def forward(self, batch: SimpleNamespace) -> tuple[Tensor, Tensor]:
        """Logits for every position (B, T, V), 0 for padding, and for the sequences (B, 2)."""
        hidden, pooled = self.bert(batch)
        return self.predictions(hidden) * batch.attention_mask[:, :, None], self.seq_relationship(pooled)

    def losses(self, batch: SimpleNamespace) -> tuple[Tensor, Tensor, Tensor]:
        word_logits, relationship_logits = self(batch)
        mlm_loss = F.cross_entropy(word_logits.flatten(0, 1), batch.labels.flatten(), ignore_index=-100)
        nsp_loss = F.cross_entropy(relationship_logits, batch.next_sentence_label)
        return mlm_loss + nsp_loss, mlm_loss, nsp_loss


class Training:
    """Steps of AdamW with clipping and a linear schedule, by torch's own means.

    What decays is chosen by name and kind, as in BERT's code: no bias, and nothing of a LayerNorm.
    """

    def __init__(
        self, module: BertForPreTraining, lr: float, weight_decay: float, warmup: int, steps: int, max_norm: float
    ) -> None:
        spared = {
            parameter
            for owner in module.modules()
            for name, parameter in owner.named_parameters(recurse=False)
            if name == "bias" or isinstance(owner, nn.LayerNorm)
        }
        decayed = [parameter for parameter in module.parameters() if parameter not in spared]
        groups = [{"params": decayed}, {"params": list(spared), "weight_decay": 0.0}]
        self.module, self.max_norm = module, max_norm
        self.optimizer = torch.optim.AdamW(groups, lr=lr, weight_decay=weight_decay)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min(step / warmup, (steps - step) / (steps - warmup))
        )

    def step(self, batch: SimpleNamespace) -> list[Tensor]:
        """loss, mlm_loss, nsp_loss, and the norm of the gradient before it is clipped."""
        self.module.zero_grad()
        losses = self.module.losses(batch)
        losses[0].backward()
        norm = nn.utils.clip_grad_norm_(self.module.parameters(), self.max_norm)
        self.optimizer.step()
        self.schedule.step()
        return [value.detach() for value in (*losses, norm)]
