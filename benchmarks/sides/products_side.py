"""The bare matrix products of the same sizes in NumPy, and nothing else: the limit that no NumPy code passes."""

from __future__ import annotations

from collections import Counter
from math import nan
from typing import Any, NamedTuple

import numpy as np
from task import Array, Arrays, Encode, Step, Task


class Sizes(NamedTuple):
    """Of a batch: sequences, tokens in each, real tokens in all, and masked ones."""

    batch: int
    length: int
    rows: int
    masked: int


class Linear(NamedTuple):
    """A product of (rows, inputs) and (inputs, outputs)."""

    rows: int
    inputs: int
    outputs: int


class Attention(NamedTuple):
    """A product of (B, H, T, d) and (B, H, d, T), or of (B, H, T, T) and (B, H, T, d)."""

    batch: int
    heads: int
    length: int
    features: int


def sizes_of(batch: Arrays) -> Sizes:
    sequences, length = batch["input_ids"].shape
    masked = int((batch["labels"] != -100).sum()) if "labels" in batch else 0
    return Sizes(sequences, length, int(batch["attention_mask"].sum()), masked)


def linears(config: dict[str, Any], sizes: Sizes) -> Counter[Linear]:
    """How often each product of a forward with a weight occurs: padded rows need none."""
    hidden, layers = config["hidden_size"], config["num_hidden_layers"]
    products = Counter(
        {
            Linear(sizes.rows, hidden, hidden): 4 * layers,
            Linear(sizes.rows, hidden, config["intermediate_size"]): layers,
            Linear(sizes.rows, config["intermediate_size"], hidden): layers,
        }
    )
    products[Linear(sizes.batch, hidden, hidden)] += 1  # the pooler
    if sizes.masked:
        products[Linear(sizes.masked, hidden, hidden)] += 1
        products[Linear(sizes.masked, hidden, config["vocab_size"])] += 1
        products[Linear(sizes.batch, hidden, 2)] += 1
    return products


def attention(config: dict[str, Any], sizes: Sizes) -> Attention:
    heads = config["num_attention_heads"]
    return Attention(sizes.batch, heads, sizes.length, config["hidden_size"] // heads)


class Operands:
    """Arrays by shape, made once. Products of one shape share them."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, tuple[int, ...]], Array] = {}
        self._rng = np.random.default_rng(0)

    def __call__(self, name: str, *shape: int) -> Array:
        if (name, shape) not in self._arrays:
            self._arrays[name, shape] = self._rng.standard_normal(shape, np.float32)
        return self._arrays[name, shape]


def multiply_linear(product: Linear, operands: Operands, *, backward: bool) -> None:
    """y = x W, and backward dx = dy Wᵀ, dW = xᵀ dy."""
    rows, inputs, outputs = product
    x, w, y = operands("x", rows, inputs), operands("w", inputs, outputs), operands("y", rows, outputs)
    np.matmul(x, w, out=y)
    if backward:
        np.matmul(y, w.T, out=operands("dx", rows, inputs))
        np.matmul(x.T, y, out=operands("dw", inputs, outputs))


def multiply_attention(product: Attention, operands: Operands, *, backward: bool) -> None:
    """S = Q Kᵀ, C = A V, and backward dA = dC Vᵀ, dV = Aᵀ dC, dQ = dS K, dK = dSᵀ Q."""
    batch, heads, length, features = product
    q, k, c = (operands(name, batch, heads, length, features) for name in "qkc")
    scores = operands("s", batch, heads, length, length)
    np.matmul(q, k.swapaxes(-1, -2), out=scores)
    np.matmul(scores, k, out=c)
    if backward:
        np.matmul(c, k.swapaxes(-1, -2), out=scores)
        np.matmul(scores.swapaxes(-1, -2), q, out=c)
        np.matmul(scores, k, out=c)
        np.matmul(scores.swapaxes(-1, -2), q, out=c)


def _multiply_all(task: Task, batch: Arrays, operands: Operands, *, backward: bool) -> None:
    sizes = sizes_of(batch)
    for product, count in linears(task.config, sizes).items():
        for _ in range(count):
            multiply_linear(product, operands, backward=backward)
    for _ in range(task.config["num_hidden_layers"]):
        multiply_attention(attention(task.config, sizes), operands, backward=backward)


def training_step(task: Task) -> Step:
    operands = Operands()

    def step(batch: Arrays) -> float:
        _multiply_all(task, batch, operands, backward=True)
        return nan

    return step


def encode(task: Task) -> Encode:
    operands = Operands()

    def run(batch: Arrays) -> Array:
        _multiply_all(task, batch, operands, backward=False)
        return np.empty(0)

    return run
