"""ElectraForPreTraining, which finds the replaced tokens of a text; and its training, with a generator."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from npbert.blocks import ReplacedTokenHead
from npbert.compute import Array, DTypeLike
from npbert.core import IGNORED, NO_TAPE, Init, Tape
from npbert.data import Batch
from npbert.io import LOGGER, InputError, model_folder
from npbert.layers import BinaryCrossEntropy, Softmax
from npbert.models.config import BertConfig
from npbert.models.heads import HeadModel, TaskLoss, TaskModel
from npbert.models.hugging_face.families import read_settings
from npbert.models.packed_batch import AnyBatch, PackedBatch, Reads
from npbert.models.pretraining import BertForMaskedLM

GENERATOR = "generator"
"""The folder of the generator, in the discriminator's folder."""

SHARE = 4
"""The generator has a quarter of the discriminator's heads, features and feed-forward. (Clark et al., section 3.2.)"""

WEIGHT = 50.0
"""The weight of the discriminator's loss, which is far smaller than the generator's. (Clark et al., appendix A.)"""


class ElectraForPreTraining(HeadModel):
    """logit of a token = ReplacedTokenHead(h)  with  h = BertModel(batch).last_hidden_state: the discriminator.

    batch -> logits (B, T), 0 for padding   labels (B, T): 1 for a replaced token, 0 for another, −100 for padding

    Users of ELECTRA use this part. (Clark et al. 2020, section 2.)
    """

    reads, head_name = Reads(labels="replaced"), "discriminator_predictions"

    def add_head(self, init: Init) -> None:
        config = self.config
        self.discriminator_predictions = ReplacedTokenHead(config.hidden_size, init, activation=config.hidden_act)
        self.loss_function = BinaryCrossEntropy()

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> Array:
        return super().forward(batch, tape)[:, :, 0]

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """Give the one column its gradient, and run back through the head."""
        super().backward(dlogits[:, :, None], tape)


