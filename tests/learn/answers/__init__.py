"""Right and wrong answers as data, a file for each exercise, and the learners' files that are made of them.

RIGHT: by the name of a blank, what a careful student writes there, in small steps; `Class.method:loops` is another style
of it. WRONG: (name, blank, before, after), maybe with more pairs of before and after: what one mistake makes of the right
text. Each `before` stands in it once. (name, blank, FULL, text) is a mistake for which nothing of it is left.
"""

import ast
import importlib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from npbert.learn.exercise import Exercise
from npbert.learn.exercises import EXERCISES

FULL = "in place of the whole text"


class WrongAnswer(NamedTuple):
    """name: of the mistake, after that of the blank where there are several. text: of the file. lines: that differ."""

    name: str
    text: str
    lines: tuple[int, ...]


def data_of(number: int) -> ModuleType:
    """RIGHT and WRONG of an exercise."""
    (path,) = Path(__file__).parent.glob(f"e{number:02}_*.py")
    return importlib.import_module(f"{__name__}.{path.stem}")


def file_with(exercise: Exercise, answers: Mapping[str, str]) -> str:
    """The file of an exercise as a learner completes it. answers: by the name of a blank, its text."""
    text = exercise.source()
    for blank, body in answers.items():
        lines, node = text.splitlines(), ast.parse(text)
        for name in blank.partition(":")[0].split("."):
            node = next(each for each in node.body if name in (getattr(each, "name", ""), _target(each)))
        is_dictionary = isinstance(node, ast.Assign)
        start, end = (node.lineno, node.end_lineno - 1) if is_dictionary else (node.body[-1].lineno - 1, node.end_lineno)
        lines[start:end] = textwrap.indent(body.strip("\n"), lines[start][: -len(lines[start].lstrip())]).splitlines()
        text = "\n".join(lines) + "\n"
    return text


def _target(node: ast.AST) -> str:
    return getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""


def _with(number: int, blank: str, text: str) -> str:
    """The file with right answers, but for this blank."""
    answers = {name: right for name, right in data_of(number).RIGHT.items() if ":" not in name}
    return file_with(EXERCISES[number], answers | {blank.partition(":")[0]: text})


def right_answers(number: int) -> Iterator[str]:
    """The text of a right file, for each style of each blank."""
    for blank, text in data_of(number).RIGHT.items():
        yield _with(number, blank, text)


def edited(text: str, edits: Sequence[str]) -> str:
    """The text with each `before` replaced by its `after`. Raises: ValueError where that cannot be done."""
    if edits[0] == FULL:
        return edits[1]
    befores, afters = edits[::2], edits[1::2]
    if any(text.count(before) != 1 for before in befores):
        raise ValueError(f"not there once: {[before for before in befores if text.count(before) != 1]}")
    end = len(text)
    for start, before, after in sorted(zip(map(text.index, befores), befores, afters, strict=True), reverse=True):
        if start + len(before) > end:
            raise ValueError(f"{before!r} overlaps with what comes after it")
        text, end = text[:start] + after + text[start + len(before) :], start
    return text


def wrong_answers(number: int, *, at_once: int = 1) -> Iterator[WrongAnswer]:
    """The known mistakes; or all pairs of them that fit together, with at_once=2."""
    right = data_of(number).RIGHT
    for mistakes in combinations(data_of(number).WRONG, at_once):
        (name, blank, *edits), *others = mistakes
        edits += [each for other in others for each in other[2:]]
        if any(other[1] != blank for other in others) or (others and FULL in edits):
            continue
        try:
            before, after = (_with(number, blank, text) for text in (right[blank], edited(right[blank], edits)))
        except ValueError:
            if not others:
                raise
            continue
        name = " and ".join([name, *(other[0] for other in others)])
        several = len(EXERCISES[number].blanks) > 1
        yield WrongAnswer(f"{blank.partition(':')[0]}: {name}" if several else name, after, changed(before, after))


def changed(before: str, after: str) -> tuple[int, ...]:
    """The lines of `after`, from 1, that are new or another; and that which stands where lines were taken out."""
    lines, found = after.splitlines(), []
    for kind, _, _, start, end in SequenceMatcher(None, before.splitlines(), lines, autojunk=False).get_opcodes():
        if kind == "delete":
            found += [start + 1 if "".join(lines[start : start + 1]).strip() else start]
        elif kind != "equal":
            found += range(start + 1, end + 1)
    return tuple(found)
