"""Exercise: a task as data. Part: a class or function of it, with its numbers."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import GradientError
from npbert.gradcheck.explain import VARIATIONS
from npbert.learn.source import blanked, exercise_file, with_helpers
from npbert.learn.verdict import Verdict

Numbers = dict[str, Array]


class Chapter(NamedTuple):
    """A chapter of docs/: its number, its title and its file."""

    number: int
    title: str
    file: str

    def __str__(self) -> str:
        return f'chapter {self.number}, "{self.title}" (docs/{self.file})'


_CHAPTERS = """
00-what-bert-is.md                     What BERT is, and what it learns
01-derivative-of-a-batch.md            What the derivative of a whole batch is
02-one-step-in-numbers.md              A Linear, a softmax and a cross-entropy in numbers
03-sums-and-broadcasts.md              Sums and broadcasts
04-softmax-and-cross-entropy.md        Softmax and cross-entropy
05-layer-norm.md                       LayerNorm and its three paths
06-attention.md                        Attention
07-embeddings-dropout-tied-table.md    Embeddings, the tied table and dropout
08-from-gradients-to-steps.md          From gradients to steps
09-prove-a-gradient.md                 How to prove a gradient
10-the-whole-model.md                  The whole model
11-what-became-of-bert.md              What became of BERT
12-fast-version.md                     Engineering: what the fast version does
"""
CHAPTERS = {
    number: Chapter(number, title, file)
    for number, (file, title) in enumerate(line.split(maxsplit=1) for line in _CHAPTERS.strip().splitlines())
}
"""The chapters of the exercises, by number."""


def returned(found: Any, what: str = "the gradient") -> Array:
    """Return the result of an answer as an array. Raises: GradientError for None."""
    if found is None:
        raise GradientError(f"the result is None, wanted {what}; add the missing `return`")
    return np.asarray(found)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A class or a function of the library with lines for the learner to write.

    right: the library's. method: of the class. asked: the docstring that replaces the one with the answer. given: the
    number of statements that stay; None: those that take from the tape and check dy. without: methods that the file
    leaves out.

    run(thing, seed): the numbers of `thing`, step by step, by names for the learner. seeds: two for each of
    `VARIATIONS`, with different sizes. fixed: the numbers that are right unless given code is changed. tolerance:
    relative to the largest number of an array.

    plain: the source of a right answer in small steps. reasons: the reason of the right formula, by its result. advice:
    for errors, chosen by `advised`. prove(thing): a mistake besides the numbers. remarks(thing): notes on a right
    answer. is_mended: whether to search the edit that makes a wrong answer right.
    """

    right: Any
    asked: str
    method: str = ""
    given: int | None = 0
    without: tuple[str, ...] = ()
    run: Callable[[Any, int], Iterator[Numbers]] = lambda thing, seed: iter(())
    seeds: Sequence[int] = range(2 * len(VARIATIONS))
    fixed: tuple[str, ...] = ()
    tolerance: float = 1e-9
    plain: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, str] = field(default_factory=dict)
    is_mended: bool = True
    prove: Callable[[Any], Verdict | None] = lambda thing: None
    remarks: Callable[[Any], str] = lambda thing: ""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.right.__name__)

    @property
    def written(self) -> str:
        """The function for the learner to write, such as `Linear.backward`."""
        return f"{self.name}.{self.method}" if self.method else self.name

    @property
    def given_functions(self) -> frozenset[str]:
        """The names of given functions in the file."""
        return frozenset(vars(self.right)) - {self.method} if self.method else frozenset()

    def with_function(self, thing: Any, function: Callable[..., Any]) -> Any:
        """Return `thing` with the learner's function replaced."""
        return type(thing.__name__, (thing,), {self.method: function}) if self.method else function

    def sources(self) -> list[str]:
        """Return the sources in the file for this part."""
        source = inspect.getsource(self.right)
        asked = blanked(source, self.method or self.name, self.asked, self.given, self.without)
        return with_helpers(asked, inspect.getmodule(self.right))


@dataclass(frozen=True)
class Exercise:
    """A file for a learner to complete.

    title: in a few words. chapter: its explanation. text: the task. hints: three paragraphs, from a nudge to almost the
    answer. parts: checked in order. uses: further names that an answer may need.
    hints_of_parts: hints of a part by its name, instead of the exercise's.
    shown(): the text after a right answer, if not the library's source of the blanks.
    number, slug: its place among the exercises, and its module's name: its file is `07_layer_norm.py`.
    """

    title: str
    chapter: Chapter
    text: str
    hints: str
    parts: tuple[Part, ...]
    uses: tuple[str, ...] = ()
    shown: Callable[[], str] | None = None
    hints_of_parts: Mapping[str, str] = field(default_factory=dict)
    number: int = 0
    slug: str = ""

    @property
    def blanks(self) -> tuple[str, ...]:
        """The functions for the learner to write, such as `Linear.backward`."""
        return tuple(part.written for part in self.parts)

    def hints_for(self, part: str = "") -> list[str]:
        """Return the three hints, for the part of this name."""
        return self.hints_of_parts.get(part, self.hints).strip().split("\n\n")

    def source(self) -> str:
        """Return the text of the file for the learner."""
        return self._source

    @cached_property
    def _source(self) -> str:
        things = dict.fromkeys(thing for part in self.parts for thing in part.sources())
        return exercise_file(self.number, self.title, str(self.chapter), self.text, things, self.uses)

    @property
    def code(self) -> str:
        """Its number with two digits, `07`."""
        return f"{self.number:02}"

    @property
    def file_name(self) -> str:
        """`07_layer_norm.py`"""
        return f"{self.code}_{self.slug}.py"
