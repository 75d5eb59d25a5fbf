"""Exercise 5, softmax with cross-entropy: the wrong gradients of a row that people give."""

from __future__ import annotations

import numpy as np

from npbert.learn.exercises.cross_entropy_answer import WrongRows

ROWS = [
    WrongRows(
        "label_forgotten",
        "dlogits is p alone: the 1 at the label was not subtracted.",
        "The loss is −logit[label] + log Σ e^logits. The second term gives p, and the first one gives −1 at the label: "
        "p − onehot(label).",
        lambda k: k.placed(k.p),
    ),
    WrongRows(
        "set_to_minus_one",
        "The number at the label is −1, and should be p − 1: it was set, and not lowered by 1.",
        "`p[…] = -1` forgets p. With `p[np.arange(len(targets)), targets] -= 1` the 1 is subtracted from it.",
        lambda k: k.placed(np.where(k.onehot > 0, -1.0, k.p)),
    ),
    WrongRows(
        "label_alone",
        "Only the logit of the label has a gradient; the other classes have 0.",
        "The loss names p[label] alone, but softmax divides by the sum over all classes: raising another logit lowers "
        "p[label]. Its gradient is its own p. So p − onehot(label) has no zeros.",
        lambda k: k.placed((k.p - 1) * k.onehot),
    ),
    WrongRows(
        "softmax_undone_twice",
        "dlogits is (p − onehot) · p (1 − p): the derivative of softmax was applied twice.",
        "p − onehot(label) is the gradient of the logits already: softmax and logarithm are one layer here. p (1 − p) "
        "belongs to a sigmoid that stands by itself.",
        lambda k: k.placed((k.p - k.onehot) * k.p * (1 - k.p)),
    ),
    WrongRows(
        "gradient_of_p",
        "dlogits is −onehot / p, which is the gradient of p, not of the logits.",
        "That is the derivative of −log p. There is one more step, from p back to the logits; both together are p − "
        "onehot.",
        lambda k: k.placed(-k.onehot / k.p),
    ),
    WrongRows(
        "not_normalised",
        "p is not divided by its sum: e^(score − largest) is no probability yet.",
        "total holds Σ e^(score − largest) of each row: p = np.exp(scores - largest) / total adds up to 1.",
        lambda k: k.placed(np.exp(k.scores - k.largest) - k.onehot),
    ),
    WrongRows(
        "largest_not_subtracted",
        "p is e^score / total, but total is the sum of e^(score − largest): the largest has to be subtracted above, "
        "too.",
        "e^(score − largest) is e^score / e^largest. What is divided by e^largest below has to be divided by it above: "
        "p = np.exp(scores - largest) / total, and each row of p adds up to 1.",
        lambda k: k.placed(np.exp(k.scores) / k.total - k.onehot),
    ),
    WrongRows(
        "scores_for_p",
        "The scores stand where p belongs: dlogits is (scores − onehot) · dloss / n.",
        "p is softmax of the scores, p = np.exp(scores - largest) / total.",
        lambda k: k.placed(k.scores - k.onehot),
    ),
    WrongRows(
        "log_p_for_p",
        "log p stands where p belongs: dlogits is (log p − onehot) · dloss / n.",
        "The logarithm is in the loss. Its derivative, together with that of softmax, is p − onehot, with p itself.",
        lambda k: k.placed(np.log(k.p) - k.onehot),
    ),
    WrongRows(
        "softmax_over_the_rows",
        "p is taken down the columns: each column adds up to 1, and each row should.",
        "Each row is a distribution over the classes. total holds the sums of the rows, of shape (n, 1): "
        "p = np.exp(scores - largest) / total.",
        lambda k: k.placed(np.exp(k.scores) / np.exp(k.scores).sum(axis=0) - k.onehot),
    ),
    WrongRows(
        "labels_of_all_rows",
        "1 is subtracted in the columns of all labels, in every row; it belongs to one column of each row.",
        "p[:, targets] takes whole columns. p[np.arange(len(targets)), targets] takes from each row the number of its "
        "own label.",
        lambda k: k.placed(k.p - k.onehot.any(axis=0)),
    ),
]
