"""Features: what a model thinks on the way, the hidden states and the attention of each layer."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from npbert.blocks import BertEmbeddings, Encoder
from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.layers import Unpack
from npbert.models.config import BertConfig
from npbert.models.packed_batch import PackedBatch


class Features:
    """The part of BertModel that shows what is inside. (Devlin et al. 2018, section 5.3.)"""

    config: BertConfig
    embeddings: BertEmbeddings
    encoder: Encoder
    unpack: Unpack

    def hidden_states(self, batch: Batch, layers: Collection[int] | None = None) -> dict[int, Array]:
        """The hidden states (B, T, D) by layer: 0 is the embeddings, L the last layer; all of them, or just `layers`.

        0 for padding. A number below 0 counts from the end, and stays the key.

        Raises: IndexError for a layer that the model does not have, and what the model raises for a batch.
        """
        numbers = self._layer_numbers(layers, 0)
        packed = PackedBatch(batch, self.config)
        states = self.hidden_rows(packed, set(numbers.values()))
        return {asked: self.unpack(states[number], packed.places, packed.shape) for asked, number in numbers.items()}

    def attention_probabilities(self, batch: Batch, layers: Collection[int] | None = None) -> dict[int, Array]:
        """What each token takes from each other, (B, H, T, T) by layer, 1 to L; all of them, or just `layers`.

        A row is a query and sums to 1, a column is a key; 0 for padding, as either. Layer l reads hidden state l − 1. A
        number below 0 counts from the end, and stays the key.

        Raises: as hidden_states.
        """
        numbers = self._layer_numbers(layers, 1)
        packed = PackedBatch(batch, self.config)
        inputs = self.hidden_rows(packed, {number - 1 for number in numbers.values()})
        batch_size, length = packed.shape
        starts = (packed.sequences.ends - packed.sequences.lengths).tolist()
        found = {}
        for asked, number in numbers.items():
            attention = self.encoder.layers[number - 1].attention
            of_sequences = attention.probabilities(inputs[number - 1], packed.sequences)
            shape = batch_size, self.config.num_attention_heads, length, length
            found[asked] = np.zeros(shape, of_sequences[0].dtype)
            for sequence, start, p in zip(packed.order, starts, of_sequences, strict=True):
                t = packed.positions[start : start + p.shape[-1]]
                found[asked][sequence][:, t[:, None], t] = p
        return found

    def hidden_rows(self, packed: PackedBatch, numbers: set[int]) -> dict[int, Array]:
        """The hidden states of the rows (N, D), of the layers with these numbers: 0 is the embeddings, L the last."""
        h = self.embeddings(packed.input_ids, packed.token_type_ids, packed.positions)
        states = {0: h}
        for number, layer in enumerate(self.encoder.layers[: max(numbers, default=0)], start=1):
            h = layer(h, h, packed.sequences)
            if number in numbers:
                states[number] = h
        return states

    def _layer_numbers(self, layers: Collection[int] | None, first: int) -> dict[int, int]:
        """The number from `first` to L of each layer that is asked for; −1 means L."""
        last = len(self.encoder.layers)
        asked = range(first, last + 1) if layers is None else layers
        numbers = {layer: layer if layer >= 0 else last + 1 + layer for layer in asked}
        for layer, number in numbers.items():
            if not first <= number <= last:
                raise IndexError(
                    f"layer is {layer}, wanted {first} to {last}, or {first - last - 1} to -1 from the end"
                )
        return numbers
