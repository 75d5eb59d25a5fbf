"""Every layer's formula as the papers have it, with loops, one row or number at a time, in exact sums of float64.

A wrong forward whose backward agrees with it is invisible to gradcheck: only another forward shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, Sequences


def each(function: Callable[[float], float]) -> Callable[..., Array]:
    return lambda layer, x: np.array([function(float(value)) for value in x.flat]).reshape(x.shape)


def gelu(x: float) -> float:
    return x * math.erfc(-x / math.sqrt(2)) / 2


def tanh_gelu(x: float) -> float:
    return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def relu(x: float) -> float:
    return x if x > 0 else 0.0


ACTIVATIONS = {"gelu": gelu, "gelu_new": tanh_gelu, "gelu_pytorch_tanh": tanh_gelu, "relu": relu}


def linear(layer: Any, x: Array) -> Array:
    w, b = layer.weight.value.astype(float), layer.bias.value.astype(float)
    return np.array([[math.fsum([*(row * column), c]) for column, c in zip(w.T, b, strict=True)] for row in x])


def softmax(layer: Any, x: Array) -> Array:
    exponentials = [[math.exp(value - max(row)) for value in row] for row in x.tolist()]
    return np.array([[e / math.fsum(row) for e in row] for row in exponentials])


def layer_norm(layer: Any, x: Array) -> Array:
    y = np.empty(x.shape)
    for n, row in enumerate(x.astype(float)):
        mean = math.fsum(row) / len(row)
        sigma = math.sqrt(math.fsum((row - mean) ** 2) / len(row) + layer.eps)
        y[n] = layer.gamma.value * ((row - mean) / sigma) + layer.beta.value
    return y


def embedding(layer: Any, ids: Array) -> Array:
    return np.array([layer.weight.value[int(i)] for i in ids])


def gather(layer: Any, x: Array, rows: Array) -> Array:
    return np.array([x[int(row)] for row in rows]).reshape(-1, x.shape[1])


def unpack(layer: Any, x: Array, places: Array, shape: tuple[int, int]) -> Array:
    y = np.zeros((*shape, x.shape[1]))
    for row, place in zip(x, places.tolist(), strict=True):
        y[divmod(place, shape[1])] = row
    return y


def cross_entropy(layer: Any, logits: Array, labels: Array) -> Any:
    p = softmax(None, logits)
    surprises = [-math.log(p[n, label]) for n, label in enumerate(labels.tolist()) if label != IGNORED]
    return np.float64(math.fsum(surprises) / len(surprises))


def squared_error(layer: Any, prediction: Array, target: Array) -> Any:
    return np.float64(math.fsum(((prediction - target) ** 2).flat) / target.size)


def dot_product(layer: Any, q: Array, k: Array, v: Array, sequences: Sequences | None = None) -> Array:
    """Query after query, head after head, in each sequence by itself."""
    c, d = np.empty(q.shape), q.shape[1] // layer.num_heads
    asking, key = 0, 0
    lengths = zip([len(q)], [len(k)]) if sequences is None else zip(sequences.looking, sequences.lengths, strict=True)
    for r, t in lengths:
        for row in range(asking, asking + r):
            for head in range(layer.num_heads):
                features = slice(head * d, (head + 1) * d)
                scores = [q[row, features] @ k[other, features] / math.sqrt(d) for other in range(key, key + t)]
                c[row, features] = softmax(None, np.array([scores]))[0] @ v[key : key + t, features]
        asking, key = asking + r, key + t
    return c


def attention(layer: Any, x: Array, z: Array, sequences: Sequences | None = None) -> Array:
    q, k, v = linear(layer.query, x), linear(layer.key, z), linear(layer.value, z)
    return linear(layer.output, dot_product(layer.dot_product, q, k, v, sequences))


def feed_forward(layer: Any, x: Array, activation: str = "gelu") -> Array:
    return linear(layer.output, each(ACTIVATIONS[activation])(None, linear(layer.intermediate, x)))


def encoder_layer(layer: Any, x: Array, z: Array, sequences: Sequences | None = None, activation: str = "gelu") -> Array:
    h = layer_norm(layer.attention_norm, x + attention(layer.attention, x, z, sequences))
    return layer_norm(layer.output_norm, h + feed_forward(layer.feed_forward, h, activation))


def encoder(layer: Any, x: Array, sequences: Sequences | None, read: Array | None, activations: list[str]) -> Array:
    for part, activation in zip(layer.layers, activations, strict=True):
        x = encoder_layer(part, x, x, sequences, activation)
    return x if read is None else x[read]


def positions(layer: Any, t: Array, features: int) -> Array:
    def value(position: int, i: int) -> float:
        angle = position / 10000 ** ((i - i % 2) / features)
        return math.cos(angle) if i % 2 else math.sin(angle)

    return np.array([[value(int(position), i) for i in range(features)] for position in t])


def embeddings(layer: Any, ids: Array, types: Array, t: Array) -> Array:
    table = layer.position_embeddings
    where = embedding(table, t) if hasattr(table, "weight") else positions(None, t, len(layer.layer_norm.beta.value))
    word, kind = embedding(layer.word_embeddings, ids), embedding(layer.token_type_embeddings, types)
    return layer_norm(layer.layer_norm, word + where + kind)


def pooler(layer: Any, x: Array) -> Array:
    return each(math.tanh)(None, linear(layer.dense, x))


def mean_pooling(layer: Any, x: Array, sequences: Sequences) -> Array:
    parts = np.split(x.astype(float), np.cumsum(sequences.lengths)[:-1])
    return np.array([[math.fsum(column) / len(part) for column in part.T] for part in parts])


def masked_lm_head(layer: Any, x: Array, activation: str = "gelu") -> Array:
    h = layer_norm(layer.layer_norm, each(ACTIVATIONS[activation])(None, linear(layer.dense, x)))
    return np.array([[math.fsum([*(row * word), c]) for word, c in zip(layer.table.value, layer.bias.value)] for row in h])
