"""Draws: calls of a learner's mask_words on one text, and the lines that make their results."""

import itertools
import sys
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Vocabulary
from npbert.gradcheck import GradientError
from npbert.learn.blank import returned

KINDS = "[MASK]", "another word", "the true word"


class Sample(NamedTuple):
    """A text with some special tokens, and the options of mask_words. calls: how many, with seeds from 0."""

    vocabulary: Vocabulary
    ids: list[int]
    options: Mapping[str, Any]
    calls: int


class Traced(NamedTuple):
    """The lines that make the results of a call. masked, labels: by place, the line that last writes it, or 0. line,
    drawn: where rng.choice draws the chosen places, and how many with repetitions, or 0 and 0."""

    masked: dict[int, int]
    labels: dict[int, int]
    line: int
    drawn: int


class Watched(np.random.Generator):
    """A generator that records each result of `choice`, as a set: the line of the call, and how many it draws."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: dict[frozenset[int], tuple[int, int]] = {}

    def choice(self, *args: Any, **options: Any) -> Any:
        """As in Generator."""
        found = super().choice(*args, **options)
        self.drawn.setdefault(frozenset(np.ravel(found).tolist()), (sys._getframe(1).f_lineno, np.size(found)))
        return found


class Draws:
    """All calls of an answer on a sample. masked, labels (calls, N): the results. chosen, kinds (calls, N): the places
    with a label; and for each the number in KINDS, or -1 elsewhere.

    Raises: GradientError for a wrong result; errors of the function.
    """

    def __init__(self, sample: Sample, function: Any) -> None:
        self.sample, self.function, self.words = sample, function, sample.vocabulary
        draws = np.array([self._call(np.random.default_rng(seed)) for seed in range(sample.calls)])
        if not np.array_equal(draws[0], self._call(np.random.default_rng(0))):
            raise GradientError("a second call with the same generator gives another result; draw only from rng")
        self.masked, self.labels = draws.swapaxes(0, 1)
        self.ids, self.is_word = np.array(sample.ids), self.words.is_word[sample.ids]
        self.count = min(sample.options["max_predictions"], int(self.is_word.sum()))
        self.chosen = self.labels != IGNORED
        is_mask, is_same = self.masked == self.words.mask_id, self.masked == self.ids
        self.kinds = np.where(self.chosen, np.select([is_mask, is_same], [0, 2], 1), -1)

    def _call(self, rng: np.random.Generator) -> Array:
        """Return masked and labels, (2, N)."""
        given = list(self.sample.ids)
        found = returned(self.function(given, self.words, rng, **self.sample.options), "masked, labels")
        if given != self.sample.ids:
            raise GradientError("input_ids itself has changed; write into a copy, masked = list(input_ids)")
        if found.shape != (2, len(given)) or found.dtype.kind not in "iu":
            wanted = (
                f"two lists, masked and labels, of {len(given)} whole numbers, as input_ids (np.zeros makes floats)"
            )
            raise GradientError(f"the result has shape {found.shape} and dtype {found.dtype}, wanted {wanted}")
        return found

    def trace(self, seed: int) -> Traced:
        """Return the lines of one of the calls that make its results differ from input_ids and from IGNORED."""
        seen, code = [(0, dict[str, list[int]]())], getattr(self.function, "__code__", None)

        def look(frame: Any, event: str, value: object) -> Any:
            if frame.f_code is not code:
                return None
            seen.append((frame.f_lineno, {name: _row(value) for name, value in frame.f_locals.items()}))
            return look

        rng, other = Watched(seed), sys.gettrace()
        sys.settrace(look)
        try:
            masked, labels = self._call(rng).tolist()
        finally:
            sys.settrace(other)
        line, drawn = rng.drawn.get(frozenset(np.flatnonzero(self.chosen[seed]).tolist()), (0, 0))
        ids, ignored = self.sample.ids, [IGNORED] * len(labels)
        return Traced(_writers(seen, ids, masked), _writers(seen, ignored, labels), line, drawn)


def _row(value: Any) -> list[int]:
    """Return a copy of a list or array of whole numbers; an empty list for anything else."""
    row = value.tolist() if isinstance(value, np.ndarray) else value
    return [*row] if isinstance(row, list) and all(isinstance(each, int | np.integer) for each in row) else []


def _writers(seen: list[tuple[int, dict[str, list[int]]]], row: list[int], last: list[int]) -> dict[int, int]:
    """Return by place the line that last writes into the variable that ends as `last`: what is as in `row` was not
    written."""
    found: dict[int, int] = defaultdict(int)
    _, variables = seen[-1]
    name = next((name for name, value in reversed(variables.items()) if value == last), "")
    for (line, _), (_, after) in itertools.pairwise(seen):
        new = after.get(name, [])
        if len(new) == len(row):
            found |= {place: line for place, value in enumerate(new) if value != row[place]}
            row = new
    return found
