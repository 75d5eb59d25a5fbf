"""Exercise: a file for a learner to complete, as data: a text in `exercises/`, and its blanks in `contents.py`.

The text begins with its title, the chapter to read, and the task. Its sections are:

    == imports    the imports of the file, with those that an answer may need
    == hints      three, from a nudge to almost the answer
    == asked      the docstring for the blank, instead of the one with the answer
    == names      gradient → its name for the learner: "weight → dW"; otherwise dx for an input x
    == plain      a right answer in small steps, to compare with; for most exercises
    == reasons    name → the reason of the right formula, by what is wrong: "dW → …"
    == advice     pattern → what helps, by the error of an answer

With several blanks, each has its own sections: "== asked AdamW".
"""

from dataclasses import dataclass, replace

from npbert.learn.blank import Blank
from npbert.learn.texts import sections

_FILE = '''"""Exercise {exercise.number}: {exercise.title}

{exercise.text}

Check:    npbert learn check {exercise.code}
A hint:   npbert learn hint {exercise.code}
To read:  {exercise.chapter}
          (Chapters show the finished lines. To find them yourself, try first.)
"""

from __future__ import annotations

{exercise.imports}


{exercise.body}
'''


@dataclass(frozen=True)
class Exercise:
    """slug, number: the name of its text, and its place among the exercises. text: the task. imports, hints: as in its
    text. blanks: checked in order."""

    slug: str
    number: int
    title: str
    chapter: str
    text: str
    imports: str
    hints: tuple[str, ...]
    blanks: tuple[Blank, ...]

    @property
    def written(self) -> tuple[str, ...]:
        """The functions for the learner to write, such as `Linear.backward`."""
        return tuple(blank.written for blank in self.blanks)

    @property
    def code(self) -> str:
        """Its number with two digits, `07`."""
        return f"{self.number:02}"

    @property
    def file_name(self) -> str:
        """`07_layer_norm.py`"""
        return f"{self.code}_{self.slug}.py"

    @property
    def body(self) -> str:
        """The library's source with its blanks."""
        return "\n\n\n".join(dict.fromkeys(source.strip("\n") for blank in self.blanks for source in blank.sources()))

    @property
    def source(self) -> str:
        """The file for the learner: the task, the imports, and the body."""
        return _FILE.format(exercise=self)


def read_exercise(slug: str, number: int, *blanks: Blank) -> Exercise:
    """Return an exercise with its text. A variant has the hints of its exercise."""
    found = {"hints": sections(slug.removesuffix("_again"))["hints"], **sections(slug)}
    title, chapter, task = found[""].split("\n", 2)
    hints = tuple(found["hints"].split("\n\n"))
    with_text = tuple(
        replace(blank, text={name.removesuffix(f" {blank.name}"): body for name, body in found.items()})
        for blank in blanks
    )
    return Exercise(slug, number, title, chapter, task.strip(), found["imports"], hints, with_text)
