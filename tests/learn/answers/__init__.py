"""Right and wrong answers as data, a text file for each exercise, and the learners' files that are made of them.

    == right BLANK[: STYLE]        what stands in the place of the blank, in small steps or in another style
    == wrong BLANK[: STYLE], …     NAME: BEFORE → AFTER for each mistake; a line "& BEFORE → AFTER" belongs to it

Each BEFORE stands once in the right text. "⏎" is the end of a line, and a BEFORE of "…" is the whole text.
"""

import ast
import textwrap
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path

from npbert.learn.exercises import EXERCISES


@dataclass(frozen=True)
class WrongAnswer:
    """A right answer, in a style, with edits of one blank. name: of the mistake, after its blank where there are
    several."""

    number: int
    name: str
    style: str
    edits: tuple[str, ...]

    @property
    def blank(self):
        """The blank with the mistake."""
        return self.style.partition(":")[0]

    @property
    def part(self):
        """The class or function with the mistake."""
        return self.blank.partition(".")[0]

    @cached_property
    def text(self):
        """The text of the file."""
        body = edited(right(self.number)[self.style], self.edits)
        return file_with(EXERCISES[self.number], _in_small_steps(self.number) | {self.blank: body})

    @property
    def lines(self):
        """Where it is not right."""
        return _changed(right_answer(self.number, self.style).splitlines(), self.text.splitlines())


def file_with(exercise, answers):
    """The file of an exercise as a learner completes it. answers: by the name of a blank, its text."""
    text = exercise.source
    for blank, body in answers.items():
        lines, node = text.splitlines(), ast.parse(text)
        for name in blank.split("."):
            node = next(each for each in node.body if name in (getattr(each, "name", ""), _assigned(each)))
        whole = (node.lineno, node.end_lineno - 1) if _assigned(node) else (node.body[-1].lineno - 1, node.end_lineno)
        indent = lines[whole[0]][: -len(lines[whole[0]].lstrip())]
        lines[slice(*whole)] = textwrap.indent(body.strip("\n"), indent).splitlines()
        text = "\n".join(lines) + "\n"
    return text


def _assigned(node):
    return getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""


def answered(number, body):
    """The file of an exercise with this in its first blank."""
    return file_with(EXERCISES[number], {EXERCISES[number].written[0]: body})


@cache
def right(number):
    """By "BLANK" or "BLANK: STYLE", what is right there."""
    return {of: "\n".join([*lines, ""]) for kind, of, lines in _sections(number) if kind == "right"}


def _in_small_steps(number):
    return {blank: text for blank, text in right(number).items() if ":" not in blank}


@cache
def right_answer(number, style=""):
    """The text of a right file: in small steps, but for one blank if its style is given."""
    other = {style.partition(":")[0]: right(number)[style]} if style else {}
    return file_with(EXERCISES[number], _in_small_steps(number) | other)


def wrong_answers(number):
    """Those with each known mistake."""
    for kind, of, lines in _sections(number):
        for style in of.split(", ") if kind == "wrong" else ():
            for mistake in "\n".join(lines).replace("\n& ", "\0").splitlines():
                name, _, edits = mistake.partition(": ")
                where = f"{style.partition(':')[0]}: " if len(EXERCISES[number].written) > 1 else ""
                yield WrongAnswer(number, where + name, style, tuple(edits.split("\0")))


def _sections(number):
    """right or wrong, of what, and the lines."""
    (path,) = Path(__file__).parent.glob(f"{number:02}_*.txt")
    for section in path.read_text(encoding="utf-8").split("\n== ")[1:]:
        head, *lines = section.rstrip().splitlines()
        kind, _, of = head.partition(" ")
        yield kind, of, lines


def edited(text, edits):
    """The text with each `before` replaced by its `after`."""
    places = []
    for edit in edits:
        before, _, after = edit.replace("⏎", "\n").partition(" →")
        if before == "…":
            return after[1:]
        assert text.count(before) == 1, before
        places.append((text.index(before), before, after[1:]))
    for start, before, after in sorted(places, reverse=True):
        text = text[:start] + after + text[start + len(before) :]
    return text


def _changed(before, after):
    """The lines of `after`, from 1, that are new or another; where some were taken out, the next, or the last."""
    found = []
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        there = start + bool("".join(after[start : start + 1]).strip())
        found += {"equal": [], "delete": [there]}.get(kind, range(start + 1, end + 1))
    return tuple(found)


def write(number, folder, *changes):
    """Write a right answer into the folder, with changes (before, after) of its text; the file."""
    text = right_answer(number)
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = folder / EXERCISES[number].file_name
    path.write_text(text, encoding="utf-8")
    return path
