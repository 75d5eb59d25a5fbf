"""Exercise 15: twelve layers, some of them broken by one line."""

import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import npbert
from npbert.io import read_text
from npbert.learn.blank import Blank
from npbert.learn.source import with_helpers
from npbert.learn.verdict import Verdict

UNKNOWN, FINE = "?", "right"


@dataclass(frozen=True)
class Suspect:
    """A method of a layer of the library, with one line changed, or none."""

    letter: str
    name: str
    method: str
    before: str = ""
    after: str = ""

    @property
    def layer(self) -> Any:
        """Its class."""
        return getattr(npbert, self.name)

    @cached_property
    def source(self) -> str:
        """The source of the method, with the change."""
        source = textwrap.dedent(inspect.getsource(getattr(self.layer, self.method)))
        return source.replace(self.before, self.after)

    @cached_property
    def lines(self) -> dict[str, str]:
        """The lines below the docstring, by their names."""
        _, _, body = self.source.partition('"""\n')
        lines = filter(str.strip, body.splitlines())
        return {f"{self.letter}{number}": line for number, line in enumerate(lines, start=1)}

    @property
    def answer(self) -> str:
        """The name of the changed line, or "right"."""
        changed = [name for name, line in self.lines.items() if self.after and self.after in line]
        return changed[0] if changed else FINE

    @property
    def text(self) -> str:
        """The class in the file, below the formula of its forward."""
        head, _, _ = self.source.partition('    """')
        lines = [head.rstrip(), *(f"{line}  # {name}" for name, line in self.lines.items())]
        formula, place = self.layer.__doc__.partition("\n")[0], self.layer.__module__.replace(".", "/")
        inside = textwrap.indent("\n".join(lines), "    ")
        return f"# {formula}\n# Its forward: {place}.py\nclass {self.letter.upper()}({self.name}):\n{inside}"

    def mistake(self, given: str) -> str:
        """Return what is wrong with an answer, without the right one; "" for a right or an open one."""
        if given in (self.answer, UNKNOWN):
            return ""
        says = "one of its lines is wrong"
        if given not in (FINE, *self.lines):
            first, *_, last = self.lines
            says = f'the answer is "{given}", wanted "{FINE}", or a line from {first} to {last}'
        elif self.answer == FINE:
            says = f"line {given} is right, and so are all others"
        elif given != FINE:
            says = f"one line is wrong, but line {given} is right"
        return f"{self.letter}, {self.name}: {says}."


_TABLE = """
a | Linear | backward
b | MeanSquaredError | backward | (2 * float(dloss) | (float(dloss)
c | SoftmaxCrossEntropy | backward | float(dloss) / len(targets) | float(dloss) / len(is_target)
d | Embedding | backward
e | Gather | backward | scatter_add(dx, rows, dy) | dx[rows] += dy
f | Dropout | backward
g | LayerNorm | three_roads | dot_rows(dx_hat, x_hat) | dot_rows(dy, x_hat)
h | MeanPooling | backward | dy / divisor | dy / len(divisor)
i | DotProductAttention | attend_backward | (self.dropout.apply(da, mask), p) | (da, p)
j | FeedForward | backward
k | EncoderLayer | backward | return ds + dqueries, dz | return dh + dqueries, dz
l | MaskedLMHead | backward
"""


SUSPECTS = {line[0]: Suspect(*line.split(" | ")) for line in _TABLE.strip().splitlines()}
"""By letter."""


class BugsBlank(Blank):
    """The dictionary of answers."""

    name = "ANSWERS"

    def sources(self) -> list[str]:
        """Return the classes, and the dictionary without answers."""
        suspects = SUSPECTS.values()
        texts = [text for each in suspects for text in with_helpers(each.text, inspect.getmodule(each.layer))]
        lines = [f'    "{each.letter}": "{UNKNOWN}",  # {each.name}' for each in suspects]
        return [*texts, "\n".join(["ANSWERS = {", *lines, "}"])]

    def shown(self, text: str, place: object) -> list[str]:
        """Return the answers, with the library's lines for the wrong ones."""
        return [
            f"{each.letter}, {each.name}: {each.answer}" + f", which should have {each.before}" * bool(each.before)
            for each in SUSPECTS.values()
        ]

    def prove(self, module: ModuleType) -> Verdict | None:
        """Return the verdict on the first wrong answer, without the right one."""
        thing = module.ANSWERS
        if not isinstance(thing, dict) or set(thing) != set(SUSPECTS):
            return Verdict(f"ANSWERS needs an answer for each of the letters {', '.join(SUSPECTS)}, and no other.")
        given = {letter: str(answer).strip().lower() for letter, answer in thing.items()}
        mistakes = {letter: SUSPECTS[letter].mistake(answer) for letter, answer in given.items()}
        wrong = [letter for letter, mistake in mistakes.items() if mistake]
        left = [letter for letter, answer in given.items() if answer == UNKNOWN]
        if wrong:
            count, text = len(SUSPECTS) - len(wrong) - len(left), read_text(Path(str(module.__file__)))
            key = re.search(rf"""(?s).*["']{wrong[0]}["']\s*:""", text)
            where = f"Line {text[: key.end()].count(chr(10)) + 1}: " if key else ""
            right = f"{count} of the {len(SUSPECTS)} answers are right so far."
            return Verdict(where + mistakes[wrong[0]]).because_of(right)
        return Verdict(f"Still open: {', '.join(left)}. The others are right.") if left else None


BLANK = BugsBlank(right=SUSPECTS, seeds=())
