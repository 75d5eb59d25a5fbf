"""Exercise: what is to be written, what is known to go wrong, and how an answer is judged."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from npbert.gradcheck.explain import Finding
from npbert.learn.source import Blank, blanked, exercise_file

HOME = "https://github.com/npbert/npbert/blob/main"
"""The pages of the project."""


class Chapter(NamedTuple):
    """A chapter of docs/: its number, its title and its file."""

    number: int
    title: str
    file: str

    def __str__(self) -> str:
        return f'chapter {self.number}, "{self.title}" ({self.place})'

    @property
    def place(self) -> str:
        """Where to read it: in docs/ of a clone, or on the project's pages where npbert is installed without docs/."""
        name = f"docs/{self.file}"
        return name if (Path(__file__).parents[2] / name).is_file() else f"{HOME}/{name}"


CHAPTERS = {
    1: Chapter(1, "What the derivative of a whole batch is", "01-derivative-of-a-batch.md"),
    2: Chapter(2, "A Linear, a softmax and a cross-entropy in numbers", "02-one-step-in-numbers.md"),
    3: Chapter(3, "Sums and broadcasts", "03-sums-and-broadcasts.md"),
    4: Chapter(4, "Softmax and cross-entropy", "04-softmax-and-cross-entropy.md"),
    5: Chapter(5, "LayerNorm and its three roads", "05-layer-norm.md"),
    6: Chapter(6, "Attention", "06-attention.md"),
    7: Chapter(7, "The tied table, dropout and the embeddings", "07-embeddings-dropout-tied-table.md"),
    8: Chapter(8, "From gradients to steps", "08-from-gradients-to-steps.md"),
    9: Chapter(9, "How to prove a gradient", "09-prove-a-gradient.md"),
    10: Chapter(10, "What the fast version does", "10-fast-version.md"),
}
"""The chapters that the exercises point to, by number."""


class Message(NamedTuple):
    """The explanation of a wrong answer. says: in a sentence. because: why, and what to look at, in paragraphs.
    findings: the same as data, each with its line and the edit that would mend it."""

    says: str
    because: str = ""
    findings: tuple[Finding, ...] = ()


def numbered(messages: Sequence[Message]) -> Message:
    """Several in one: the first, and in its `because` all others, numbered from 2 on, each with its own. A paragraph
    that several have in common is said once."""
    first, *others = messages
    paragraphs = dict.fromkeys(first.because.split("\n\n"))
    for number, each in enumerate(others, 2):
        paragraphs |= dict.fromkeys([f"{number}. {each.says}", *each.because.split("\n\n")])
    return Message(first.says, "\n\n".join(filter(None, paragraphs)))


@dataclass(frozen=True, kw_only=True)
class Section(ABC):
    """Something that an exercise asks for: a class or a function of the library, of which some lines are to be written.

    right: that of the library. blank: what is taken out of it. without: the methods that the file leaves out.
    above, helpers: a line that stands above it in the file, and functions of the library that stand below it.
    mends: whether the edit is looked for that makes a wrong answer right, which takes a while.
    remarks(thing): what may be said of a right answer, "" for nothing.
    """

    right: Any
    blank: Blank
    without: tuple[str, ...] = ()
    above: str = ""
    helpers: tuple[Callable[..., Any], ...] = ()
    mends: bool = True
    remarks: Callable[[Any], str] = lambda thing: ""

    @property
    def name(self) -> str:
        """The name of the class or function."""
        return str(self.right.__name__)

    @property
    def method(self) -> str:
        """The method that is the learner's to write, "" where it is a function."""
        return self.blank.method if isinstance(self.right, type) else ""

    @property
    def written(self) -> str:
        """The function that is the learner's to write, as `Linear.backward`."""
        return f"{self.name}.{self.method}" if self.method else self.name

    def sources(self) -> list[str]:
        """The things that the file holds for it, each as source."""
        asked = blanked(inspect.getsource(self.right), self.blank, self.without)
        return [*filter(None, [self.above]), asked, *map(inspect.getsource, self.helpers)]

    @abstractmethod
    def judge(self, thing: Any) -> Message | None:
        """Explain what is wrong with `thing`, which was written in place of `right`; None if nothing is."""


@dataclass(frozen=True)
class Exercise:
    """One file for a learner to complete.

    title: in a few words. chapter: where it is explained. hints: three, from a nudge to almost the answer.
    text: the task in words. parts: what is judged, in order. uses: names that an answer may need besides.
    hints_of_parts: by the name of a part, its hints, where those of the exercise are for the others.
    shown(): what is shown after a right answer, where that is not the library's source of the blanks.
    number, slug: its place among the exercises, and the name of its module: its file is `07_layer_norm.py`.
    """

    title: str
    chapter: Chapter
    text: str
    hints: tuple[str, str, str]
    parts: tuple[Section, ...]
    uses: tuple[str, ...] = ()
    shown: Callable[[], str] | None = None
    hints_of_parts: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    number: int = 0
    slug: str = ""

    @property
    def blanks(self) -> tuple[str, ...]:
        """The functions that are the learner's to write, as `Linear.backward`."""
        return tuple(part.written for part in self.parts)

    def source(self) -> str:
        """The text of the file, as it is written for the learner."""
        things = [thing for part in self.parts for thing in part.sources()]
        return exercise_file(self.number, self.title, str(self.chapter), self.text, things, self.uses)

    @property
    def code(self) -> str:
        """Its number as it is typed, `07`."""
        return f"{self.number:02}"

    @property
    def file_name(self) -> str:
        """`07_layer_norm.py`"""
        return f"{self.code}_{self.slug}.py"
