"""Exercise: a task as data. Part: a class or function of it, with its numbers."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import GradientError
from npbert.gradcheck.explain import VARIATIONS
from npbert.learn.exception_help import IN_NUMPY
from npbert.learn.source import blanked, definitions, exercise_file, with_helpers
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
    asked: str = ""
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

    def shown(self, text: str, place: object) -> list[str]:
        """Return the learner's answer, from the text of a file in this place, and below it the library's, with the
        helpers of its file."""
        node, module = definitions(text).get(self.written), inspect.getmodule(self.right)
        own = "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno]) if node else "(elsewhere)"
        where = module.__name__.replace(".", "/") if module else self.name
        library = "\n\n".join(with_helpers(inspect.getsource(self.right), module))
        called = [plain for name, plain in IN_NUMPY.items() if re.search(rf"\b{name}\(", library)]
        both = (
            _titled(f"{self.written}, yours ({place})", own),
            _titled(f"{self.name}, the library's ({where}.py)", library),
        )
        return [*both, *([f"In plain NumPy: {'; '.join(called)}."] if called else [])]


def _titled(title: str, source: str) -> str:
    return f"{title}\n{'─' * len(title)}\n{textwrap.dedent(source).strip()}"


_ENTRY = re.compile(r"^(\S.*?) → (.*(?:\n .*)*)", re.MULTILINE)


def sections_of(slug: str) -> dict[str, str]:
    """Return the parts of an exercise's text by the name above each, "" for the first.

    The first has a line with the title and the chapter's number, then the task."""
    text = Path(__file__).with_name("exercises").joinpath(f"{slug}.txt").read_text(encoding="utf-8")
    first, *others = re.split(r"^== ", text, flags=re.MULTILINE)
    named = (each.partition("\n") for each in others)
    return {"": first.strip()} | {name: body.strip("\n") for name, _, body in named}


@dataclass(frozen=True)
class Exercise:
    """A file for a learner to complete.

    slug, number: the name of its text, and its place among the exercises: its file is `07_layer_norm.py`. parts:
    checked in order.

    Its text has the task, the `hints`, three paragraphs from a nudge to almost the answer, further names that an
    answer may need (`uses`), and for each part, by its name if there are several, what is `asked`, and the data of a
    Part: `plain`, `reasons` and `advice`, the latter two as "key → text". A variant has the hints of its exercise.
    """

    slug: str
    number: int
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, slug: str, number: int, *parts: Part) -> Exercise:
        """Return the exercise with its text in the parts."""
        read = cls(slug, number, parts)._section
        with_text = (
            replace(
                part,
                asked=read("asked", part.name),
                plain=read("plain", part.name),
                reasons=_entries(read("reasons", part.name)),
                advice=_entries(read("advice", part.name)),
            )
            for part in parts
        )
        return cls(slug, number, tuple(with_text))

    @cached_property
    def _sections(self) -> dict[str, str]:
        return {**sections_of(self.slug.removesuffix("_again")), **sections_of(self.slug)}

    @property
    def title(self) -> str:
        """Its title, in a few words."""
        return self._sections[""].partition(", chapter ")[0]

    @property
    def chapter(self) -> Chapter:
        """The chapter that explains it."""
        return CHAPTERS[int(self._sections[""].partition("\n")[0].rpartition(" ")[2])]

    @property
    def text(self) -> str:
        """The task."""
        return self._sections[""].partition("\n\n")[2]

    def _section(self, name: str, part: str = "") -> str:
        return self._sections.get(f"{name} {part}", self._sections.get(name, ""))

    @property
    def blanks(self) -> tuple[str, ...]:
        """The functions for the learner to write, such as `Linear.backward`."""
        return tuple(part.written for part in self.parts)

    @property
    def has_hints_of_parts(self) -> bool:
        """True if a part has hints of its own."""
        return any(f"hints {part.name}" in self._sections for part in self.parts)

    def hints_for(self, part: str = "") -> list[str]:
        """Return the three hints, for the part of this name."""
        return self._section("hints", part).split("\n\n")

    def source(self) -> str:
        """Return the text of the file for the learner."""
        return self._source

    @cached_property
    def _source(self) -> str:
        things = dict.fromkeys(thing for part in self.parts for thing in part.sources())
        uses = self._section("uses").split()
        return exercise_file(self.number, self.title, str(self.chapter), self.text, things, uses)

    @property
    def code(self) -> str:
        """Its number with two digits, `07`."""
        return f"{self.number:02}"

    @property
    def file_name(self) -> str:
        """`07_layer_norm.py`"""
        return f"{self.code}_{self.slug}.py"


def _entries(text: str) -> dict[str, str]:
    return {key: " ".join(value.split()) for key, value in _ENTRY.findall(text)}
