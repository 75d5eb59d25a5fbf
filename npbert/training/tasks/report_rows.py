"""Rows of shown.jsonl, for a report of a model's mistakes and confused labels.

`kind` is the kind of the task, `examples` the number of examples, `wrong` the number of mistakes, and `worst` the
mistakes with the highest confidence, at most `MOST`. The run adds `baselines`, their metrics by name, and `best_step`,
the step of the model in model/.
"""

from collections.abc import Callable, Sequence

import numpy as np

from npbert.compute import Array

MOST, _LONGEST, _LABELS = 30, 400, 25


def cut(text: str, longest: int = _LONGEST) -> str:
    """Return the text, or its beginning and end if it has more than `longest` characters."""
    if len(text) <= longest:
        return text
    return f"{text[: longest * 2 // 3].rstrip()} … {text[-(longest // 3) :].lstrip()}"


def row_of(kind: str, wrong: Array, sureness: Array, describe: Callable[[int], dict[str, object]]) -> dict[str, object]:
    """Return a row about answers, some of them `wrong`; `describe` shows the answer with an index. (Both are (N,).)"""
    numbers = np.flatnonzero(wrong)
    surest = numbers[np.argsort(-sureness[numbers], kind="stable")][:MOST].tolist()
    return {"kind": kind, "examples": len(wrong), "wrong": len(numbers), "worst": list(map(describe, surest))}


def confusion(true: Array, predicted: Array, labels: Sequence[str]) -> dict[str, object]:
    """Return `labels`, and `counts`: the examples with the label of the row that were predicted as the label of the
    column.

    Unused labels are left out. Of more than 25, the rarest become "(others)".

    true, predicted (N,): indices of labels
    """
    often = np.bincount(np.concatenate([true, predicted]), minlength=len(labels))
    kept = np.flatnonzero(often).tolist()
    more = len(kept) > _LABELS
    if more:
        kept = sorted(np.argsort(-often, kind="stable")[: _LABELS - 1].tolist())
    names = [cut(labels[number], 60) for number in kept] + ["(others)"] * more
    places = np.full(len(labels), len(names) - 1)
    places[kept] = range(len(kept))
    counts = np.zeros((len(names), len(names)), int)
    np.add.at(counts, (places[true], places[predicted]), 1)
    return {"labels": names, "counts": counts.tolist()}
