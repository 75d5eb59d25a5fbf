"""Exercise 5, softmax with cross-entropy: rows, and numbers in them, in wrong places."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.learn.exercises.cross_entropy_answer import LABELS, Kept, WrongRows


def _in_rows_of_labels(kept: Kept, *, is_added: bool) -> Array:
    dlogits, rows = np.zeros((len(kept.is_target), kept.scores.shape[1])), kept.p - kept.onehot
    places = kept.targets % len(dlogits)
    if is_added:
        np.add.at(dlogits, places, rows)
    else:
        dlogits[places] = rows
    return dlogits


_CLASSES = (
    "targets are classes, and not rows: they say in which column the label of each row is. In which rows of logits the "
    "labels are, is_target says. "
)
ALL_ROWS = (
    f"{(LABELS != IGNORED).sum()} rows have a label, and logits has {len(LABELS)}. Those that are ignored have a "
    "gradient, too, which is 0: dlogits = np.zeros((len(is_target), scores.shape[1]), scores.dtype), and then "
    "dlogits[is_target] = dscores."
)
PLACES = [
    WrongRows(
        "in_the_first_rows",
        "The gradients stand in the first rows, and not in the rows that have a target.",
        "targets and scores hold the rows with a label only, one after another. To put them back where they came from: "
        "dlogits[is_target] = dscores.",
        lambda k: np.concatenate([k.p - k.onehot, 0 * k.placed(k.p)[len(k.p) :]]),
    ),
    WrongRows(
        "ignored_rows_left_out",
        "dlogits has a row for each target only, but it needs one for each row of logits.",
        ALL_ROWS,
        lambda k: k.p - k.onehot,
    ),
    WrongRows(
        "labels_for_rows",
        "1 is subtracted from whole rows, and belongs to one number in each row: p[targets] are rows of p.",
        f"{_CLASSES}For one number in each row, p[np.arange(len(targets)), targets].",
        lambda k: k.placed(k.p - np.isin(np.arange(len(k.p)), k.targets)[:, None]),
    ),
    WrongRows(
        "in_the_rows_of_the_labels",
        "The gradients stand in the rows that targets names, and not in the rows that have a label.",
        f"{_CLASSES}So dlogits[is_target] = dscores.",
        lambda k: _in_rows_of_labels(k, is_added=False),
    ),
    WrongRows(
        "added_in_the_rows_of_the_labels",
        "The gradients are added to the rows that targets names, and not to the rows that have a label.",
        f"{_CLASSES}So dlogits[is_target] = dscores.",
        lambda k: _in_rows_of_labels(k, is_added=True),
    ),
    WrongRows(
        "one_subtracted_in_the_first_rows",
        "1 is subtracted in the first rows of dlogits, and not in the rows that have a label.",
        "p[np.arange(len(targets)), targets] -= 1 fits p, which has the rows with a label only. dlogits has all rows: "
        "subtract first, and then put the rows into dlogits[is_target].",
        lambda k: k.placed(k.p) - np.concatenate([k.onehot, 0 * k.placed(k.p)[len(k.p) :]]),
    ),
]
