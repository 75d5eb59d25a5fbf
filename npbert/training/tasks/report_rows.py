"""Rows of shown.jsonl, for a report of a model's mistakes and confused labels.

`kind` is the kind of the task, `examples` the number of examples, `wrong` the number of mistakes, and `worst` the
mistakes with the highest confidence, at most `MOST`. The run adds `baselines`, their metrics by name, and `best_step`,
the step of the model in model/.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.training.progress import short

MOST, _LONGEST, _LONGEST_LABEL, _LABELS, _WORDS = 30, 400, 60, 25, 80


def row_of(kind: str, wrong: Array, sureness: Array, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row about N answers: each of the worst has its value of every column, in brief.

    wrong, sureness (N,)   columns: by name, N texts, numbers, or lists of them
    """
    numbers = np.flatnonzero(wrong)
    surest = numbers[np.argsort(-sureness[numbers], kind="stable")][:MOST]
    worst = [{name: in_brief(column[number]) for name, column in columns.items()} for number in surest]
    return {"kind": kind, "examples": len(wrong), "wrong": len(numbers), "worst": worst}


def in_brief(value: Any) -> Any:
    """Return long texts without their middle, the first words of long sentences, and numbers with four digits."""
    if isinstance(value, str):
        return _cut(value, _LONGEST)
    return list(map(in_brief, value[:_WORDS])) if isinstance(value, list | tuple) else short(value)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[: longest * 2 // 3].rstrip()} … {text[-(longest // 3) :].lstrip()}"


def confusion(true: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """Return `labels`, and `counts`: the examples with the label of the row that were predicted as the label of the
    column.

    Unused labels are left out. The commonest 25 are kept, and all others become "(others)".

    true, predicted (N,): some of the labels
    """
    often = Counter([*true, *predicted])
    kept = sorted(dict(often.most_common(_LABELS)), key=labels.index)
    names = [_cut(label, _LONGEST_LABEL) for label in kept] + ["(others)"] * (len(often) > len(kept))
    places = {label: place for place, label in enumerate(kept)}
    counts = np.zeros((len(names), len(names)), int)
    for row, column in zip(true, predicted, strict=True):
        counts[places.get(row, -1), places.get(column, -1)] += 1  # the others are last
    return {"labels": names, "counts": counts.tolist()}
