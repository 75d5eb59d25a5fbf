"""Exercise 15: twelve layers, some of them broken by one line."""

import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import npbert
from npbert.io import read_text
from npbert.learn.blank import Blank, with_helpers
from npbert.learn.verdict import Verdict

UNKNOWN, FINE = "?", "right"


_SUSPECTS = """
a | Linear | backward
b | MeanSquaredError | backward | (2 * float(dloss) | (float(dloss)
c | SoftmaxCrossEntropy | backward | float(dloss) / len(targets) | float(dloss) / len(is_target)
d | Embedding | backward
e | Gather | backward | scatter_add(dx, rows, dy) | dx[rows] += dy
f | Dropout | backward
g | LayerNorm | three_paths | dot_rows(dx_hat, x_hat) | dot_rows(dy, x_hat)
h | MeanPooling | backward | dy / divisor | dy / len(divisor)
i | DotProductAttention | attend_backward | (self.dropout.apply(da, mask), p) | (da, p)
j | FeedForward | backward
k | EncoderLayer | backward | return ds + dqueries, dz | return dh + dqueries, dz
l | MaskedLMHead | backward
"""
"""letter | layer | method | a piece of one of its lines | what is there instead"""


class Suspect(NamedTuple):
    """A method of a layer of the library, with one line changed, or none: the lines below its docstring, by name.

    answer: the name of the changed line, or "right". before: its right piece
    """

    letter: str
    layer: Any
    head: str
    lines: dict[str, str]
    answer: str
    before: str

    def __str__(self) -> str:
        """The class in the file, below the formula of its forward."""
        lines = [self.head.rstrip(), *(f"{line}  # {name}" for name, line in self.lines.items())]
        formula, place = self.layer.__doc__.partition("\n")[0], self.layer.__module__.replace(".", "/")
        head = f"# {formula}\n# Its forward: {place}.py\nclass {self.letter.upper()}({self.layer.__name__}):"
        return "\n".join([head, *lines])

    def mistake(self, given: str) -> str:
        """Return what is wrong with an answer, without the right one; "" for a right or an open one."""
        if given in (self.answer, UNKNOWN):
            return ""
        if given == FINE:
            return "one of its lines is wrong"
        if given in self.lines:
            others = "and so are all others" if self.answer == FINE else "but another is wrong"
            return f"line {given} is right, {others}"
        first, *_, last = self.lines
        return f'the answer is "{given}", wanted "{FINE}", or a line from {first} to {last}'


def suspects() -> dict[str, Suspect]:
    """Return the methods by letter."""
    found = {}
    for row in _SUSPECTS.strip().splitlines():
        letter, name, method, before, after = [*row.split(" | "), "", ""][:5]
        layer = getattr(npbert, name)
        source = inspect.getsource(getattr(layer, method))
        head, _, body = source.replace(before, after).split('"""')
        lines = {f"{letter}{n}": line for n, line in enumerate(filter(str.strip, body.splitlines()), start=1)}
        answer = next((place for place, line in lines.items() if after and after in line), FINE)
        found[letter] = Suspect(letter, layer, head, lines, answer, before)
    return found


class BugsBlank(Blank):
    """The dictionary of answers."""

    name = "ANSWERS"

    def sources(self) -> list[str]:
        """Return the classes, and the dictionary without answers."""
        texts = [text for each in suspects().values() for text in with_helpers(str(each), each.layer)]
        lines = [f'    "{letter}": "{UNKNOWN}",  # {each.layer.__name__}' for letter, each in suspects().items()]
        return [*texts, "\n".join(["ANSWERS = {", *lines, "}"])]

    def shown(self, text: str, place: str) -> list[str]:
        """Return the answers, with the library's lines for the wrong ones."""
        return [
            f"{letter}, {each.layer.__name__}: {each.answer}" + f", which should have {each.before}" * bool(each.before)
            for letter, each in suspects().items()
        ]

    def prove(self, module: ModuleType) -> Verdict | None:
        """Return the verdict on the first wrong answer, without the right one."""
        thing, letters = module.ANSWERS, suspects().keys()
        if not isinstance(thing, dict) or thing.keys() != letters:
            return Verdict(f"ANSWERS needs an answer for each of the letters {', '.join(letters)}, and no other.")
        given = {letter: str(answer).strip().lower() for letter, answer in thing.items()}
        count = sum(each.answer == given[letter] for letter, each in suspects().items())
        text = read_text(Path(str(module.__file__)))
        for letter, each in suspects().items():
            if says := each.mistake(given[letter]):
                key = re.search(rf"""(?s).*["']{letter}["']\s*:""", text)
                where = f"Line {text[: key.end()].count(chr(10)) + 1}: " if key else ""
                right = f"{count} of the {len(letters)} answers are right so far."
                return Verdict(f"{where}{letter}, {each.layer.__name__}: {says}.", right)
        left = [letter for letter, answer in given.items() if answer == UNKNOWN]
        return Verdict(f"Still open: {', '.join(left)}. The others are right.") if left else None


BLANK = BugsBlank(right=suspects, seeds=())
