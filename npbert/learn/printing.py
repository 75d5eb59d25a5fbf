"""The texts that `npbert learn` prints: verdicts, hints, where to read on, and both answers, one above the other."""

import ast
import inspect
import itertools
import re
import shutil
import textwrap
from collections.abc import Collection
from pathlib import Path
from typing import Any

from npbert.gradcheck.explain import describe, describe_edit
from npbert.io.files import read_text
from npbert.learn.exception_help import IN_NUMPY
from npbert.learn.exercise import Exercise
from npbert.learn.source import definitions
from npbert.learn.verdict import NOT_BEGUN, RIGHT, WRONG, Verdict

WIDEST = 100
MOST_LINES = 10

PROGRAM = "npbert learn"
"""What the commands of a terminal begin with."""


def answer(
    exercise: Exercise, verdict: Verdict, option: str = "", *, mends: bool = False, program: str = PROGRAM
) -> str:
    """All that is to be said of one exercise. option: what the next command needs, as " --folder mine". mends: with the
    change that makes it right. program: what the commands begin with."""
    parts = [line(exercise, verdict)]
    if verdict.status == WRONG:
        first = "1. " if re.search(r"^2\. ", verdict.because, re.MULTILINE) else ""
        parts += [indented(first + verdict.says)] + ([indented(verdict.because)] if verdict.because else [])
    several = len(verdict.findings) > 1
    changes = [describe_edit(finding, of_several=several) for finding in verdict.findings] if mends else []
    parts += [indented(f"{n}. {text}" if several else text) for n, text in enumerate(changes, 1) if text]
    if verdict.printed.strip():
        lines = verdict.printed.rstrip().split("\n")
        more = len(lines) > MOST_LINES or verdict.printed.rstrip().endswith("…")
        says = "Your code printed (it is run several times; this is the beginning):" if more else "Your code printed:"
        parts.append("\n".join([indented(says), *(f"    | {line}" for line in lines[:MOST_LINES])]))
    if verdict.status == WRONG:
        read = exercise.chapter.place
        parts.append(f"  To read: {read}\n  A hint:  {program} hint {exercise.code}{option}")
    if verdict.status == NOT_BEGUN:
        begin = f"Open {exercise.file_name}: it" if program == PROGRAM else f"{program} {exercise.code}"
        parts.append(indented(f"{begin} says what to do. To read: {exercise.chapter}."))
    if verdict.status == RIGHT:
        parts += [indented(verdict.because)] if verdict.because else []
        parts.append(indented(f"{program} show {exercise.code}{option} lays yours beside the library's."))
    return "\n\n".join(parts)


def edits(exercise: Exercise, verdict: Verdict) -> str:
    """The changes that would make the answer right, where they were found."""
    if verdict.status != WRONG:
        return line(exercise, verdict)
    if not verdict.findings:
        return indented("No small change was found that makes it right. The third hint says what the formula is.")
    return "\n\n".join(indented(describe(finding, edit=True)) for finding in verdict.findings)


def line(exercise: Exercise, verdict: Verdict) -> str:
    """One line: 07 LayerNorm: right"""
    return f"{exercise.code} {exercise.title}: {verdict.status}"


def summary(exercise: Exercise, verdict: Verdict, option: str = "") -> str:
    """One line that says where to learn more."""
    more = f" (npbert learn check {exercise.code}{option} says why)" if verdict.status == WRONG else ""
    return f"{line(exercise, verdict)}{more}"


def hint(exercise: Exercise, number: int, part: str = "", option: str = "", *, program: str = PROGRAM) -> str:
    """The hint of this number, 1 to 3, and how to get the next one. part: for which part it is, if it is known."""
    hints = exercise.hints_for(part)
    text = indented(hints[number - 1])
    more = f"{program} hint {exercise.code} {number + 1}{option} says more." if number < len(hints) else ""
    change = f"{program} hint {exercise.code} 4{option} shows what would make your answer right."
    last = f"This was the last hint. To read: {exercise.chapter}. {change}"
    of_part = f", {part}" if exercise.hints_of_parts and part else ""
    head = f"{exercise.code} {exercise.title}{of_part}, hint {number} of {len(hints)}"
    return f"{head}\n\n{text}\n\n{indented(more or last)}"


