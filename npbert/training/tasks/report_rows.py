"""Rows of shown.jsonl, for a report of a model's mistakes and confused labels.

`kind` is the kind of the task, `examples` the number of examples, `wrong` the number of mistakes, and `worst` the
mistakes with the highest confidence, at most `MOST`. The run adds `goal`, the metric that chooses the model;
`baselines`, their metrics by name; `before`, what they are; and `best_step`, the step of the model in model/.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

MOST, _LONGEST, _LONGEST_LABEL, _LABELS, _WORDS = 30, 400, 60, 25, 80
_OTHERS = "(others)"

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
    """Return long texts without their middle, and the first words of long sentences."""
    if isinstance(value, str):
        return _cut(value, _LONGEST)
    return list(map(in_brief, value[:_WORDS])) if isinstance(value, list | tuple) else value


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
    often = Counter(chain(*pairs))
    names = sorted(dict(often.most_common(_LABELS)), key=labels.index)
    known = dict(zip(names, names, strict=True))
    if len(often) > len(names):
        names.append(_OTHERS)
    counts = Counter((known.get(true, _OTHERS), known.get(predicted, _OTHERS)) for true, predicted in pairs)
    rows = [[counts[true, predicted] for predicted in names] for true in names]
    return {"labels": [_cut(name, _LONGEST_LABEL) for name in names], "counts": rows}
