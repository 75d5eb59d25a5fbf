"""Exercise: a task as data. Part: a class or function of it, with its numbers."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
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


def in_one_row(arrays: Iterable[Any]) -> Array:
    """Return all their numbers in one array."""
    return np.concatenate([np.ravel(array) for array in arrays])


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A class or a function of the library with lines for the learner to write.

    right: the library's. method: of the class. given: the least number of its statements that stay; those that take
    from the tape and check dy always do. without: methods that the file leaves out.

    numbers(thing, seed): the numbers of `thing`, step by step, by names for the learner. seeds: two for each of
    `VARIATIONS`, with different sizes. tolerance: relative to the largest number of an array.

    text: the exercise's sections for this part. `asked`: the docstring that replaces the one with the answer. `plain`:
    the source of a right answer in small steps. `reasons`: the reason of the right formula, by its result. `advice`:
    for errors, by a pattern.
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

    @property
    def fixed(self) -> tuple[str, ...]:
        """The numbers that are right unless given code is changed."""
        return ()

    @property
    def modules(self) -> list[ModuleType | None]:
        """The modules of the library's source, whose imports the file needs."""
        return [inspect.getmodule(self.right)]

    def run(self, thing: Any, seed: int) -> Iterator[Numbers]:
        """Return the numbers of `thing`, step by step."""
        return self.numbers(thing, seed)

    def prove(self, thing: Any, node: ast.stmt | None = None) -> Verdict | None:
        """Return the verdict on a mistake besides the numbers. node: the definition of `thing` in the learner's
        file."""
        return None

    @cached_property
    def right_numbers(self) -> list[Numbers]:
        """The library's numbers at each seed."""
        found: list[Numbers] = []
        for seed in self.seeds:
            found.append({})
            for numbers in self.run(self.right, seed):
                found[-1].update(numbers)
        return found

    @contextmanager
    def with_function(self, thing: Any, function: Callable[..., Any]) -> Iterator[Any]:
        """Within it, the learner's function is replaced. Gives `thing` with the other function."""
        if not self.method:
            yield function
            return
        own = getattr(thing, self.method)
        setattr(thing, self.method, function)
        try:
            yield thing
        finally:
            setattr(thing, self.method, own)

    def entries(self, section: str) -> dict[str, str]:
        """Return a section of lines "key → text"."""
        return {key: " ".join(value.split()) for key, value in _ENTRY.findall(self.text.get(section, ""))}

    def sources(self) -> list[str]:
        """Return the sources in the file for this part."""
        source = inspect.getsource(self.right)
        asked = blanked(source, self.method or self.name, self.text["asked"], self.given, self.without)
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
_OF_A_PART = "asked", "plain", "reasons", "advice"


@dataclass(frozen=True)
class Exercise:
    """A file for a learner to complete.

    slug, number: the name of its text, and its place among the exercises: its file is `07_layer_norm.py`. text: the
    task. hints: three, from a nudge to almost the answer. uses: names that an answer may need. parts: checked in order.
    """

    slug: str
    number: int
    title: str
    chapter: Chapter
    text: str
    hints: tuple[str, ...]
    uses: str
    parts: tuple[Part, ...]

    @property
    def blanks(self) -> tuple[str, ...]:
        """The functions for the learner to write, such as `Linear.backward`."""
        return tuple(part.written for part in self.parts)

    @cached_property
    def source(self) -> str:
        """The text of the file for the learner."""
        return exercise_file(self)

    @property
    def code(self) -> str:
        """Its number with two digits, `07`."""
        return f"{self.number:02}"

    @property
    def file_name(self) -> str:
        """`07_layer_norm.py`"""
        return f"{self.code}_{self.slug}.py"


def read_exercise(slug: str, number: int, *parts: Part) -> Exercise:
    """Return an exercise with its text: a line with its title and the number of its chapter, its task, and sections
    that begin with "== NAME", or "== NAME PART" for one of its parts.

    A variant has the hints of its exercise."""
    sections = {"hints": _sections(slug.removesuffix("_again"))["hints"], **_sections(slug)}
    head, _, task = sections[""].partition("\n\n")
    title, _, chapter = head.rpartition(", chapter ")
    with_text = []
    for part in parts:
        text = {name: sections.get(f"{name} {part.name}", sections.get(name, "")) for name in _OF_A_PART}
        with_text.append(replace(part, text=text))
    hints, uses = tuple(sections["hints"].split("\n\n")), sections.get("uses", "")
    return Exercise(slug, number, title, CHAPTERS[int(chapter)], task, hints, uses, tuple(with_text))


def _sections(slug: str) -> dict[str, str]:
    """Return the sections of a text by name, "" for the first."""
    text = Path(__file__).with_name("exercises").joinpath(f"{slug}.txt").read_text(encoding="utf-8")
    named = (section.partition("\n") for section in re.split(r"^== ", f"== \n{text}", flags=re.MULTILINE)[1:])
    return {name.strip(): body.strip("\n") for name, _, body in named}
