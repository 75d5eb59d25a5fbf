"""Exercise 5, softmax with cross-entropy: the wrong shares of each row in the loss that people give."""

from __future__ import annotations

from npbert.learn.exercises.cross_entropy_answer import WrongShare, right_share

SHARES = [
    WrongShare(
        "divided_by_all_rows",
        "dlogits is divided by all rows, but the loss is the mean over the targets alone.",
        "Rows that are ignored have no say in the loss, so they are not counted in its mean, either: divide by "
        "len(targets).",
        lambda dloss, k: dloss / len(k.is_target),
    ),
    WrongShare(
        "sum_over_the_targets",
        "dlogits is the gradient of the sum over the targets, but the loss is their mean.",
        "forward ends with .mean(): each target has a share of 1/n in the loss, n = len(targets), and so in the "
        "gradient.",
        lambda dloss, k: dloss,
    ),
    WrongShare(
        "divided_by_the_classes_too",
        "dlogits is divided by the number of targets and once more by the number of classes.",
        "The mean is over the targets only. Within a row nothing is averaged: the p of all classes add up to 1.",
        lambda dloss, k: dloss / k.scores.size,
    ),
    WrongShare(
        "divided_by_all_numbers",
        "dlogits is divided by how many numbers it has, but the loss is the mean over the targets alone.",
        "Within a row nothing is averaged, and rows that are ignored are not counted: divide by len(targets).",
        lambda dloss, k: dloss / (len(k.is_target) * k.scores.shape[1]),
    ),
    WrongShare(
        "share_of_the_targets",
        "dlogits is multiplied by n/N, the share of the rows that have a label; it should be divided by n.",
        "Each target has a share of 1/n in the mean, with n = len(targets). (is_target.mean() is n/N.)",
        lambda dloss, k: dloss * float(k.is_target.mean()),
    ),
    WrongShare(
        "dloss_is_ignored",
        "dloss is not used: dlogits is that of a loss whose own gradient is 1.",
        "The loss may be weighted, or a part of a larger one. By the chain rule everything is multiplied by dloss.",
        lambda dloss, k: 1 / len(k.targets),
    ),
    WrongShare(
        "neither_dloss_nor_mean",
        "Neither dloss nor the 1/n of the mean is in dlogits: both are missing.",
        "forward ends with .mean(), so each target has a share of 1/n in the loss, n = len(targets). And by the chain "
        "rule everything is multiplied by dloss: dscores * dloss / n.",
        lambda dloss, k: 1.0,
    ),
    WrongShare(
        "neither_dloss_nor_the_targets",
        "dloss is missing in dlogits, and what is divided by is the number of all rows, not that of the targets.",
        "The loss is the mean over the n = len(targets) rows that have a label. And by the chain rule everything is "
        "multiplied by dloss: dscores * dloss / n.",
        lambda dloss, k: 1 / len(k.is_target),
    ),
    WrongShare(
        "divided_by_one_too_few",
        "dlogits is divided by n − 1, and should be divided by n, the number of targets.",
        "The loss is a mean of n numbers, and .mean() divides by n.",
        lambda dloss, k: dloss / (len(k.targets) - 1),
    ),
    WrongShare(
        "multiplied_by_the_targets",
        "dlogits is multiplied by n, the number of targets, and should be divided by it.",
        "Each target has a share of 1/n in the mean.",
        lambda dloss, k: dloss * len(k.targets),
    ),
    WrongShare(
        "divided_by_dloss",
        "dlogits is divided by dloss, and should be multiplied by it.",
        "By the chain rule, the gradient of the logits is dloss times how fast the loss moves with them.",
        lambda dloss, k: 1 / (dloss * len(k.targets)),
    ),
    WrongShare(
        "sign_turned",
        "dlogits has the wrong sign: it is onehot(label) − p, and should be p − onehot(label).",
        "A gradient points to where the loss grows. Raising the logit of the label lowers the loss, so its gradient is "
        "negative: p − 1.",
        lambda dloss, k: -right_share(dloss, k),
    ),
]
