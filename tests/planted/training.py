"""Losses, micro-batches and optimisers gone wrong, and work in blocks that forgets some."""

import numpy as np

from npbert.compute import BLOCK, rowwise
from npbert.core import NO_TAPE, Tape
from npbert.data import Batch, collate
from npbert.layers import MeanSquaredError, Softmax, SoftmaxCrossEntropy
from npbert.optim import Adam, clip_by_global_norm
from tests.planted import checks, fails, plant

wrong_adam = fails(checks.adam_is_that_of_the_paper, Adam, method="step")


class Wrong:
    """Each of these methods takes the place of the right one, alone."""

    @fails(checks.ignored_rows_have_no_say, SoftmaxCrossEntropy, method="forward")
    def padding_is_counted(self, logits, labels, tape=NO_TAPE):
        """The mean is over all rows, so those that are ignored water down the loss."""
        return SoftmaxCrossEntropy.forward(self, logits, labels, tape) * (labels >= 0).mean()

    @fails(checks.ignored_rows_have_no_say, SoftmaxCrossEntropy, method="forward")
    def ignored_is_an_index(self, logits, labels, tape=NO_TAPE):
        """−100 picks the probability of class C − 100, and no error says so."""
        return SoftmaxCrossEntropy.forward(self, logits, labels % logits.shape[1], tape)

    @fails(checks.ignored_rows_have_no_say, SoftmaxCrossEntropy, method="forward")
    def ignored_is_the_first_class(self, logits, labels, tape=NO_TAPE):
        """−100 becomes class 0."""
        return SoftmaxCrossEntropy.forward(self, logits, np.maximum(labels, 0), tape)

    @plant("MeanSquaredError")
    @plant("BertForSequenceClassification, regression", part="model.loss_function")
    def squares_without_their_factor(self, dloss, tape):
        """The 2/N of a mean of squares is forgotten."""
        difference = tape.take(self)
        return difference * dloss, -difference * dloss

    @plant("BertForSequenceClassification, regression", part="model.loss_function")
    def gradient_of_the_targets(self, dloss, tape):
        """The squared error hands back two gradients, and the model takes the second."""
        return MeanSquaredError.backward(self, dloss, tape)[::-1]

    @wrong_adam
    def beta1_in_the_second_moment(self, scale=1.0):
        """β₁ also weighs the squares."""
        self.betas = self.betas[0], self.betas[0]
        Adam.step(self, scale)

    @wrong_adam
    def no_bias_correction(self, scale=1.0):
        """The first steps are too small, as if very many had been before them."""
        self.steps += 10**6
        Adam.step(self, scale)

    @wrong_adam
    def steps_counted_for_each_parameter(self, scale=1.0):
        """The counter runs on within one step, so there is less correction."""
        self.steps += len(self.parameters) - 1
        Adam.step(self, scale)

    @wrong_adam
    def steps_shared_by_all_optimizers(self, scale=1.0):
        """The counter belongs to the class, so a second optimiser goes on where the first one is."""
        self.steps = type(self).shared = getattr(type(self), "shared", -1) + 1
        Adam.step(self, scale)

    @fails(checks.a_parameter_given_twice_is_stepped_once, Adam, method="__init__")
    def steps_what_it_is_given(self, parameters, **options):
        """A parameter that is listed twice is stepped twice."""
        Adam.__init__(self, parameters, **options)
        self.parameters = parameters
        self.first_moments = [np.zeros_like(parameter.value) for parameter in parameters]
        self.second_moments = [np.zeros_like(parameter.value) for parameter in parameters]


@plant("BertForMultipleChoice", part="model.loss_function")
class ChoicesOfAllQuestionsCompete(SoftmaxCrossEntropy):
    """Backward has the softmax over the questions."""

    def forward(self, logits, labels, tape=NO_TAPE):
        tape.keep(self, logits, labels)
        return super().forward(logits, labels)

    def backward(self, dloss, tape):
        logits, labels = tape.take(self)
        return (Softmax()(logits.T).T - np.eye(logits.shape[1])[labels]) * (dloss / len(labels))


@fails(checks.padding_is_no_target, collate)
def collate_with_targets_on_padding(examples, *, pad_id, length):
    """The model is asked to predict [PAD] wherever there is padding."""
    batch = collate(examples, pad_id=pad_id, length=length)
    batch.labels = np.where(batch.attention_mask == 0, pad_id, batch.labels)
    return batch


@fails(checks.padding_alone_is_refused, Batch)
def batch_of_whatever_it_is_given(input_ids, token_type_ids, attention_mask):
    """A sequence that is all padding goes through, and its softmax over nothing is NaN."""
    batch = Batch(input_ids, token_type_ids)
    batch.attention_mask = np.array(attention_mask)
    return batch


def accumulate_by_targets(layer, loss, pieces):
    """The gradient of the mean over all targets: each piece weighs as much as it has targets."""
    counts = [np.count_nonzero(labels >= 0) for _, labels in pieces]
    for count, (x, labels) in zip(counts, pieces, strict=True):
        _accumulate(layer, loss, x, labels, dloss=count / sum(counts))


@fails(checks.micro_batches_add_up, accumulate_by_targets)
def accumulate_means_of_means(layer, loss, pieces):
    """Every piece weighs the same, however few targets it has."""
    for x, labels in pieces:
        _accumulate(layer, loss, x, labels, dloss=1 / len(pieces))


def _accumulate(layer, loss, x, labels, *, dloss):
    tape = Tape()
    loss.forward(layer.forward(x, tape), labels, tape)
    layer.backward(loss.backward(dloss, tape), tape)


@fails(checks.clipping_keeps_the_direction, clip_by_global_norm)
def clip_each_by_itself(parameters, max_norm):
    """Every gradient gets a norm of its own."""
    for parameter in parameters:
        clip_by_global_norm([parameter], max_norm)


@fails(checks.all_rows_are_computed, rowwise)
def rowwise_without_the_rest(expression, x):
    """Blocks of equal size: the rows that are left over belong to none."""
    y, size = np.full(x.shape, np.nan), max(1, BLOCK * len(x) // x.size)
    for start in range(0, len(x) // size * size, size):
        y[start : start + size] = expression(x[start : start + size])
    return y
