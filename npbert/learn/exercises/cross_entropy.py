"""Exercise 5: softmax with cross-entropy, where some labels are ignored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import IGNORED, Tape
from npbert.layers import SoftmaxCrossEntropy
from npbert.layers.cross_entropy import _exponentials
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Mistakes
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file, function_source

LABELS = np.array([IGNORED, 4, 0, 2, IGNORED, 4, 1, 3, IGNORED, 4, IGNORED])
SETTING = Setting(
    SoftmaxCrossEntropy, lambda cls, init: cls(), lambda rng: (rng.standard_normal((11, 5)), LABELS.copy())
)
WRONG = Mistakes(SoftmaxCrossEntropy, "backward")

TEXT = """
The loss says how surprised the model is by the right answers: for each row that has a label, −log of the probability
that softmax gives to it, and of these numbers the mean. Rows whose label is −100 (IGNORED) have no target: they have no
say in the loss.

With softmax in front, the logarithm cancels nearly everything: log p = logit − log Σ e^logits. Take the derivative of
that by one logit. backward is given dloss, one number, and it is not always 1: a loss may be weighted, or be one of two
that are added.
"""
BLANK = Blank(
    "backward",
    """Return dlogits (N, C), of the shape of logits; 0 in the rows that are ignored.

    is_target (N,): True where a row has a label   targets (n,): the labels of these n rows
    scores (n, C): their logits   largest, total (n, 1): of each row the maximum, and Σ e^(score − maximum)
    """,
)
HINTS = (
    "For one row: loss = −(logit[label] − log Σₖ e^(logit[k])). The first term moves with the logit of the label "
    "alone; the second with all of them: its slope by logit[k] is e^(logit[k]) / Σ e^logits, which is p[k].",
    "So a row gives p − onehot(label). The loss is the mean over the n targets, so divide by n, not by N; and by the "
    "chain rule multiply by dloss. p is np.exp(scores - largest) / total.",
    "dscores = p; dscores[np.arange(n), targets] -= 1; dscores *= dloss / n. Then put them where they belong: "
    "dlogits = np.zeros((len(is_target), C)); dlogits[is_target] = dscores.",
)


def _backward(
    layer: SoftmaxCrossEntropy,
    dloss: float,
    tape: Tape,
    *,
    row: Callable[[Array, Array], Array] = lambda p, onehot: p - onehot,
    share: Callable[[int, int], float] = lambda n, all_rows: 1 / n,
) -> Array:
    """The right backward, but for another gradient of a row, or another share of each row."""
    is_target, targets, scores, largest, total = tape.take(layer)
    p = np.exp(scores - largest) / total
    dlogits = np.zeros((len(is_target), p.shape[1]))
    dlogits[is_target] = row(p, np.eye(p.shape[1])[targets]) * (dloss * share(len(targets), len(is_target)))
    return dlogits


@WRONG(
    "dlogits is divided by all rows, but the loss is the mean over the targets alone.",
    "Rows that are ignored have no say in the loss, so they are not counted in its mean, either: divide by "
    "len(targets).",
)
def divided_by_all_rows(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, dloss, tape, share=lambda n, all_rows: 1 / all_rows)


@WRONG(
    "dlogits is the gradient of the sum over the targets, but the loss is their mean.",
    "forward ends with .mean(): each target has a share of 1/n in the loss, n = len(targets), and so in the gradient.",
)
def sum_over_the_targets(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, dloss, tape, share=lambda n, all_rows: 1)


@WRONG(
    "dlogits is divided by the number of targets and once more by the number of classes.",
    "The mean is over the targets only. Within a row nothing is averaged: the p of all classes add up to 1.",
)
def divided_by_the_classes_too(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, dloss, tape, row=lambda p, onehot: (p - onehot) / p.shape[1])


@WRONG(
    "dloss is not used: dlogits is that of a loss whose own gradient is 1.",
    "The loss may be weighted, or a part of a larger one. By the chain rule everything is multiplied by dloss.",
)
def dloss_is_ignored(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, 1.0, tape)


@WRONG(
    "dlogits is p alone: the 1 at the label was not subtracted.",
    "The loss is −logit[label] + log Σ e^logits. The second term gives p, and the first one gives −1 at the label: "
    "p − onehot(label).",
)
def label_forgotten(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, dloss, tape, row=lambda p, onehot: p)


@WRONG(
    "Only the logit of the label has a gradient; the other classes have 0.",
    "The loss names p[label] alone, but softmax divides by the sum over all classes: raising another logit lowers "
    "p[label]. Its gradient is its own p. So p − onehot(label) has no zeros.",
)
def label_alone(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, dloss, tape, row=lambda p, onehot: (p - 1) * onehot)


@WRONG(
    "dlogits has the wrong sign: it is onehot(label) − p, and should be p − onehot(label).",
    "A gradient points to where the loss grows. Raising the logit of the label lowers the loss, so its gradient is "
    "negative: p − 1.",
)
def sign_turned(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, -dloss, tape)


@WRONG(
    "dlogits is (p − onehot) · p (1 − p): the derivative of softmax was applied twice.",
    "p − onehot(label) is the gradient of the logits already: softmax and logarithm are one layer here. p (1 − p) "
    "belongs to a sigmoid that stands by itself.",
)
def softmax_undone_twice(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, dloss, tape, row=lambda p, onehot: (p - onehot) * p * (1 - p))


@WRONG(
    "dlogits is −onehot / p, which is the gradient of p, not of the logits.",
    "That is the derivative of −log p. There is one more step, from p back to the logits; both together are p − "
    "onehot.",
)
def gradient_of_p(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, dloss, tape, row=lambda p, onehot: -onehot / p)


@WRONG(
    "p is not divided by its sum: e^(score − largest) is no probability yet.",
    "total holds Σ e^(score − largest) of each row: p = np.exp(scores - largest) / total adds up to 1.",
)
def not_normalised(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    is_target, targets, scores, largest, _ = tape.take(self)
    dlogits = np.zeros((len(is_target), scores.shape[1]))
    dlogits[is_target] = (np.exp(scores - largest) - np.eye(scores.shape[1])[targets]) * dloss / len(targets)
    return dlogits


@WRONG(
    "The gradients stand in the first rows, and not in the rows that have a target.",
    "targets and scores hold the rows with a label only, one after another. To put them back where they came from: "
    "dlogits[is_target] = dscores.",
)
def in_the_first_rows(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    right = _backward(self, dloss, tape)
    filled = right.any(axis=1)
    return np.concatenate([right[filled], right[~filled]])


@WRONG(
    "dlogits has a row for each target only, but it needs one for each row of logits.",
    "The rows that are ignored have a gradient, too, which is 0: dlogits = np.zeros((len(is_target), C)), and then "
    "dlogits[is_target] = dscores.",
)
def ignored_rows_left_out(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    right = _backward(self, dloss, tape)
    return right[right.any(axis=1)]


def _of_scores(name: str, says: str, because: str, p: Callable[..., Array]) -> None:
    """p(scores, largest, total) stands for the probabilities."""

    def backward(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
        is_target, targets, scores, largest, total = tape.take(self)
        dlogits = np.zeros((len(is_target), scores.shape[1]))
        onehot = np.eye(scores.shape[1])[targets]
        dlogits[is_target] = (p(scores, largest, total) - onehot) * dloss / len(targets)
        return dlogits

    backward.__name__ = name
    WRONG(says, because)(backward)


_of_scores(
    "largest_not_subtracted",
    "p is e^score / total, but total is the sum of e^(score − largest): the largest has to be subtracted above, too.",
    "e^(score − largest) is e^score / e^largest. What is divided by e^largest below has to be divided by it above: "
    "p = np.exp(scores - largest) / total, and each row of p adds up to 1.",
    lambda scores, largest, total: np.exp(scores) / total,
)
_of_scores(
    "scores_for_p",
    "The scores stand where p belongs: dlogits is (scores − onehot) · dloss / n.",
    "p is softmax of the scores, p = np.exp(scores - largest) / total.",
    lambda scores, largest, total: scores,
)
_of_scores(
    "log_p_for_p",
    "log p stands where p belongs: dlogits is (log p − onehot) · dloss / n.",
    "The logarithm is in the loss. Its derivative, together with that of softmax, is p − onehot, with p itself.",
    lambda scores, largest, total: scores - largest - np.log(total),
)
_of_scores(
    "softmax_over_the_rows",
    "p is taken down the columns: each column adds up to 1, and each row should.",
    "Each row is a distribution over the classes. total holds the sums of the rows, of shape (n, 1): "
    "p = np.exp(scores - largest) / total.",
    lambda scores, largest, total: np.exp(scores) / np.exp(scores).sum(axis=0),
)


@WRONG(
    "1 is subtracted in the columns of all labels, in every row; it belongs to one column of each row.",
    "p[:, targets] takes whole columns. p[np.arange(len(targets)), targets] takes from each row the number of its own "
    "label.",
)
def labels_of_all_rows(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
    return _backward(self, dloss, tape, row=lambda p, onehot: p - onehot.any(axis=0))


EXERCISE = Exercise(
    number=5,
    slug="cross_entropy",
    title="softmax with cross-entropy",
    chapter=chapter(4),
    hints=HINTS,
    parts=(layer_part(SETTING, WRONG),),
    source=lambda: exercise_file(
        5,
        "softmax with cross-entropy",
        chapter(4),
        TEXT,
        [class_source(SoftmaxCrossEntropy, BLANK), function_source(_exponentials)],
    ),
    blanks=("SoftmaxCrossEntropy.backward",),
)
