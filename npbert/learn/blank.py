"""Blank: a class or function of the library with lines for the learner to write, and the numbers that test them."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import GradientError
from npbert.gradcheck.explain import VARIATIONS
from npbert.learn.exception_help import IN_NUMPY
from npbert.learn.source import blanked, definitions, with_helpers
from npbert.learn.text import entries
from npbert.learn.verdict import Verdict

Numbers = dict[str, Array]
"""A learner's or the library's arrays, by names for the learner."""


def returned(found: Any, what: str = "the gradient") -> Array:
    """Return the result of an answer as an array. Raises: GradientError for None."""
    if found is None:
        raise GradientError(f"the result is None, wanted {what}; add the missing `return`")
    return np.asarray(found)


def in_one_row(arrays: Iterable[Any]) -> Array:
    """Return all their numbers in one array."""
    return np.concatenate([np.ravel(array) for array in arrays])


@dataclass(frozen=True, kw_only=True, eq=False)
class Blank:
    """A class or a function of the library with lines for the learner to write.

    right: the library's. method: of the class. given: the least number of its statements that stay; those that take
    from the tape and check dy always do. without: methods that the file leaves out.

    numbers(thing, seed): the numbers of `thing`, the library's or the learner's, step by step. seeds: two for each of
    `VARIATIONS`, with different sizes; none if `prove` alone tests an answer. tolerance: relative to the largest number
    of a seed.

    text: the sections of the exercise's text for this blank.
    """

    right: Any
    method: str = ""
    given: int = 0
    without: tuple[str, ...] = ()
    numbers: Callable[[Any, int], Iterator[Numbers]] = lambda thing, seed: iter(())
    seeds: Sequence[int] = range(2 * len(VARIATIONS))
    tolerance: float = 1e-9
    text: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the class or function, in the file as in the library."""
        return str(self.right.__name__)

    @property
    def home(self) -> ModuleType:
        """The module of the library's."""
        return sys.modules[self.right.__module__]

    @property
    def written(self) -> str:
        """The function for the learner to write, such as `Linear.backward`."""
        return f"{self.name}.{self.method}" if self.method else self.name

    @property
    def given_functions(self) -> frozenset[str]:
        """The names of the functions in the file that the learner does not write."""
        return frozenset(vars(self.right)) - {self.method}

    @property
    def fixed(self) -> tuple[str, ...]:
        """The names of numbers that given code makes: wrong only if the learner changed that."""
        return ()

    def run(self, thing: Any, seed: int) -> Iterator[Numbers]:
        """Return the numbers of `thing`, step by step."""
        return self.numbers(thing, seed)

    def prove(self, module: ModuleType) -> Verdict | None:
        """Return the verdict on an answer with right numbers, or None if it is right in all else. Raises: errors of the
        answer."""
        return None

    @cached_property
    def right_numbers(self) -> list[Numbers]:
        """The library's numbers at each seed."""
        return [
            {name: array for numbers in self.run(self.right, seed) for name, array in numbers.items()}
            for seed in self.seeds
        ]

    def function_of(self, module: ModuleType) -> Any:
        """Return the function that the learner writes."""
        return attrgetter(self.written)(module)

    def entries(self, section: str) -> dict[str, str]:
        """Return a section of lines "key → text"."""
        return entries(self.text[section])

    def sources(self) -> list[str]:
        """Return the sources in the file for this blank."""
        source = inspect.getsource(self.right)
        asked = blanked(source, self.method or self.name, self.text["asked"], self.given, self.without)
        return with_helpers(asked, self.home)

    def shown(self, text: str, place: str) -> list[str]:
        """Return the learner's answer, from the text of a file of this name, and below it the library's, with the
        helpers of its file."""
        own = ast.get_source_segment(text, definitions(text)[self.written], padded=True) or ""
        library = "\n\n".join(with_helpers(inspect.getsource(self.right), self.home))
        where = self.home.__name__.replace(".", "/")
        called = [plain for name, plain in IN_NUMPY.items() if re.search(rf"\b{name}\(", library)]
        both = (
            _titled(f"{self.written}, yours ({place})", own),
            _titled(f"{self.name}, the library's ({where}.py)", library),
        )
        return [*both, *([f"In plain NumPy: {'; '.join(called)}."] if called else [])]


def _titled(title: str, source: str) -> str:
    return f"{title}\n{'─' * len(title)}\n{textwrap.dedent(source).strip()}"
