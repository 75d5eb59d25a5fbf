"""BERT once more, as its formulas stand in the papers: what npbert's models are compared with, in NumPy alone.

One sequence at a time, without padding, without anything of npbert's but the numbers in the parameters and the random
bits of dropout.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npbert import Batch, Dropout
from npbert.compute import Array
from tests import textbook

ACTIVATIONS = {**textbook.ACTIVATIONS, "gelu_pytorch_tanh": textbook.ACTIVATIONS["gelu_new"]}


class PlainBert:
    """A model's numbers, and what they give for sequences of one length: arrays are (…, T, D). rng: for dropout."""

    def __init__(self, model: Any, rng: np.random.Generator | None = None) -> None:
        self.config, self.rng = model.config, rng
        self.values = {name.removeprefix("bert."): parameter.value for name, parameter in model.named_parameters()}

    def has(self, name: str) -> bool:
        return f"{name}.weight" in self.values

    def outputs(self, ids: Array, types: Array, positions: Array) -> list[Array]:
        """What the heads give: of tokens (…, T, ·), then of sequences (…, ·)."""
        only_first_looks = self.has("pooler.dense") and self.has("classifier")
        h = self.states(ids, types, positions, only_first_looks=only_first_looks)[-1]
        pooled = np.tanh(self.linear("pooler.dense", h[..., 0, :])) if self.has("pooler.dense") else None
        if self.has("classifier"):
            return [self.classifier(h if pooled is None else pooled)]
        if self.has("predictions.dense"):
            return [self.words(h), *([self.linear("seq_relationship", pooled)] if self.has("seq_relationship") else [])]
        return [self.linear("qa_outputs", h)] if self.has("qa_outputs") else [h, pooled]

    def states(self, ids: Array, types: Array, positions: Array, *, only_first_looks: bool = False) -> list[Array]:
        """The embeddings and what each layer makes of them; in the last layer it may be that only [CLS] looks."""
        words, kinds = (self.values[f"embeddings.{name}_embeddings.weight"] for name in ("word", "token_type"))
        h = self.norm("embeddings.layer_norm", words[ids] + self.positions(positions) + kinds[types])
        states = [self.drop(h, self.config.hidden_dropout_prob)]
        for layer in range(self.config.num_hidden_layers):
            is_short = only_first_looks and layer == self.config.num_hidden_layers - 1
            x = states[-1][..., :1, :] if is_short else states[-1]
            states.append(self.layer(f"encoder.layers.{layer}", x, states[-1]))
        return states

    def layer(self, name: str, x: Array, z: Array) -> Array:
        p = self.drop(self.attention(name, x, z), self.config.attention_probs_dropout_prob)
        c = (p @ self.heads(f"{name}.attention.value", z)).swapaxes(-2, -3).reshape(x.shape)
        c = self.drop(self.linear(f"{name}.attention.output", c), self.config.hidden_dropout_prob)
        h = self.norm(f"{name}.attention_norm", x + c)
        f = self.activation(self.linear(f"{name}.feed_forward.intermediate", h))
        f = self.drop(self.linear(f"{name}.feed_forward.output", f), self.config.hidden_dropout_prob)
        return self.norm(f"{name}.output_norm", h + f)

    def attention(self, name: str, x: Array, z: Array) -> Array:
        """(…, H, R, T): how much each row of x takes from each row of z."""
        q, k = self.heads(f"{name}.attention.query", x), self.heads(f"{name}.attention.key", z)
        weights = np.exp(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]))
        return weights / weights.sum(axis=-1, keepdims=True)

    def heads(self, name: str, x: Array) -> Array:
        return self.linear(name, x).reshape(*x.shape[:-1], self.config.num_attention_heads, -1).swapaxes(-2, -3)

    def linear(self, name: str, x: Array) -> Array:
        return x @ self.values[f"{name}.weight"] + self.values[f"{name}.bias"]

    def norm(self, name: str, x: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self.config.layer_norm_eps)
        return self.values[f"{name}.gamma"] * centred / sigma + self.values[f"{name}.beta"]

    def words(self, h: Array) -> Array:
        h = self.activation(self.linear("predictions.dense", h))
        words = self.values["embeddings.word_embeddings.weight"]
        return self.norm("predictions.layer_norm", h) @ words.T + self.values["predictions.bias"]

    def classifier(self, h: Array) -> Array:
        rate = self.config.classifier_dropout
        return self.linear("classifier", self.drop(h, self.config.hidden_dropout_prob if rate is None else rate))

    def drop(self, x: Array, rate: float) -> Array:
        keep = Dropout(rate).draw(x.shape, self.rng)
        return x if keep is None else x * keep / (1 - rate)

    def positions(self, t: Array) -> Array:
        if self.config.position_embedding_type == "absolute":
            return self.values["embeddings.position_embeddings.weight"][t]
        return textbook.sinusoidal(t, self.config.hidden_size)

    def activation(self, x: Array) -> Array:
        return textbook.each(ACTIVATIONS[self.config.hidden_act], None, x)


def plain_outputs(model: Any, batch: Batch) -> list[Array]:
    """What the model should give for a batch without labels: each sequence by itself, and 0 for padding."""
    *leading, length = batch.input_ids.shape
    arrays = (a.reshape(-1, length) for a in (batch.input_ids, batch.token_type_ids, batch.attention_mask != 0))
    found: list[list[Array]] = []
    for ids, types, real in zip(*arrays, strict=True):
        outputs = PlainBert(model).outputs(ids[real], types[real], np.flatnonzero(real))
        for n, output in enumerate(outputs):
            if output.ndim == 2:
                outputs[n] = np.zeros((length, output.shape[1]))
                outputs[n][real] = output
        found.append(outputs)
    whole = (np.array(of_all).reshape(*leading, *of_all[0].shape) for of_all in zip(*found, strict=True))
    return in_its_form(model, list(whole))


def in_its_form(model: Any, outputs: list[Array]) -> list[Array]:
    """As the model gives them: start and end apart, and one score for each choice."""
    if type(model).__name__ == "BertForQuestionAnswering":
        return [outputs[0][..., 0], outputs[0][..., 1]]
    return [outputs[0][..., 0]] if type(model).__name__ == "BertForMultipleChoice" else outputs
