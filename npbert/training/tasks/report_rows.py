"""Rows of shown.jsonl, for a report of a model's answers: what it got wrong, and which labels it confused.

`kind` says of which kind the task is, `examples` how many there were, `wrong` how many answers are wrong, `worst` the
wrong ones that the model was surest of, at most `MOST`. The run adds `baselines`, what knowing next to nothing gives,
by name, and `best_step`, the step of the model in model/.
"""

from collections.abc import Callable, Sequence

import numpy as np

from npbert.compute import Array

MOST, _LONGEST, _LABELS = 30, 400, 25


def cut(text: str, longest: int = _LONGEST) -> str:
    """The text, or its beginning and its end where it is longer than `longest` characters."""
    if len(text) <= longest:
        return text
    return f"{text[: longest * 2 // 3].rstrip()} … {text[-(longest // 3) :].lstrip()}"


def row_of(kind: str, wrong: Array, sureness: Array, describe: Callable[[int], dict[str, object]]) -> dict[str, object]:
    """A row about answers, of which some are `wrong`; `describe` shows the answer with a number. (Both are (N,).)"""
    numbers = np.flatnonzero(wrong)
    surest = numbers[np.argsort(-sureness[numbers], kind="stable")][:MOST].tolist()
    return {"kind": kind, "examples": len(wrong), "wrong": len(numbers), "worst": list(map(describe, surest))}


def confusion(true: Array, predicted: Array, labels: Sequence[str]) -> dict[str, object]:
    """`labels`, and `counts`: how many examples with the label of a row were given that of a column.

    Labels that are none of either are left out. Where there are more than 25, the rarest are one, "(others)".

    true, predicted (N,): numbers of labels
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
