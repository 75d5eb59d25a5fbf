"""Right and wrong answers as data, a file for each exercise, and the learners' files that are made of them.

RIGHT: by the name of a blank, a right answer in small steps; "Class.method:in place" is another style of it.
WRONG: (name, blank, before, after, …): what a mistake changes in the right text, in which each `before` stands once.
"""

import ast
import importlib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from npbert.learn.exercise import Exercise
from npbert.learn.exercises import EXERCISES

FULL = "in place of the whole text"  # (name, blank, FULL, text) leaves nothing of the right one


class WrongAnswer(NamedTuple):
    """name: of the mistake, after its blank where there are several. text: of a file. lines: where it is not right."""

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
            node = next(each for each in node.body if name in (getattr(each, "name", ""), _assigned(each)))
        whole = (node.lineno, node.end_lineno - 1) if _assigned(node) else (node.body[-1].lineno - 1, node.end_lineno)
        indent = lines[whole[0]][: -len(lines[whole[0]].lstrip())]
        lines[slice(*whole)] = textwrap.indent(body.strip("\n"), indent).splitlines()
        text = "\n".join(lines) + "\n"
    return text


def _assigned(node: ast.AST) -> str:
    return getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""


def right_answers(number: int) -> Iterator[str]:
    """The text of a right file, for each style of each blank."""
    yield from (_with(number, blank, text) for blank, text in data_of(number).RIGHT.items())


def wrong_answers(number: int, at_once: int = 1) -> Iterator[WrongAnswer]:
    """Those with each mistake; or, with at_once=2, with each two that can be made in one text."""
    right, several = data_of(number).RIGHT, len(EXERCISES[number].blanks) > 1
    for mistakes in combinations(data_of(number).WRONG, at_once):
        names, (blank, *others), edits = zip(*((name, blank, edits) for name, blank, *edits in mistakes), strict=True)
        wrong = _edited(right[blank], [*chain(*edits)]) if {blank}.issuperset(others) else None
        assert wrong or at_once > 1, f"the edits of {names} overlap"
        if wrong:
            before, text = _with(number, blank, right[blank]), _with(number, blank, wrong)
            name = f"{blank.partition(':')[0]}: " * several + " and ".join(names)
            yield WrongAnswer(name, text, _changed(before.splitlines(), text.splitlines()))


@cache
def _with(number: int, blank: str, text: str) -> str:
    """The file with right answers, but for this blank."""
    answers = {name: right for name, right in data_of(number).RIGHT.items() if ":" not in name}
    return file_with(EXERCISES[number], answers | {blank.partition(":")[0]: text})


def _edited(text: str, edits: Sequence[str]) -> str | None:
    """The text with each `before` replaced by its `after`; None where two of them are at one place."""
    if FULL in edits:
        return edits[1] if len(edits) == 2 else None
    befores, afters, end = edits[::2], edits[1::2], len(text)
    assert all(text.count(before) == 1 for before in befores), befores
    for start, before, after in sorted(zip(map(text.index, befores), befores, afters, strict=True), reverse=True):
        if start + len(before) > end:
            return None
        text, end = text[:start] + after + text[start + len(before) :], start
    return text


def _changed(before: list[str], after: list[str]) -> tuple[int, ...]:
    """The lines of `after`, from 1, that are new or another; where some were taken out, the next, or the last."""
    found: list[int] = []
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        there = start + bool("".join(after[start : start + 1]).strip())
        found += {"equal": [], "delete": [there]}.get(kind, range(start + 1, end + 1))
    return tuple(found)