def indented(text: str, by: str = "  ") -> str:
    """As wide as the terminal, indented. Lines that are indented already stay as they are."""
    width = min(shutil.get_terminal_size().columns, WIDEST) - len(by)
    return textwrap.indent("\n\n".join(_filled(part, width) for part in text.split("\n\n")), by)


def _filled(paragraph: str, width: int) -> str:
    """Runs of lines that are not indented, each filled; all others as they are."""
    lines: list[str] = []
    for is_shown, run in itertools.groupby(paragraph.split("\n"), lambda line: line.startswith(" ")):
        these = list(run)
        lines += (
            these if is_shown else textwrap.wrap(" ".join(these), width, break_on_hyphens=False, break_long_words=False)
        )
    return "\n".join(lines)


def show(exercise: Exercise, path: Path, place: str = "") -> str:
    """Of each blank, what the learner wrote, and what stands in the library with its derivation, and below it the
    functions of the library that it calls. place: what the file is called, if not by its path."""
    if exercise.shown is not None:
        return exercise.shown()
    text = read_text(path)
    shown, known = [], _names(exercise.source())
    for part in exercise.parts:
        right = getattr(part.right, part.method) if part.method else part.right
        node = definitions(text).get(part.written)
        own = "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno]) if node else "(elsewhere)"
        shown.append(_titled(f"{part.written}, yours ({place or path})", own))
        shown.append(_titled(f"{part.written}, the library's ({_place(right)})", inspect.getsource(right)))
        helpers = called_by(right, part.right, known)
        for each in helpers:
            title = f"{each.__qualname__}, which it calls ({_place(each)})"
            shown.append(_titled(title, inspect.getsource(each)))
        nodes = [node for each in (right, *helpers) for node in _uses(each)]
        used = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
        unknown = [name for name in used if name in IN_NUMPY and name not in [each.__name__ for each in helpers]]
        shown += [f"In plain NumPy: {'; '.join(map(IN_NUMPY.__getitem__, unknown))}."] if unknown else []
    return "\n\n".join(shown)


def called_by(function: Any, owner: Any, known: Collection[str]) -> list[Any]:
    """The functions of the library that it uses by a name of their own, or as `self.name`, and what these use in turn.

    owner: the class that it is a method of, if it is one. known: names that the learner's file has already. What comes
    from npbert.core is not arithmetic, and what comes from npbert.compute is said in a line (IN_NUMPY).
    """
    found: list[Any] = []
    waiting = [function]
    while waiting:
        this = waiting.pop(0)
        for node in _uses(this):
            used = this.__globals__.get(node.id) if isinstance(node, ast.Name) else getattr(owner, node.attr, None)
            room = (getattr(used, "__module__", "") or "").split(".") if inspect.isfunction(used) else [""]
            is_shown = (
                room[0] == "npbert"
                and room[1] not in ("core", "compute")
                and getattr(used, "__name__", "") not in known
            )
            if is_shown and used is not function and used not in found:
                found.append(used)
                waiting.append(used)
    return found


def _uses(function: Any) -> list[ast.Name | ast.Attribute]:
    """The names in a function, and the attributes of `self`."""
    nodes = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))
    return [
        node
        for node in nodes
        if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self")
    ]


def _names(source: str) -> set[str]:
    """The names that are defined in a file, or imported into it."""
    nodes = list(ast.walk(ast.parse(source)))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return defined | {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def _place(thing: Any) -> str:
    where = inspect.getmodule(thing)
    return where.__name__.replace(".", "/") + ".py" if where else "the library"


def _titled(title: str, source: str) -> str:
    return f"{title}\n{'─' * len(title)}\n{textwrap.dedent(source).strip()}"