class ReplacedTokenDetection(TaskModel):
    """loss = loss of the generator + 50 · loss of the discriminator, which reads the generator's words.

    The generator is a small BertForMaskedLM. At each masked place, a word is drawn from its probabilities, and the
    discriminator finds the tokens that are not the original ones. (A word drawn right is original.) Both share the
    tables of embeddings. (Clark et al. 2020, "ELECTRA", sections 2 and 3.2.)

    config: of the discriminator, or of a BERT of its sizes
    batch: as for BertForMaskedLM. Words are drawn with the tape's rng; without one, always the same.
    """

    reads = BertForMaskedLM.reads

    def __init__(
        self,
        config: BertConfig,
        *,
        rng: np.random.Generator | None,
        dtype: DTypeLike = np.float32,
        generator: BertForMaskedLM | None = None,
        discriminator: ElectraForPreTraining | None = None,
    ) -> None:
        if config.architecture.model_type != "electra":  # a BERT's: the embeddings are as wide as the layers
            width = config.hidden_size
            stored = {"model_type": "electra", "hidden_size": width, "embedding_size": width}
            config = replace(config, architecture=read_settings(stored)["architecture"])
        self.config = config
        self.generator = generator or BertForMaskedLM(_smaller(config), rng=rng, dtype=dtype)
        self.discriminator = discriminator or ElectraForPreTraining(config, rng=rng, dtype=dtype)
        shared = copy(self.discriminator.bert.embeddings)  # all but the projection
        shared.projection = self.generator.bert.embeddings.projection
        self.generator.bert.embeddings = shared
        self.generator.predictions.table = shared.word_embeddings.weight

    @classmethod
    def from_pretrained(
        cls, folder: str | Path, *, rng: np.random.Generator | None = None, **options: Any
    ) -> ReplacedTokenDetection:
        """Return the discriminator in `folder`, with the generator in its folder `generator`, or else a new one.

        Raises: InputError for a model that is not an ELECTRA; the errors of PreTrainedModel.from_pretrained.
        """
        rng = rng or np.random.default_rng(0)
        discriminator = ElectraForPreTraining.from_pretrained(folder, rng=rng, **options)
        config, own = discriminator.config, model_folder(folder) / GENERATOR
        if config.architecture.model_type != "electra":
            raise InputError("model", str(folder), "the folder of an ELECTRA, for replaced tokens")
        generator = BertForMaskedLM.from_pretrained(own, rng=rng, **options) if own.is_dir() else None
        if generator is None:
            LOGGER.info("the generator is new, and learns from the beginning (there is no %s)", own)
        dtype = options.get("dtype", np.float32)
        return cls(config, rng=rng, dtype=dtype, generator=generator, discriminator=discriminator)

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the discriminator into `folder`, for later use, and the generator into its folder `generator`. Raises:
        as PreTrainedModel.save_pretrained."""
        self.discriminator.save_pretrained(folder, overwrite=overwrite)
        self.generator.save_pretrained(Path(folder) / GENERATOR, overwrite=overwrite)

    def loss(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> TaskLoss:
        """Return the generator's mean loss over the masked tokens, and the discriminator's over all. Raises: as
        BertForMaskedLM."""
        packed = self.pack(batch)
        words, of_generator = packed.labels, self.generator.loss_function
        logits = self.generator(packed, tape)
        mlm_loss = of_generator(logits, words, tape)
        rtd = self.discriminator.loss(replaced(packed, draw_words(logits, tape.rng)), tape)
        right = of_generator.count_right(logits, words), *rtd.counts_right
        return TaskLoss(mlm_loss + WEIGHT * rtd.loss, (mlm_loss, rtd.loss), right)

    def loss_backward(self, dloss: float | tuple[float, float], tape: Tape) -> None:
        """Run back from the loss to every parameter: first the discriminator, then the generator.

        No gradient flows between them: a drawn word does not change when a logit changes a little. So the generator
        learns only from its own loss. dloss: as in BertForPreTraining.
        """
        dmlm_loss, drtd_loss = np.broadcast_to(dloss, 2)
        self.discriminator.loss_backward(WEIGHT * drtd_loss, tape)
        self.generator.backward(self.generator.loss_function.backward(dmlm_loss, tape), tape)

    def target_counts(self, batch: AnyBatch) -> tuple[int, int]:
        """Return the numbers of masked tokens and of all tokens. Raises: as loss."""
        packed = self.pack(batch)
        return len(packed.labels), packed.sequences.num_rows


def _smaller(config: BertConfig) -> BertConfig:
    """Return the configuration of the generator: a share of the heads, at least one, and the other sizes in
    proportion."""
    heads = max(1, config.num_attention_heads // SHARE)
    width, embedded = config.hidden_size // config.num_attention_heads * heads, config.architecture.embedding_size
    embedded = embedded or config.hidden_size  # as wide as the discriminator's, to share them
    return replace(
        config,
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=max(1, config.intermediate_size * heads // config.num_attention_heads),
        architecture=replace(config.architecture, embedding_size=None if embedded == width else embedded),
    )


def draw_words(logits: Array, rng: np.random.Generator | None) -> Array:
    """Return a word (n,) for each row of logits (n, V), drawn from its softmax: the first word whose cumulative
    probability passes a random number. rng: None for always the same numbers."""
    draws = (rng or np.random.default_rng(0)).random((len(logits), 1))
    sums = np.cumsum(Softmax()(logits), axis=1)
    return (sums < draws * sums[:, -1:]).sum(axis=1)


def replaced(packed: PackedBatch, words: Array) -> Batch:
    """Return a batch's text with `words` (n,) in place of its masked words, and labels: 1 for a token that is not the
    original one."""
    batch, places = packed.batch, packed.labelled_places
    ids = batch.input_ids.copy()
    labels = np.where(packed.is_real, 0, IGNORED)
    ids.reshape(-1)[places] = words
    labels.reshape(-1)[places] = words != packed.labels
    return Batch(ids, batch.token_type_ids, batch.attention_mask, labels)
