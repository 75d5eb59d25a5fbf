"""Exercise 15: twelve layers, some of them broken by one line."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

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


@dataclass(frozen=True)
class Suspect:
    """A layer of the library in the file, with one line of a method changed, or none."""

    letter: str
    right: type[Any]
    before: str = ""
    after: str = ""
    method: str = "backward"

    @property
    def name(self) -> str:
        """Its letter and its class."""
        return f"{self.letter}, {self.right.__name__}"

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the method in the file: its head, and the body without docstring, with the change.

        Raises: ValueError unless the text to change occurs exactly once in the library's source."""
        source = textwrap.dedent(inspect.getsource(getattr(self.right, self.method)))
        if self.before and source.count(self.before) != 1:
            raise ValueError(f"{self.before!r} is not in {self.right.__name__}.{self.method} once")
        docstring = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
        lines = source.replace(self.before, self.after).splitlines()
        return ["\n".join(lines[: docstring.lineno - 1]), *filter(str.strip, lines[docstring.end_lineno :])]

    @property
    def answer(self) -> str:
        """The name of the changed line, or "right"."""
        changed = [number for number, line in enumerate(self.lines) if self.after and self.after in line]
        return f"{self.letter}{changed[0]}" if changed else FINE

    @property
    def text(self) -> str:
        """The class in the file."""
        head, *body = self.lines
        lines = [head, *(f"{line}  # {self.letter}{number}" for number, line in enumerate(body, start=1))]
        place = self.right.__module__.replace(".", "/")
        inside = textwrap.indent("\n".join(lines), "    ")
        return f"# its forward: {place}.py\nclass {self.letter.upper()}({self.right.__name__}):\n{inside}"

    @property
    def shown(self) -> str:
        """The changed line, with the library's."""
        if self.answer == FINE:
            return f"{self.name}: {FINE}"
        changed = self.lines[int(self.answer[1:])].strip()
        library = changed.replace(self.after, self.before)
        return f"{self.name}, line {self.answer}:\n    {changed}\n  should be\n    {library}"

    def judge(self, given: str) -> Verdict | None:
        """Return a sentence on a wrong answer, without the right one."""
        names = [f"{self.letter}{number}" for number in range(1, len(self.lines))]
        if given == self.answer:
            return None
        if given not in (FINE, *names):
            expected = f'"{FINE}", or a line from {names[0]} to {names[-1]}'
            return Verdict(f'{self.name}: the answer is "{given}", wanted {expected}.')
        if self.answer == FINE:
            return Verdict(f"{self.name}: line {given} is right, and so are all others.")
        if given != FINE:
            return Verdict(f"{self.name}: one line is wrong, but line {given} is right.")
        return Verdict(f"{self.name}: one of its lines is wrong.")


SUSPECTS = (
    Suspect("a", Linear),
    Suspect("b", MeanSquaredError, "(2 * float(dloss) / difference.size)", "(float(dloss) / difference.size)"),
    Suspect("c", SoftmaxCrossEntropy, "float(dloss) / len(targets)", "float(dloss) / len(is_target)"),
    Suspect("d", Embedding),
    Suspect("e", Gather, "scatter_add(dx, rows, dy)", "dx[rows] += dy"),
    Suspect("f", Dropout),
    Suspect("g", LayerNorm, "dot_rows(dx_hat, x_hat)", "dot_rows(dy, x_hat)", "three_roads"),
    Suspect("h", MeanPooling, "dy / divisor", "dy / len(divisor)"),
    Suspect("i", DotProductAttention, "(self.dropout.apply(da, mask), p)", "(da, p)", "attend_backward"),
    Suspect("j", FeedForward),
    Suspect("k", EncoderLayer, "return ds + dqueries, dz", "return dh + dqueries, dz"),
    Suspect("l", MaskedLMHead),
)


class AnswersPart(Part):
    """The dictionary of answers."""

    name = "ANSWERS"

    @property
    def modules(self) -> list[ModuleType | None]:
        """The modules of the layers."""
        return [inspect.getmodule(each.right) for each in SUSPECTS]

    def sources(self) -> list[str]:
        """Return the classes, and the dictionary without answers."""
        helpers: list[str] = []
        for each in SUSPECTS:
            helpers += with_helpers(each.text, inspect.getmodule(each.right))[1:]
        lines = [f'    "{each.letter}": "{UNKNOWN}",  # {each.right.__name__}' for each in SUSPECTS]
        answers = "\n".join(["ANSWERS = {", *lines, "}"])
        return [*helpers, *(each.text for each in SUSPECTS), answers]

    def shown(self, text: str, place: object) -> list[str]:
        """Return the changed lines, with the library's."""
        return [each.shown for each in SUSPECTS]

    def prove(self, thing: Any) -> Verdict | None:
        """Return the verdict on the first wrong answer, without the right one."""
        letters = [each.letter for each in SUSPECTS]
        if not isinstance(thing, dict) or set(thing) != set(letters):
            return Verdict(f"ANSWERS needs an answer for each of the letters {', '.join(letters)}, and no other.")
        given = {letter: str(answer).strip().lower() for letter, answer in thing.items()}
        left = [letter for letter in letters if given[letter] == UNKNOWN]
        wrong = list(self._wrong(given))
        if wrong:
            count = len(SUSPECTS) - len(wrong) - len(left)
            return wrong[0].because_of(f"{count} of the {len(SUSPECTS)} answers are right so far.")
        return Verdict(f"Still open: {', '.join(left)}. The others are right.") if left else None

    def _wrong(self, given: dict[str, str]) -> Iterator[Verdict]:
        for each in SUSPECTS:
            if given[each.letter] != UNKNOWN:
                verdict = each.judge(given[each.letter])
                if verdict is not None:
                    yield verdict


PART = AnswersPart(right=SUSPECTS, seeds=())
