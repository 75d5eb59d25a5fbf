"""Sample: calls of a learner's mask_words on one text, and the lines that make its results."""

import itertools
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Vocabulary
from npbert.gradcheck import GradientError
from npbert.learn.blank import returned


class Traced(NamedTuple):
    """masked, labels: by place, the line that last writes it. drawn: by a set of places, the line where rng.choice
    draws them, and how many with repetitions."""

    masked: dict[int, int]
    labels: dict[int, int]
    drawn: dict[frozenset[int], tuple[int, int]]


class Watched(np.random.Generator):
    """A generator that records the results of `choice`, as Traced.drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: dict[frozenset[int], tuple[int, int]] = {}

    def choice(self, *args: Any, **options: Any) -> Any:
        """As in Generator."""
        found = super().choice(*args, **options)
        self.drawn.setdefault(frozenset(np.ravel(found).tolist()), (sys._getframe(1).f_lineno, np.size(found)))
        return found


class Sample(NamedTuple):
    """A text with some special tokens, and the options of mask_words. calls: how many, with seeds from 0."""

    vocabulary: Vocabulary
    ids: list[int]
    options: Mapping[str, Any]
    calls: int

    def call(self, function: Any, rng: np.random.Generator) -> Array:
        """Return masked and labels, (2, N). Raises: GradientError for a wrong result; errors of the function."""
        given = list(self.ids)
        found = returned(function(given, self.vocabulary, rng, **self.options), "masked, labels")
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

    def trace(self, function: Any, seed: int) -> Traced:
        """Return the lines of one of the calls that make its results differ from input_ids and from IGNORED."""
        seen, code = [(0, dict[str, list[int]]())], getattr(function, "__code__", None)

        def look(frame: Any, event: str, value: object) -> Any:
            if frame.f_code is not code:
                return None
            seen.append((frame.f_lineno, {name: _row(value) for name, value in frame.f_locals.items()}))
            return look

        rng, other = Watched(seed), sys.gettrace()
        sys.settrace(look)
        try:
            masked, labels = self.call(function, rng).tolist()
        finally:
            sys.settrace(other)
        return Traced(_writers(seen, self.ids, masked), _writers(seen, [IGNORED] * len(labels), labels), rng.drawn)


def _row(value: Any) -> list[int]:
    """Return a copy of a list or array of whole numbers; an empty list for anything else."""
    row = value.tolist() if isinstance(value, np.ndarray) else value
    return [*row] if isinstance(row, list) and all(isinstance(each, int | np.integer) for each in row) else []


def _writers(seen: list[tuple[int, dict[str, list[int]]]], row: list[int], last: list[int]) -> dict[int, int]:
    """Return by place the line that last writes into the variable that ends as `last`: what is as in `row` was not
    written."""
    found: dict[int, int] = {}
    _, variables = seen[-1]
    name = next((name for name, value in reversed(variables.items()) if value == last), "")
    for (line, _), (_, after) in itertools.pairwise(seen):
        new = after.get(name, [])
        if len(new) == len(row):
            found |= {place: line for place, value in enumerate(new) if value != row[place]}
            row = new
    return found
