"""Embed: a vector for each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.blocks import MeanPooling
from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer import Text, Tokenizer
from npbert.inference.task import Task
from npbert.models import BertModel
from npbert.models.packed_batch import PackedBatch, first_places

POOLINGS = ("mean", "cls", "pooler")


class Embed(Task):
    """embed(texts) -> an array (N, D), a vector a text; embed(text) -> (D,).

    pooling: `mean` of the real tokens; `cls`, the vector of [CLS]; `pooler`, that of [CLS] after the pooler, as the
    heads read it. layer: the hidden state that is pooled, 0 (embeddings) to L, or −1 (the last) and so on; not for
    `pooler`. normalize: make every vector of length 1, so that a dot product is a cosine.

    Warns: of texts that are longer than the model takes, and are cut.
    Raises: ValueError for another pooling, or a layer that the pooler does not read; IndexError for a layer that the
    model does not have.
    """

    model_class = BertModel

    def __init__(
        self, model: BertModel, tokenizer: Tokenizer, *, pooling: str = "mean", layer: int = -1, normalize: bool = False
    ) -> None:
        super().__init__(model, tokenizer)
        if pooling not in POOLINGS:
            raise ValueError(f"pooling is {pooling!r}, wanted one of {', '.join(POOLINGS)}")
        last = model.config.num_hidden_layers
        if not -last - 1 <= layer <= last:
            raise IndexError(f"layer is {layer}, wanted 0 to {last}, or {-last - 1} to -1 from the end")
        if pooling == "pooler" and layer not in (-1, last):
            raise ValueError(f"layer is {layer}, but the pooler reads only the last")
        self.pooling, self.layer, self.normalize = pooling, layer, normalize
        self.mean = MeanPooling()

    @classmethod
    def model_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Only one pooling needs the pooler; the others read checkpoints without one, too."""
        return {"add_pooling_layer": options.get("pooling") == "pooler"}

    def __call__(self, texts: str | Sequence[Text]) -> Array:
        if isinstance(texts, str):
            vector: Array = self([texts])[0]
            return vector
        vectors = self.run(self.encode(texts), self._pool)
        stacked = np.stack(vectors) if vectors else np.empty((0, self.model.config.hidden_size), np.float32)
        if self.normalize:
            stacked = stacked / np.linalg.norm(stacked, axis=1, keepdims=True)
        return stacked

    def _pool(self, batch: Batch, _: Sequence[int]) -> Array:
        model = self.model
        is_last = self.layer in (-1, model.config.num_hidden_layers)
        only_first = self.pooling != "mean" and is_last
        packed = PackedBatch(batch, model.config, first_places(batch) if only_first else None)
        number = self.layer % (model.config.num_hidden_layers + 1)
        h = model.encode(packed) if is_last else model.hidden_rows(packed, {number})[number]
        if self.pooling == "pooler":
            return model.pool(h, packed)
        if self.pooling == "cls":
            return h[packed.first]
        vectors = np.empty((len(packed.order), h.shape[1]), h.dtype)
        vectors[packed.order] = self.mean(h, packed.sequences)
        return vectors
