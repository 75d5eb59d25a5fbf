"""Whole models gone wrong: right parts, wrong wiring."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.data import Batch
from npbert.layers import IGNORED, Array, Cache, Parameter
from npbert.models import BertConfig, BertForPreTraining, BertModel, PreTrainingLosses
from tests.planted.embeddings import DecoderForgetsTheTable, NeverLearned


class PooledOverwritesHidden(BertModel):
    """At [CLS] the gradient of the pooler takes the place of the other one, where they should add."""

    def backward(self, doutput: tuple[Array, Array], cache: Cache) -> None:
        dhidden, dpooled = doutput
        embeddings_cache, encoder_cache, pooler_cache, *_ = cache
        dh = dhidden.copy()
        dh[:, 0] = self.pooler.backward(dpooled, pooler_cache)[:, 0]
        self.embeddings.backward(self.encoder.backward(dh, encoder_cache), embeddings_cache)


class PooledLostBesideWhatIsRead(BertModel):
    """With some positions read, the gradient of the pooler is left out."""

    def backward(self, doutput: tuple[Array, Array], cache: Cache) -> None:
        dhidden, _ = doutput
        super().backward((dhidden, None), cache)


class ReadLostBesideThePooled(BertModel):
    """And the other way round."""

    def backward(self, doutput: tuple[Array, Array], cache: Cache) -> None:
        _, dpooled = doutput
        super().backward((None, dpooled), cache)


class TableLearnsFromTheInputOnly(BertForPreTraining):
    def __init__(self, config: BertConfig, **options: Any) -> None:
        super().__init__(config, **options)
        self.predictions = DecoderForgetsTheTable(self.bert.embeddings.word_embeddings.weight, **options)


class TableLearnsFromTheOutputOnly(BertForPreTraining):
    def __init__(self, config: BertConfig, **options: Any) -> None:
        super().__init__(config, **options)
        self.bert.embeddings.word_embeddings = NeverLearned(self.bert.embeddings.word_embeddings.weight)


class TableIsTwoParameters(BertForPreTraining):
    """The decoder wraps the table's array in a Parameter of its own: one value, two gradients, two steps."""

    def __init__(self, config: BertConfig, **options: Any) -> None:
        super().__init__(config, **options)
        self.predictions.table = Parameter(self.predictions.table.value)


class KeepsItsCache(BertForPreTraining):
    """The model remembers its last call."""

    def loss(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[PreTrainingLosses, Cache]:
        losses, self.remembered = super().loss(batch, rng)
        return losses, None

    def backward(self, cache: Cache, dloss: float = 1.0) -> None:
        super().backward(self.remembered, dloss)


class RewritesTheLabels(BertForPreTraining):
    """−100 is replaced in the caller's batch, so the next epoch has other targets."""

    def loss(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[PreTrainingLosses, Cache]:
        result = super().loss(batch, rng)
        batch.labels[batch.labels == IGNORED] = 0
        return result
