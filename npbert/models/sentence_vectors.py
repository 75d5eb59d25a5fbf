"""BertForSentenceVectors: a vector for each text, trained on matching texts."""

from collections.abc import Callable
from functools import partial

import numpy as np

from npbert.compute import Array, DTypeLike
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers import CoSENT, CosineLoss, Identity, InBatchNegatives, Loss, TripletLoss, UnitLength
from npbert.models.bert import TextPooling
from npbert.models.config import BertConfig
from npbert.models.heads import TaskModel
from npbert.models.packed_batch import AnyBatch, PackedBatch, Reads

LOSSES: dict[str, Callable[[], Loss]] = {
    "in-batch": InBatchNegatives,
    "both-ways": partial(InBatchNegatives, both_ways=True),
    "triplet": TripletLoss,
    "cosent": CoSENT,
    "cosine": CosineLoss,
}
"""The losses by name; the last two are for pairs with a score."""


class BertForSentenceVectors(TaskModel):
    """vectors = pooling of BertModel(text), for each text separately.

    batch of (B, C, T) -> vectors (B, C, D) of the C texts of each group

    pooling: see TextPooling.
    normalize: scale vectors to length 1.
    loss_function: InBatchNegatives, CosineLoss, CoSENT or TripletLoss. Its targets are the labels of a batch: a number
    for each text (B, C), or for the last three a score for each group (B,).
    (Reimers & Gurevych 2019, "Sentence-BERT", section 3.)

    Raises: InputError for another pooling.
    """

    needs_whole_batch = True

    def __init__(
        self,
        config: BertConfig,
        *,
        rng: np.random.Generator | None,
        dtype: DTypeLike = np.float32,
        pooling: str = "mean",
        normalize: bool = False,
        loss_function: Loss | None = None,
    ) -> None:
        super().__init__(config, rng=rng, dtype=dtype)
        self.reads = Reads("first" if pooling == "cls" else "all", "of the loss", grouped=True)
        self.pooling_name, self.pooling = pooling, TextPooling(pooling)
        self.unit: Layer = UnitLength() if normalize else Identity()
        self.loss_function = loss_function or InBatchNegatives()

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> Array:
        packed = self.pack(batch)
        x = self.pooling(self.bert.encode(packed, tape), packed, tape)  # (B·C, D)
        return self.unit(x, tape).reshape(*packed.batch_shape, -1)

    def backward(self, dvectors: Array, tape: Tape) -> None:
        """Run back through the pooling of each text, and through BERT."""
        dx = self.unit.backward(dvectors.reshape(-1, dvectors.shape[2]), tape)
        self.bert.encode_backward(self.pooling.backward(dx, tape), tape)

    def rows(self, logits: Array, packed: PackedBatch) -> Array:
        """Return the vectors themselves."""
        return logits
