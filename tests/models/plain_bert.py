"""BERT once more, as its formulas stand in the papers: what npbert's models are compared with, in NumPy alone.

One sequence at a time, without padding, without a row that is left out, without anything of npbert's but the numbers in
the parameters and the random bits of dropout.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npbert import (
    Batch,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    Dropout,
)
from npbert.compute import Array

ACTIVATIONS = {
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "gelu_new": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "gelu_pytorch_tanh": lambda x: ACTIVATIONS["gelu_new"](x),
    "relu": lambda x: np.where(x > 0, x, 0.0),
}
TOKEN_HEADS = {
    BertModel: lambda plain, h: h,
    BertForPreTraining: lambda plain, h: plain.words(h),
    BertForMaskedLM: lambda plain, h: plain.words(h),
    BertForTokenClassification: lambda plain, h: plain.classifier(h),
    BertForQuestionAnswering: lambda plain, h: plain.linear("qa_outputs", h),
}
SEQUENCE_HEADS = {
    BertModel: lambda plain, pooled: pooled,
    BertForPreTraining: lambda plain, pooled: plain.linear("seq_relationship", pooled),
    BertForSequenceClassification: lambda plain, pooled: plain.classifier(pooled),
    BertForMultipleChoice: lambda plain, pooled: plain.classifier(pooled),
}


class PlainBert:
    """A model's numbers, and what they give for sequences of one length: arrays are (…, T, D).

    rng: for dropout, as the tape's.
    """

    def __init__(self, model: Any, rng: np.random.Generator | None = None) -> None:
        self.model_class, self.config, self.rng = type(model), model.config, rng
        self.values = {name.removeprefix("bert."): parameter.value for name, parameter in model.named_parameters()}

    def output(self, ids: Array, types: Array, positions: Array) -> tuple[Any, Any]:
        """What each token gets (…, T, ·), and what each sequence gets (…, ·); None where the model has no such head."""
        head, sequence_head = (heads.get(self.model_class) for heads in (TOKEN_HEADS, SEQUENCE_HEADS))
        h = self.states(ids, types, positions, only_first_looks=head is None)[-1]
        tokens = head and head(self, h)
        return tokens, sequence_head and sequence_head(self, np.tanh(self.linear("pooler.dense", h[..., 0, :])))

    def states(self, ids: Array, types: Array, positions: Array, *, only_first_looks: bool = False) -> list[Array]:
        """The embeddings and what each layer makes of them; of the last layer only the first token may be wanted."""
        word, kind = (self.values[f"embeddings.{name}_embeddings.weight"] for name in ("word", "token_type"))
        total = word[ids] + self._positions(positions) + kind[types]
        states = [self.drop(self.norm("embeddings.layer_norm", total), self.config.hidden_dropout_prob)]
        for layer in range(self.config.num_hidden_layers):
            x = states[-1]
            if only_first_looks and layer == self.config.num_hidden_layers - 1:
                x = x[..., :1, :]
            states.append(self.layer(f"encoder.layers.{layer}", x, states[-1]))
        return states

    def layer(self, name: str, x: Array, z: Array) -> Array:
        p = self.drop(self.probabilities(name, x, z), self.config.attention_probs_dropout_prob)
        c = (p @ self._heads(self.linear(f"{name}.attention.value", z))).swapaxes(-2, -3).reshape(x.shape)
        c = self.drop(self.linear(f"{name}.attention.output", c), self.config.hidden_dropout_prob)
        h = self.norm(f"{name}.attention_norm", x + c)
        f = ACTIVATIONS[self.config.hidden_act](self.linear(f"{name}.feed_forward.intermediate", h))
        f = self.drop(self.linear(f"{name}.feed_forward.output", f), self.config.hidden_dropout_prob)
        return self.norm(f"{name}.output_norm", h + f)

    def probabilities(self, name: str, x: Array, z: Array) -> Array:
        """(…, H, R, T): how much each row of x takes from each row of z."""
        q, k = self._heads(self.linear(f"{name}.attention.query", x)), self._heads(self.linear(f"{name}.attention.key", z))
        weights = np.exp(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]))
        return weights / weights.sum(axis=-1, keepdims=True)

    def linear(self, name: str, x: Array) -> Array:
        return x @ self.values[f"{name}.weight"] + self.values[f"{name}.bias"]

    def norm(self, name: str, x: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self.config.layer_norm_eps)
        return self.values[f"{name}.gamma"] * centred / sigma + self.values[f"{name}.beta"]

    def words(self, h: Array) -> Array:
        h = ACTIVATIONS[self.config.hidden_act](self.linear("predictions.dense", h))
        h = self.norm("predictions.layer_norm", h)
        return h @ self.values["embeddings.word_embeddings.weight"].T + self.values["predictions.bias"]

    def classifier(self, h: Array) -> Array:
        rate = self.config.classifier_dropout
        return self.linear("classifier", self.drop(h, self.config.hidden_dropout_prob if rate is None else rate))

    def drop(self, x: Array, rate: float) -> Array:
        keep = Dropout(rate).draw(x.shape, self.rng)
        return x if keep is None else x * keep / (1 - rate)

    def _heads(self, x: Array) -> Array:
        return x.reshape(*x.shape[:-1], self.config.num_attention_heads, -1).swapaxes(-2, -3)

    def _positions(self, positions: Array) -> Array:
        if self.config.position_embedding_type == "absolute":
            return self.values["embeddings.position_embeddings.weight"][positions]
        j = np.arange(self.config.hidden_size)
        angles = positions[..., None] / 10000 ** (j // 2 * 2 / len(j))
        return np.where(j % 2, np.cos(angles), np.sin(angles))


def plain_outputs(model: Any, batch: Batch) -> list[Array]:
    """What the model should give for a batch without labels: each sequence by itself, and 0 for padding."""
    length, plain = batch.input_ids.shape[-1], PlainBert(model)
    ids, types, mask = (a.reshape(-1, length) for a in (batch.input_ids, batch.token_type_ids, batch.attention_mask))
    tokens, sequences = [], []
    for i, t, real in zip(ids, types, mask != 0, strict=True):
        (positions,) = np.nonzero(real)
        of_tokens, of_sequence = plain.output(i[real], t[real], positions)
        sequences.append(of_sequence)
        if of_tokens is not None:
            tokens.append(np.zeros((length, of_tokens.shape[-1])))
            tokens[-1][real] = of_tokens
    outputs = [np.array(tokens)] if tokens else []
    if isinstance(model, BertForQuestionAnswering):
        return [outputs[0][:, :, 0], outputs[0][:, :, 1]]
    if sequences[0] is not None:
        sequences = np.array(sequences)
        outputs.append(sequences.reshape(batch.input_ids.shape[:2]) if batch.input_ids.ndim == 3 else sequences)
    return outputs
