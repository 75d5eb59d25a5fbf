"""Sample: calls of a learner's mask_words on one text, and the lines that write its results."""

import itertools
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Vocabulary
from npbert.data.masking import mask_words
from npbert.gradcheck import GradientError
from npbert.learn.blank import returned

Seen = list[tuple[int, dict[str, list[int]]]]
"""Before each line of a run: its number, and the variables that have a whole number for each place."""


Writes = list[tuple[int, int]]
"""The writes into a list, in order: the line, and the place. The line that makes the list writes every place."""


class Traced(NamedTuple):
    """A call: the writes into both results, and the results of rng.choice, each with its line."""

    masked: Writes
    labels: Writes
    drawn: list[tuple[int, list[int]]]


class Watched(np.random.Generator):
    """A generator that records the results of `choice`, each with the line of the call."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: list[tuple[int, list[int]]] = []

    def choice(self, *args: Any, **options: Any) -> Any:
        """As in Generator."""
        found = super().choice(*args, **options)
        self.drawn.append((sys._getframe(1).f_lineno, np.ravel(found).tolist()))
        return found


@dataclass(frozen=True)
class Sample:
    """A text with some special tokens, and the options of mask_words. calls: how many, with seeds from 0."""

    vocabulary: Vocabulary
    ids: list[int]
    probability: float
    max_predictions: int
    calls: int

    def call(self, function: Any, rng: np.random.Generator) -> Array:
        """Return masked and labels, (2, N). Raises: GradientError for a wrong result; errors of the function."""
        given = list(self.ids)
        options = {"probability": self.probability, "max_predictions": self.max_predictions}
        found = returned(function(given, self.vocabulary, rng, **options), "masked, labels")
        if given != self.ids:
            raise GradientError("input_ids itself has changed; write into a copy, masked = list(input_ids)")
        if found.shape != (2, len(given)) or found.dtype.kind not in "iu":
            wanted = (
                f"two lists, masked and labels, of {len(given)} whole numbers, as input_ids (np.zeros makes floats)"
            )
            raise GradientError(f"the result has shape {found.shape} and dtype {found.dtype}, wanted {wanted}")
        return found

    def draws(self, function: Any) -> Array:
        """Return the results of all calls, (calls, 2, N). Raises: as `call`."""
        draws = np.array([self.call(function, np.random.default_rng(seed)) for seed in range(self.calls)])
        if not np.array_equal(draws[0], self.call(function, np.random.default_rng(0))):
            raise GradientError("a second call with the same generator gives another result; draw only from rng")
        return draws

    def count(self) -> int:
        """Return the right number of places with a label: the library's."""
        _, labels = self.call(mask_words, np.random.default_rng(0))
        return int(np.sum(labels != IGNORED))

    def trace(self, function: Any, seed: int) -> Traced:
        """Return the lines of one of the calls that write its results."""
        seen, code = Seen(), getattr(function, "__code__", None)

        def look(frame: Any, event: str, value: object) -> Any:
            if frame.f_code is not code:
                return None
            seen.append((frame.f_lineno, {name: self._row(value) for name, value in frame.f_locals.items()}))
            return look

        rng, other = Watched(seed), sys.gettrace()
        sys.settrace(look)
        try:
            masked, labels = self.call(function, rng).tolist()
        finally:
            sys.settrace(other)
        return Traced(_writes(seen, masked), _writes(seen, labels), rng.drawn)

    def _row(self, value: Any) -> list[int]:
        """Return the value as a list, if it has a whole number for each place; otherwise an empty one."""
        row = value.tolist() if isinstance(value, np.ndarray) else value
        is_row = isinstance(row, list) and len(row) == len(self.ids)
        return [*row] if is_row and all(isinstance(each, int | np.integer) for each in row) else []


def _writes(seen: Seen, row: list[int]) -> Writes:
    """Return the writes into the variable that ends as this row; none without such a variable."""
    if not seen:  # a callable without Python code of its own
        return []
    (_, parameters), (_, last) = seen[0], seen[-1]
    name = next((name for name, value in last.items() if value == row and name not in parameters), "")
    found: Writes = []
    for (line, before), (_, after) in itertools.pairwise(seen):
        new = after.get(name, [])
        old: list[Any] = before.get(name) or [None] * len(new)
        found += [(line, place) for place, value in enumerate(new) if value != old[place]]
    return found


def line_of(writes: Writes, place: int) -> int:
    """Return the line that last wrote this place, or 0."""
    return next((line for line, at in reversed(writes) if at == place), 0)
