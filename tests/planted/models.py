"""Whole models gone wrong: right parts, wrong wiring."""

import numpy as np

from npbert.core import IGNORED, NO_TAPE, Parameter, Tape
from npbert.models import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForTokenClassification,
)
from tests.planted import checks, fails, plant


class Wrong:
    """Each of these methods takes the place of the right one, alone."""

    @plant("BertModel")
    def pooled_overwrites_hidden(self, doutput, tape):
        """At [CLS] the gradient of the pooler takes the place of the other one, where they should add."""
        dh = self.unpack.backward(doutput[0], tape)
        dpooled = self.pool_backward(doutput[1], tape)
        self.encode_backward(np.where(dpooled == 0, dh, dpooled), tape)

    @plant("BertForPreTraining", method="__init__", says="share memory")
    @fails(checks.a_table_is_stepped_once, BertForPreTraining, method="__init__")
    def table_is_two_parameters(self, config, **options):
        """The decoder wraps the table's array in a Parameter of its own: one value, two gradients, two steps."""
        BertForPreTraining.__init__(self, config, **options)
        self.predictions.table = Parameter(self.predictions.table.value)

    @plant("BertForPreTraining", method="loss", says="read-only")
    def labels_rewritten(self, batch, tape=NO_TAPE):
        """−100 is replaced in the caller's batch, so the next epoch has other targets."""
        losses = BertForPreTraining.loss(self, batch, tape)
        np.copyto(batch.labels, 0, where=batch.labels == IGNORED)
        return losses

    @plant("BertForTokenClassification", method="loss_backward")
    def loss_of_each_sequence(self, dloss, tape):
        """The gradient of the sum of the sequences' losses: as many times too large as there are sequences."""
        BertForTokenClassification.loss_backward(self, dloss * 3, tape)

    @plant("BertForQuestionAnswering")
    def start_and_end_swapped(self, doutput, tape):
        """The gradient of the start goes to the column of the end."""
        BertForQuestionAnswering.backward(self, doutput[::-1], tape)

    @plant("BertForQuestionAnswering")
    def scores_reshaped(self, doutput, tape):
        """(2, B, T) is made (B, T, 2) by a reshape, where a transposition is needed."""
        dscores = np.reshape(doutput, (*doutput[0].shape, 2))
        BertForQuestionAnswering.backward(self, (dscores[..., 0], dscores[..., 1]), tape)

    @plant("BertForQuestionAnswering", method="loss_backward")
    def two_losses_added(self, dloss, tape):
        """Backward is that of the sum of the two losses, where forward took the mean."""
        BertForQuestionAnswering.loss_backward(self, 2 * dloss, tape)

    @plant("BertForMultipleChoice")
    def choices_in_another_order(self, dlogits, tape):
        """The gradient (B, C) is laid out choice by choice, while the rows are question by question."""
        BertForMultipleChoice.backward(self, dlogits.T.reshape(dlogits.shape), tape)


@plant("BertForPreTraining", says="when another call comes between")
class KeepsItsTape(BertForPreTraining):
    """The model remembers its last call."""

    def loss(self, batch, tape=NO_TAPE):
        self.tape = Tape(tape.rng, keeps=tape.keeps)
        return super().loss(batch, self.tape)

    def loss_backward(self, dloss, tape):
        super().loss_backward(dloss, self.tape)
