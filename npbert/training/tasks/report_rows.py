"""Rows of shown.jsonl, for a report of a model's mistakes and confused labels.

`kind` is the kind of the task, `examples` the number of examples, `wrong` the number of mistakes, and `worst` the
mistakes with the highest confidence, at most `MOST`. The run adds `baselines`, their metrics by name, and `best_step`,
the step of the model in model/.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.training.progress import short

MOST, _LONGEST, _LONGEST_LABEL, _LABELS, _WORDS = 30, 400, 60, 25, 80

Row = dict[str, Any]
"""A row of shown.jsonl."""


class Shown(NamedTuple):
    """An answer in a report: whether it is wrong, how sure the model is, and the entries to show by name."""

    is_wrong: bool
    sureness: float
    entries: Row


def row_of(kind: str, answers: Sequence[Shown]) -> Row:
    """Return a row about the answers, with the entries of the worst in brief."""
    wrong = sorted((answer for answer in answers if answer.is_wrong), key=lambda answer: -answer.sureness)
    worst = [{name: in_brief(value) for name, value in answer.entries.items()} for answer in wrong[:MOST]]
    return {"kind": kind, "examples": len(answers), "wrong": len(wrong), "worst": worst}


def in_brief(value: Any) -> Any:
    """Return long texts without their middle, the first words of long sentences, and numbers with four digits."""
    if isinstance(value, str):
        return _cut(value, _LONGEST)
    return list(map(in_brief, value[:_WORDS])) if isinstance(value, list | tuple) else short(value)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[: longest * 2 // 3].rstrip()} … {text[-(longest // 3) :].lstrip()}"


def confusion(pairs: Sequence[tuple[str, str]], labels: Sequence[str]) -> Row:
    """Return `labels`, and `counts`: the examples with the label of the row that were predicted as the label of the
    column.

    Unused labels are left out. The commonest 25 are kept, and all others become "(others)".

    pairs: the right and the predicted label of each example, both some of the labels
    """
    often = Counter(label for pair in pairs for label in pair)
    kept = sorted(dict(often.most_common(_LABELS)), key=labels.index)
    names = [_cut(label, _LONGEST_LABEL) for label in kept] + ["(others)"] * (len(often) > len(kept))
    places = {label: place for place, label in enumerate(kept)}
    counts = np.zeros((len(names), len(names)), int)
    for true, predicted in pairs:
        counts[places.get(true, -1), places.get(predicted, -1)] += 1  # the others are last
    return {"labels": names, "counts": counts.tolist()}
