"""Embeddings, gathers and pooling gone wrong: what is read by id, and rows that go to another place."""

import math

import numpy as np

from npbert.blocks import MaskedLMHead, MeanPooling
from npbert.core import NO_TAPE
from npbert.layers import Embedding, Gather
from npbert.models.packed_batch import PackedBatch
from tests.planted import checks, fails, plant

wrong_rows = fails(checks.a_batch_is_its_sequences, PackedBatch, method="__init__")


class Wrong:
    """Each of these methods takes the place of the right one, alone."""

    @plant("Embedding", says="does not mind a dy of shape")
    def takes_any_dy(self, dy, tape):
        """Rows of dy beyond those that were read are left out without a word."""
        np.add.at(self.weight.grad, ids := tape.take(self), dy[: len(ids)])

    @fails(checks.bad_ids_are_refused, Embedding, method="forward")
    def ids_not_checked(self, ids, tape=NO_TAPE):
        """Id −1 is the last row."""
        return self.weight.value[ids]

    @plant("BertEmbeddings", part="position_embeddings")
    @plant("BertEmbeddings", part="token_type_embeddings")
    @plant("BertForPreTraining", part="model.bert.embeddings.word_embeddings")
    def never_learned(self, dy, tape):
        """Reads a table, and leaves it as it was drawn."""
        tape.take(self)

    @plant("BertEmbeddings", part="word_embeddings", says="but the tape still holds what")
    def take_forgotten(self, dy, tape):
        """The words are the first to be read, and their backward is forgotten."""

    @plant("Gather")
    @plant("Encoder, some rows read", part="gather")
    def last_repeated_row_wins(self, dy, tape):
        """A row that was read twice gets one of its two gradients: they are set, not added."""
        shape, *_, rows = tape.take(self)
        dx = np.zeros(shape, dy.dtype)
        dx[rows] = dy
        return dx

    @plant("Gather")
    @plant("BertForPreTraining", part="model.gather")
    def order_of_reading_lost(self, dy, tape):
        """The gradients come back in the order of the rows, not in that of reading."""
        shape, *_, rows = tape.take(self)
        dx = np.zeros(shape, dy.dtype)
        np.add.at(dx, np.sort(rows), dy)
        return dx

    @plant("BertForMaskedLM", part="model.gather")
    def scattered_from_the_first_row(self, dy, tape):
        """The gradient of the M rows that were read goes to the first M rows."""
        shape, *_ = tape.take(self)
        return np.concatenate([dy, np.zeros((shape[0] - len(dy), *shape[1:]))])

    @plant("BertForPreTraining", part="model.gather")
    @plant("BertForPreTraining", part="model.bert.gather")
    def read_in_vain(self, dy, tape):
        """What was read gets no gradient: it is lost beside that of the other head."""
        return 0 * Gather.backward(self, dy, tape)

    @plant("BertModel", part="gather")
    def every_row_is_pooled(self, dy, tape):
        """The gradient of [CLS] goes to all rows of its sequence: repeating it makes it fit."""
        dx = Gather.backward(self, dy, tape)
        read = (dx != 0).any(axis=1)
        return dx[read][np.cumsum(read) - 1]

    @plant("Unpack")
    @plant("BertForTokenClassification", "BertForQuestionAnswering", part="model.unpack")
    def taken_from_the_first_places(self, dy, tape):
        """dx is dy at the first N places, which are the right ones as long as there is no padding."""
        places, shape, *_ = tape.take(self)
        return dy.reshape(math.prod(shape[:2]), dy.shape[-1])[: len(places)]

    @plant("MeanPooling")
    def divided_by_the_longest(self, dy, tape):
        """Backward divides by T, where forward divided by the number of tokens of each sequence."""
        sequences, *_ = tape.take(self)
        return np.repeat(dy / sequences.lengths.max(), sequences.lengths, axis=0)

    @plant("MeanPooling")
    def rows_of_the_neighbour_learn(self, dy, tape):
        """The rows are shared out by the lengths of the sequences in another order."""
        sequences, lengths, *_ = tape.take(self)
        return np.repeat(dy / lengths, sequences.lengths[::-1], axis=0)

    @fails(checks.a_mean_of_ones_is_one, MeanPooling, method="forward")
    def padding_is_pooled(self, x, sequences, tape=NO_TAPE):
        """The sum is divided by the length of the longest sequence."""
        return MeanPooling.forward(self, x, sequences, tape) * (sequences.lengths / sequences.lengths.max())[:, None]

    @plant("MaskedLMHead")
    @plant("BertForPreTraining", "BertForMaskedLM", part="model.predictions")
    def decoder_forgets_the_table(self, dlogits, tape):
        """Learns its own transform and bias, but leaves the table to the embedding."""
        before = self.table.grad.copy()
        dx = MaskedLMHead.backward(self, dlogits, tape)
        self.table.grad[...] = before
        return dx

    @plant("MaskedLMHead", says="is set by backward")
    def decoder_sets_the_table(self, dlogits, tape):
        """Right alone, after `zero_grad`; beside an embedding it depends on who comes last."""
        self.table.zero_grad()
        return MaskedLMHead.backward(self, dlogits, tape)

    @wrong_rows
    def places_in_the_order_of_the_batch(self, *given):
        """The rows are sorted by length, and what is computed from them goes back as if they were not."""
        PackedBatch.__init__(self, *given)
        self.places = np.sort(self.places)

    @wrong_rows
    def positions_run_on(self, *given):
        """Positions are counted through the batch, not anew in each sequence."""
        PackedBatch.__init__(self, *given)
        self.positions = np.arange(len(self.positions)) % self.shape[1]

    @wrong_rows
    def types_left_behind(self, batch, *given):
        """The ids are sorted by length, and the token types are not."""
        PackedBatch.__init__(self, batch, *given)
        self.token_type_ids = batch.token_type_ids[batch.attention_mask == 1]

    @wrong_rows
    def padding_taken_for_real(self, batch, *given):
        """The mask is not looked at, so [PAD] is a word like others."""
        PackedBatch.__init__(self, type(batch)(batch.input_ids, batch.token_type_ids), *given)

    @wrong_rows
    def first_of_another_sequence(self, *given):
        """The pooler reads the first rows in the order of the rows, not in that of the batch."""
        PackedBatch.__init__(self, *given)
        self.first = np.sort(self.first)

    @fails(checks.a_batch_is_its_sequences, PackedBatch, method="where")
    def rows_in_their_own_order(self, places):
        """The heads get the rows that they asked for, in ascending order."""
        return np.sort(PackedBatch.where(self, places))
