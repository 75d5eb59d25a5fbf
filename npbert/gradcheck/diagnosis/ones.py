"""Softmax with cross-entropy: p is right, but what is subtracted from it stands in other places than the labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import ACCURACY, Case, Finding

_MOST = 20  # that may be subtracted at one place


def ones_elsewhere(case: Case) -> Iterator[Finding]:
    """In which row another whole number is subtracted than 1 at the label."""
    p, answers = case.roads.get("the probabilities"), case.roads.get("the right answers")
    if p is None or answers is None or not answers.any():
        return
    share = -float(answers[answers != 0][0])
    given, wanted = (p - case.wrong) / share, -answers / share
    whole = np.round(given)
    is_whole = np.abs(given - whole).max() <= ACCURACY and np.abs(whole).max() <= _MOST
    if not is_whole or (whole == wanted).all():
        return
    row = int(np.argmax((whole != wanted).any(axis=1)))
    count = int((whole != wanted).any(axis=1).sum())
    others = f" ({count} rows are wrong)" if count > 1 else ""
    text = f"in row {row} of {case.d}, {_said(whole[row])} is subtracted, and should be {_said(wanted[row])}{others}"
    yield Finding("ones", case.name, text)


def _said(row: Array) -> str:
    """1 in column 3"""
    return " and ".join(f"{row[column]:.0f} in column {column}" for column in np.flatnonzero(row)) or "nothing"
