"""Exercise: what is to be written, what is known to go wrong, and how an answer is judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from npbert.gradcheck.explain import Finding


class Chapter(NamedTuple):
    """A chapter of docs/: its number, its title and its file."""

    number: int
    title: str
    file: str

    def __str__(self) -> str:
        return f'chapter {self.number}, "{self.title}" (docs/{self.file})'


class Message(NamedTuple):
    """What is said of an answer that is wrong. says: in a sentence. because: why, and what to look at, in paragraphs.
    findings: the same as data, each with its line and the edit that would mend it."""

    says: str
    because: str = ""
    findings: tuple[Finding, ...] = ()


def numbered(messages: Sequence[Message]) -> Message:
    """Several in one: the first, and in its `because` all others, numbered from 2 on, each with its own."""
    first, *others = messages
    more = [text for number, each in enumerate(others, 2) for text in (f"{number}. {each.says}", each.because)]
    return Message(first.says, "\n\n".join(filter(None, [first.because, *more])))


class Part(ABC):
    """Something that an exercise asks for: a class or a function of this name, and the right one of the library."""

    name: str
    right: Any

    @abstractmethod
    def judge(self, thing: Any) -> Message | None:
        """What is wrong with `thing`, which was written in place of `right`; None if nothing is."""

    def remark(self, thing: Any) -> str:
        """What may be said of a `thing` that is right; "" if nothing is to be said."""
        return ""


@dataclass(frozen=True)
class Exercise:
    """One file for a learner to complete.

    number, slug: its file is `07_layer_norm.py`. title: in a few words. chapter: where it is explained.
    hints: three, from a nudge to almost the answer. parts: what is judged, in order. source(): the text of the file.
    blanks: the functions that are the learner's to write, as `Linear.backward`.
    hints_of_parts: by the name of a part, its hints, where those of the exercise are for the others.
    shown(): what is shown after a right answer, where that is not the library's source of the blanks.
    """

    number: int
    slug: str
    title: str
    chapter: Chapter
    hints: tuple[str, str, str]
    parts: tuple[Part, ...]
    source: Callable[[], str]
    blanks: tuple[str, ...]
    shown: Callable[[], str] | None = None
    hints_of_parts: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """Its number as it is typed, `07`."""
        return f"{self.number:02}"

    @property
    def file_name(self) -> str:
        """`07_layer_norm.py`"""
        return f"{self.code}_{self.slug}.py"
