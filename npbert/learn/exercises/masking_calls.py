"""Draws: calls of a learner's mask_words on one text, and the lines that make their results."""

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Vocabulary
from npbert.gradcheck import GradientError
from npbert.learn.blank import returned

KINDS = "[MASK]", "another word", "the true word"
Steps = list[tuple[int, dict[str, list[int]]]]
"""The lines of a call as they ran, each with the variables after it that are rows of whole numbers."""


class Draws:
    """Calls of an answer, with seeds from 0, on one text with some special tokens.

    masked, labels (calls, N): the results. chosen, kinds (calls, N): the places with a label; and for each the number
    in KINDS, or -1 elsewhere. ids, is_word (N,): the text, and its ordinary words. count: the labels wanted in a call.

    Raises: GradientError for a wrong result; errors of the function.
    """

    def __init__(self, function: Any, vocabulary: Vocabulary, calls: int, **options: Any) -> None:
        self.function, self.words, self.options = function, vocabulary, options
        cls, sep, word = [vocabulary.cls_id], [vocabulary.sep_id], vocabulary.word_ids.tolist() * 6
        self.ids = np.array([*cls, *word[:12], *sep, *word[5:14], *sep, *[vocabulary.pad_id] * 4])
        draws = np.array([self._call(seed) for seed in range(calls)])
        if not np.array_equal(draws[0], self._call(0)):
            raise GradientError("a second call with the same generator gives another result; draw only from rng")
        self.masked, self.labels = draws.swapaxes(0, 1)
        self.is_word = vocabulary.is_word[self.ids]
        self.count = min(options["max_predictions"], int(self.is_word.sum()))
        self.chosen = self.labels != IGNORED
        is_mask, is_same = self.masked == vocabulary.mask_id, self.masked == self.ids
        self.kinds = np.where(self.chosen, np.select([is_mask, is_same], [0, 2], 1), -1)

    def _call(self, seed: int) -> Array:
        """Return masked and labels, (2, N)."""
        given = self.ids.tolist()
        found = returned(
            self.function(given, self.words, np.random.default_rng(seed), **self.options), "masked, labels"
        )
        if not np.array_equal(given, self.ids):
            raise GradientError("input_ids itself has changed; write into a copy, masked = list(input_ids)")
        if found.shape != (2, len(given)) or found.dtype.kind not in "iu":
            wanted = (
                f"two lists, masked and labels, of {len(given)} whole numbers, as input_ids (np.zeros makes floats)"
            )
            raise GradientError(f"the result has shape {found.shape} and dtype {found.dtype}, wanted {wanted}")
        return found

    def choice(self, call: int) -> tuple[int, str]:
        """Return the line that chooses the places, and how many its variable has; or 0 and how many have a label."""
        places = set(np.flatnonzero(self.chosen[call]).tolist())
        for line, rows in self._steps(call):
            for name, row in rows.items():
                if set(row) == places and name != "candidates":
                    only = f", but only {len(places)} different ones" if len(row) > len(places) else ""
                    return line, f"{name} has {len(row)} places{only}"
        return 0, f"{len(places)} places have a label"

    def line_of(self, result: str, call: int, places: Iterable[int]) -> int:
        """Return the line that last writes these places of `masked` or `labels`; 0 if several do, or none."""
        writers = self._writers(result, call)
        lines = {writers[place] for place in places if place in writers}
        return lines.pop() if len(lines) == 1 else 0

    def _writers(self, result: str, call: int) -> dict[int, int]:
        """Return by place the line that last writes into `masked` or `labels`, under its name in the answer."""
        row = [IGNORED] * len(self.ids) if result == "labels" else self.ids.tolist()
        last, steps, found = getattr(self, result)[call].tolist(), self._steps(call), dict[int, int]()
        variable = next((name for name, value in reversed(steps[-1][1].items()) if value == last), "")
        for line, rows in steps:
            new = rows.get(variable, [])
            if len(new) == len(row):
                found |= {place: line for place, value in enumerate(new) if value != row[place]}
                row = new
        return found

    def _steps(self, call: int) -> Steps:
        lines, rows, code = list[int](), list[dict[str, list[int]]](), getattr(self.function, "__code__", None)

        def look(frame: Any, event: str, value: object) -> Any:
            if frame.f_code is not code:
                return None
            lines.append(frame.f_lineno)
            rows.append({name: _row(value) for name, value in frame.f_locals.items()})
            return look

        other = sys.gettrace()
        sys.settrace(look)
        try:
            self._call(call)
        finally:
            sys.settrace(other)
        return list(zip(lines, rows[1:], strict=False)) or [(0, {})]  # a line is seen before it runs


def _row(value: Any) -> list[int]:
    """Return a copy of a list, set or array of whole numbers; an empty list for anything else."""
    row = value.tolist() if isinstance(value, np.ndarray) else value
    is_row = isinstance(row, list | set) and all(isinstance(each, int | np.integer) for each in row)
    return [*row] if is_row else []
