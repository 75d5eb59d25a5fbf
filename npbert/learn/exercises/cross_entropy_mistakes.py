"""Exercise 5, softmax with cross-entropy: the wrong answers that people give.

An answer is a gradient of each row, (N, C), times the share that each row has in the loss. What is wrong with one is
known by itself, and together with what is wrong with the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, Tape
from npbert.layers import SoftmaxCrossEntropy
from npbert.learn.exercise import Finding, Mistake, Mistakes, both
from npbert.learn.numbers import Numbers

LABELS = np.array([IGNORED, 4, 0, 2, IGNORED, 4, 1, 3, IGNORED, 4, IGNORED])
WRONG = Mistakes(SoftmaxCrossEntropy, "backward")


class Kept(NamedTuple):
    """What forward kept."""

    is_target: Array
    targets: Array
    scores: Array
    largest: Array
    total: Array

    @property
    def p(self) -> Array:
        """(n, C)"""
        return np.asarray(np.exp(self.scores - self.largest) / self.total)

    @property
    def onehot(self) -> Array:
        """(n, C)"""
        return np.asarray(np.eye(self.scores.shape[1])[self.targets])

    def placed(self, rows: Array) -> Array:
        """The n rows where they came from, and 0 in the others (N, C)."""
        dlogits = np.zeros((len(self.is_target), rows.shape[1]))
        dlogits[self.is_target] = rows
        return dlogits


Rows = Callable[[Kept], Array]
Share = Callable[[float, Kept], float]
_ROWS: dict[str, Rows] = {}
_SHARES: dict[str, Share] = {}


def _answer(name: str, rows: Rows, share: Share) -> Callable[..., Array]:
    def backward(self: SoftmaxCrossEntropy, dloss: float, tape: Tape) -> Array:
        kept = Kept(*tape.take(self))
        return rows(kept) * share(dloss, kept)

    backward.__name__ = name
    return backward


def _right_share(dloss: float, kept: Kept) -> float:
    return dloss / len(kept.targets)


def _of_rows(name: str, says: str, because: str, rows: Rows) -> None:
    _ROWS[name] = rows
    WRONG(says, because)(_answer(name, rows, _right_share))


def _of_share(name: str, says: str, because: str, share: Share) -> None:
    _SHARES[name] = share
    WRONG(says, because)(_answer(name, lambda k: k.placed(k.p - k.onehot), share))


def pairs() -> Iterator[Mistake]:
    """Each wrong gradient of a row with each wrong share of it."""
    by_name = {mistake.name: mistake for mistake in WRONG}
    for (name, rows), (other, share) in itertools.product(_ROWS.items(), _SHARES.items()):
        backward = _answer(f"{name}_{other}", rows, share)
        yield both(by_name[name], by_name[other], type("Both", (SoftmaxCrossEntropy,), {"backward": backward}))


_of_share(
    "divided_by_all_rows",
    "dlogits is divided by all rows, but the loss is the mean over the targets alone.",
    "Rows that are ignored have no say in the loss, so they are not counted in its mean, either: divide by "
    "len(targets).",
    lambda dloss, k: dloss / len(k.is_target),
)
_of_share(
    "sum_over_the_targets",
    "dlogits is the gradient of the sum over the targets, but the loss is their mean.",
    "forward ends with .mean(): each target has a share of 1/n in the loss, n = len(targets), and so in the gradient.",
    lambda dloss, k: dloss,
)
_of_share(
    "divided_by_the_classes_too",
    "dlogits is divided by the number of targets and once more by the number of classes.",
    "The mean is over the targets only. Within a row nothing is averaged: the p of all classes add up to 1.",
    lambda dloss, k: dloss / k.scores.size,
)
_of_share(
    "divided_by_all_numbers",
    "dlogits is divided by how many numbers it has, but the loss is the mean over the targets alone.",
    "Within a row nothing is averaged, and rows that are ignored are not counted: divide by len(targets).",
    lambda dloss, k: dloss / (len(k.is_target) * k.scores.shape[1]),
)
_of_share(
    "share_of_the_targets",
    "dlogits is multiplied by n/N, the share of the rows that have a label; it should be divided by n.",
    "Each target has a share of 1/n in the mean, with n = len(targets). (is_target.mean() is n/N.)",
    lambda dloss, k: dloss * float(k.is_target.mean()),
)
_of_share(
    "dloss_is_ignored",
    "dloss is not used: dlogits is that of a loss whose own gradient is 1.",
    "The loss may be weighted, or a part of a larger one. By the chain rule everything is multiplied by dloss.",
    lambda dloss, k: 1 / len(k.targets),
)
_of_share(
    "neither_dloss_nor_mean",
    "Neither dloss nor the 1/n of the mean is in dlogits: both are missing.",
    "forward ends with .mean(), so each target has a share of 1/n in the loss, n = len(targets). And by the chain rule "
    "everything is multiplied by dloss: dscores * dloss / n.",
    lambda dloss, k: 1.0,
)
_of_share(
    "divided_by_dloss",
    "dlogits is divided by dloss, and should be multiplied by it.",
    "By the chain rule, the gradient of the logits is dloss times how fast the loss moves with them.",
    lambda dloss, k: 1 / (dloss * len(k.targets)),
)
_of_share(
    "sign_turned",
    "dlogits has the wrong sign: it is onehot(label) − p, and should be p − onehot(label).",
    "A gradient points to where the loss grows. Raising the logit of the label lowers the loss, so its gradient is "
    "negative: p − 1.",
    lambda dloss, k: -_right_share(dloss, k),
)
_of_rows(
    "label_forgotten",
    "dlogits is p alone: the 1 at the label was not subtracted.",
    "The loss is −logit[label] + log Σ e^logits. The second term gives p, and the first one gives −1 at the label: "
    "p − onehot(label).",
    lambda k: k.placed(k.p),
)
_of_rows(
    "set_to_minus_one",
    "The number at the label is −1, and should be p − 1: it was set, and not lowered by 1.",
    "`p[…] = -1` forgets p. With `p[np.arange(len(targets)), targets] -= 1` the 1 is subtracted from it.",
    lambda k: k.placed(np.where(k.onehot > 0, -1.0, k.p)),
)
_of_rows(
    "label_alone",
    "Only the logit of the label has a gradient; the other classes have 0.",
    "The loss names p[label] alone, but softmax divides by the sum over all classes: raising another logit lowers "
    "p[label]. Its gradient is its own p. So p − onehot(label) has no zeros.",
    lambda k: k.placed((k.p - 1) * k.onehot),
)
_of_rows(
    "softmax_undone_twice",
    "dlogits is (p − onehot) · p (1 − p): the derivative of softmax was applied twice.",
    "p − onehot(label) is the gradient of the logits already: softmax and logarithm are one layer here. p (1 − p) "
    "belongs to a sigmoid that stands by itself.",
    lambda k: k.placed((k.p - k.onehot) * k.p * (1 - k.p)),
)
_of_rows(
    "gradient_of_p",
    "dlogits is −onehot / p, which is the gradient of p, not of the logits.",
    "That is the derivative of −log p. There is one more step, from p back to the logits; both together are p − "
    "onehot.",
    lambda k: k.placed(-k.onehot / k.p),
)
_of_rows(
    "not_normalised",
    "p is not divided by its sum: e^(score − largest) is no probability yet.",
    "total holds Σ e^(score − largest) of each row: p = np.exp(scores - largest) / total adds up to 1.",
    lambda k: k.placed(np.exp(k.scores - k.largest) - k.onehot),
)
_of_rows(
    "largest_not_subtracted",
    "p is e^score / total, but total is the sum of e^(score − largest): the largest has to be subtracted above, too.",
    "e^(score − largest) is e^score / e^largest. What is divided by e^largest below has to be divided by it above: "
    "p = np.exp(scores - largest) / total, and each row of p adds up to 1.",
    lambda k: k.placed(np.exp(k.scores) / k.total - k.onehot),
)
_of_rows(
    "scores_for_p",
    "The scores stand where p belongs: dlogits is (scores − onehot) · dloss / n.",
    "p is softmax of the scores, p = np.exp(scores - largest) / total.",
    lambda k: k.placed(k.scores - k.onehot),
)
_of_rows(
    "log_p_for_p",
    "log p stands where p belongs: dlogits is (log p − onehot) · dloss / n.",
    "The logarithm is in the loss. Its derivative, together with that of softmax, is p − onehot, with p itself.",
    lambda k: k.placed(np.log(k.p) - k.onehot),
)
_of_rows(
    "softmax_over_the_rows",
    "p is taken down the columns: each column adds up to 1, and each row should.",
    "Each row is a distribution over the classes. total holds the sums of the rows, of shape (n, 1): "
    "p = np.exp(scores - largest) / total.",
    lambda k: k.placed(np.exp(k.scores) / np.exp(k.scores).sum(axis=0) - k.onehot),
)
_of_rows(
    "labels_of_all_rows",
    "1 is subtracted in the columns of all labels, in every row; it belongs to one column of each row.",
    "p[:, targets] takes whole columns. p[np.arange(len(targets)), targets] takes from each row the number of its own "
    "label.",
    lambda k: k.placed(k.p - k.onehot.any(axis=0)),
)

_CLASSES = (
    "targets are classes, and not rows: they say in which column the label of each row is. In which rows of logits the "
    "labels are, is_target says. "
)
_ALL_ROWS = (
    f"{(LABELS != IGNORED).sum()} rows have a label, and logits has {len(LABELS)}. Those that are ignored have a "
    "gradient, too, which is 0: dlogits = np.zeros((len(is_target), scores.shape[1]), scores.dtype), and then "
    "dlogits[is_target] = dscores."
)
_of_rows(
    "in_the_first_rows",
    "The gradients stand in the first rows, and not in the rows that have a target.",
    "targets and scores hold the rows with a label only, one after another. To put them back where they came from: "
    "dlogits[is_target] = dscores.",
    lambda k: np.concatenate([k.p - k.onehot, 0 * k.placed(k.p)[len(k.p) :]]),
)
_of_rows(
    "ignored_rows_left_out",
    "dlogits has a row for each target only, but it needs one for each row of logits.",
    _ALL_ROWS,
    lambda k: k.p - k.onehot,
)
_of_rows(
    "labels_for_rows",
    "1 is subtracted from whole rows, and belongs to one number in each row: p[targets] are rows of p.",
    f"{_CLASSES}For one number in each row, p[np.arange(len(targets)), targets].",
    lambda k: k.placed(k.p - np.isin(np.arange(len(k.p)), k.targets)[:, None]),
)
_of_rows(
    "in_the_rows_of_the_labels",
    "The gradients stand in the rows that targets names, and not in the rows that have a label.",
    f"{_CLASSES}So dlogits[is_target] = dscores.",
    lambda k: _in_rows_of_labels(k, is_added=False),
)
_of_rows(
    "added_in_the_rows_of_the_labels",
    "The gradients are added to the rows that targets names, and not to the rows that have a label.",
    f"{_CLASSES}So dlogits[is_target] = dscores.",
    lambda k: _in_rows_of_labels(k, is_added=True),
)
_of_rows(
    "one_subtracted_in_the_first_rows",
    "1 is subtracted in the first rows of dlogits, and not in the rows that have a label.",
    "p[np.arange(len(targets)), targets] -= 1 fits p, which has the rows with a label only. dlogits has all rows: "
    "subtract first, and then put the rows into dlogits[is_target].",
    lambda k: k.placed(k.p) - np.concatenate([k.onehot, 0 * k.placed(k.p)[len(k.p) :]]),
)


def _in_rows_of_labels(kept: Kept, *, is_added: bool) -> Array:
    dlogits, rows = np.zeros((len(kept.is_target), kept.scores.shape[1])), kept.p - kept.onehot
    places = kept.targets % len(dlogits)
    if is_added:
        np.add.at(dlogits, places, rows)
    else:
        dlogits[places] = rows
    return dlogits


def too_few_rows(given: Numbers, right: Numbers) -> Finding | None:
    """Whether there is one row for each target, whatever else is wrong."""
    is_short = np.shape(given["dlogits"]) == ((LABELS != IGNORED).sum(), right["dlogits"].shape[1])
    return next(mistake.findings[0] for mistake in WRONG if mistake.because == _ALL_ROWS) if is_short else None
