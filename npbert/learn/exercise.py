"""Exercise: what is to be written, what is known to go wrong, and how an answer is judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Chapter(NamedTuple):
    """A chapter of docs/: its number, its title and its file."""

    number: int
    title: str
    file: str

    def __str__(self) -> str:
        return f'chapter {self.number}, "{self.title}" (docs/{self.file})'


class Finding(NamedTuple):
    """What is wrong with an answer. says: in a sentence. because: why, and what to look at, in paragraphs."""

    says: str
    because: str = ""


def numbered(findings: Iterable[Finding]) -> Finding:
    """Several in one: the first, and in its `because` all others, numbered from 2 on, each with its own."""
    first, *others = findings
    more = [text for number, each in enumerate(others, 2) for text in (f"{number}. {each.says}", each.because)]
    return Finding(first.says, "\n\n".join(filter(None, [first.because, *more])))


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give. thing: the class or the function with this mistake in it. also: another mistake
    that is in it."""

    name: str
    says: str
    because: str
    thing: Any
    also: Mistake | None = None

    @property
    def findings(self) -> list[Finding]:
        """What is said of an answer with this mistake, and with the other one."""
        return [Finding(self.says, self.because), *(self.also.findings if self.also else [])]


def both(one: Mistake, other: Mistake, thing: Any) -> Mistake:
    """Two mistakes at once. thing: with both of them in it."""
    return Mistake(f"{one.name} and {other.name}", one.says, one.because, thing, also=other)


class Mistakes(list[Mistake]):
    """The known mistakes of one class or function. Used as a decorator, it adds another one:

        @MISTAKES("dx is the slope alone, without dy.", "The chain rule …")
        def without_dy(self, dy, tape): ...

    What is decorated takes the place of the method (of `method`, where it is given) in a subclass of the right class;
    or of the whole, where the right thing is a function, or what is decorated a class.
    """

    def __init__(self, right: Any, method: str | None = None) -> None:
        super().__init__()
        self.right, self.method = right, method

    def __call__(self, says: str, because: str, *, method: str | None = None) -> Callable[[Any], Any]:
        """The decorator for one mistake: what is said of it, and why it is one."""

        def add(wrong: Any) -> Any:
            name = wrong.__name__
            method_name = method or self.method
            is_whole = method_name is None or isinstance(wrong, type)
            thing = (
                wrong if is_whole else type(name, (self.right,), {str(method_name): wrong, "__module__": "mistakes"})
            )
            self.append(Mistake(name, says, because, thing))
            return wrong

        return add


class Part(ABC):
    """Something that an exercise asks for: a class or a function of this name, and the right one of the library."""

    name: str
    right: Any
    mistakes: list[Mistake]

    @abstractmethod
    def judge(self, thing: Any) -> Finding | None:
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
