"""Exercise 15: twelve layers, some of them broken by one line."""

import ast
import inspect
import textwrap
from functools import cache
from typing import Any, NamedTuple

from npbert.blocks import EncoderLayer, FeedForward, MaskedLMHead, MeanPooling
from npbert.layers import (
    DotProductAttention,
    Dropout,
    Embedding,
    Gather,
    LayerNorm,
    Linear,
    MeanSquaredError,
    SoftmaxCrossEntropy,
)
from npbert.learn.exercise import Part
from npbert.learn.source import with_helpers
from npbert.learn.verdict import Verdict

UNKNOWN, FINE = "?", "right"


class Suspect(NamedTuple):
    """A method of a layer of the library in the file, with one line changed or none."""

    right: type[Any]
    method: str
    before: str = ""
    after: str = ""


SUSPECTS = {
    "a": Suspect(Linear, "backward"),
    "b": Suspect(
        MeanSquaredError, "backward", "(2 * float(dloss) / difference.size)", "(float(dloss) / difference.size)"
    ),
    "c": Suspect(SoftmaxCrossEntropy, "backward", "float(dloss) / len(targets)", "float(dloss) / len(is_target)"),
    "d": Suspect(Embedding, "backward"),
    "e": Suspect(Gather, "backward", "scatter_add(dx, rows, dy)", "dx[rows] += dy"),
    "f": Suspect(Dropout, "backward"),
    "g": Suspect(LayerNorm, "three_roads", "dot_rows(dx_hat, x_hat)", "dot_rows(dy, x_hat)"),
    "h": Suspect(MeanPooling, "backward", "dy / divisor", "dy / len(divisor)"),
    "i": Suspect(DotProductAttention, "attend_backward", "(self.dropout.apply(da, mask), p)", "(da, p)"),
    "j": Suspect(FeedForward, "backward"),
    "k": Suspect(EncoderLayer, "backward", "return ds + dqueries, dz", "return dh + dqueries, dz"),
    "l": Suspect(MaskedLMHead, "backward"),
}


@cache
def lines_of(letter: str) -> list[str]:
    """Return the lines of the method in the file: its head, and the body without docstring, with the change.

    Raises: ValueError unless the text to change occurs exactly once in the library's source."""
    suspect = SUSPECTS[letter]
    source = textwrap.dedent(inspect.getsource(getattr(suspect.right, suspect.method)))
    if suspect.before and source.count(suspect.before) != 1:
        raise ValueError(f"{suspect.before!r} is not in {suspect.right.__name__}.{suspect.method} once")
    docstring = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    lines = source.replace(suspect.before, suspect.after).splitlines()
    return ["\n".join(lines[: docstring.lineno - 1]), *filter(str.strip, lines[docstring.end_lineno :])]


def answer(letter: str) -> str:
    """Return the right answer for a layer: the name of the changed line, or "right"."""
    after = SUSPECTS[letter].after
    return next((f"{letter}{number}" for number, line in enumerate(lines_of(letter)) if after and after in line), FINE)


def class_text(letter: str) -> str:
    """Return the class in the file."""
    right = SUSPECTS[letter].right
    head, *body = lines_of(letter)
    lines = [head, *(f"{line}  # {letter}{number}" for number, line in enumerate(body, start=1))]
    place = right.__module__.replace(".", "/")
    inside = textwrap.indent("\n".join(lines), "    ")
    return f"# its forward: {place}.py\nclass {letter.upper()}({right.__name__}):\n{inside}"


class AnswersPart(Part):
    """The dictionary of answers."""

    name = "ANSWERS"

    def sources(self) -> list[str]:
        """Return the classes, and the dictionary without answers."""
        lines = [f'    "{letter}": "{UNKNOWN}",  # {each.right.__name__}' for letter, each in SUSPECTS.items()]
        texts, helpers = list(map(class_text, SUSPECTS)), []
        for text, each in zip(texts, SUSPECTS.values(), strict=True):
            helpers += with_helpers(text, inspect.getmodule(each.right))[1:]
        answers = "\n".join(lines)
        return [*helpers, *texts, f"ANSWERS = {{\n{answers}\n}}\n"]

    def shown(self, text: str, place: object) -> list[str]:
        """Return the changed lines, with the library's."""
        return [_line_shown(letter) for letter in SUSPECTS]


def _line_shown(letter: str) -> str:
    suspect, line = SUSPECTS[letter], answer(letter)
    told = f"{letter}, {suspect.right.__name__}"
    if line == FINE:
        return f"{told}: {FINE}"
    changed = lines_of(letter)[int(line[1:])].strip()
    library = changed.replace(suspect.after, suspect.before)
    return f"{told}, line {line}:\n    {changed}\n  should be\n    {library}"


def judge_answers(thing: Any) -> Verdict | None:
    """Return the verdict on the first wrong answer, without the right one."""
    if not isinstance(thing, dict) or set(thing) != set(SUSPECTS):
        return Verdict(f"ANSWERS needs an answer for each of the letters {', '.join(SUSPECTS)}, and no other.")
    given = {letter: str(thing[letter]).strip().lower() for letter in SUSPECTS}
    left = [letter for letter in SUSPECTS if given[letter] == UNKNOWN]
    wrong = [letter for letter in SUSPECTS if given[letter] not in (answer(letter), UNKNOWN)]
    if wrong:
        count = len(SUSPECTS) - len(wrong) - len(left)
        told = _told(wrong[0], given[wrong[0]])
        return told.because_of(f"{count} of the {len(SUSPECTS)} answers are right so far.")
    return Verdict(f"Still open: {', '.join(left)}. The others are right.") if left else None


def _told(letter: str, given: str) -> Verdict:
    """Return a sentence on a wrong answer, without the right one."""
    name, right = f"{letter}, {SUSPECTS[letter].right.__name__}", answer(letter)
    lines = [f"{letter}{number}" for number in range(1, len(lines_of(letter)))]
    if given not in (FINE, *lines):
        return Verdict(f'{name}: the answer is "{given}", wanted "{FINE}", or a line from {lines[0]} to {lines[-1]}.')
    if right == FINE:
        return Verdict(f"{name}: line {given} is right, and so are all others.")
    if given != FINE:
        return Verdict(f"{name}: one line is wrong, but line {given} is right.")
    return Verdict(f"{name}: one of its lines is wrong.")


PART = AnswersPart(right=SUSPECTS, seeds=(), prove=judge_answers)
