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
    """A method of a layer of the library, with one line changed, or none.

    text: the class in the file, below the formula of its forward   names: of its lines, each in a comment there
    answer: the name of the changed line, or "right"   before: its right piece
    """

    layer: Any
    text: str
    names: list[str]
    answer: str
    before: str

    def mistake(self, given: str) -> str:
        """Return what is wrong with an answer, without the right one; "" for a right or an open one."""
        if given in (self.answer, UNKNOWN):
            return ""
        if given == FINE:
            return "one of its lines is wrong"
        if given in self.names:
            others = "and so are all others" if self.answer == FINE else "but another is wrong"
            return f"line {given} is right, {others}"
        return f'the answer is "{given}", wanted "{FINE}", or a line from {self.names[0]} to {self.names[-1]}'


def suspects() -> dict[str, Suspect]:
    """Return the methods by letter."""
    found = {}
    for letter, name, method, before, after in re.findall(r"(\w) \| (\w+) \| (\w+)(?: \| (.*) \| (.*))?", _SUSPECTS):
        layer = getattr(npbert, name)
        head, _, body = inspect.getsource(getattr(layer, method)).replace(before, after).split('"""')
        lines = {f"{letter}{n}": line for n, line in enumerate(filter(str.strip, body.splitlines()), start=1)}
        answer = next((place for place, line in lines.items() if after and after in line), FINE)
        formula, file = layer.__doc__.partition("\n")[0], layer.__module__.replace(".", "/")
        text = f"# {formula}\n# Its forward: {file}.py\nclass {letter.upper()}({name}):\n{head.rstrip()}"
        text = "\n".join([text, *(f"{line}  # {place}" for place, line in lines.items())])
        found[letter] = Suspect(layer, text, [*lines], answer, before)
    return found


class BugsBlank(Blank):
    """The dictionary of answers."""

    name = "ANSWERS"

    def sources(self) -> list[str]:
        """Return the classes, and the dictionary without answers."""
        texts = [text for each in suspects().values() for text in with_helpers(each.text, each.layer)]
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
        thing, right = module.ANSWERS, suspects()
        if not isinstance(thing, dict) or thing.keys() != right.keys():
            return Verdict(f"ANSWERS needs an answer for each of the letters {', '.join(right)}, and no other.")
        given = {letter: str(thing[letter]).strip().lower() for letter in right}
        count = sum(each.answer == given[letter] for letter, each in right.items())
        for letter, each in right.items():
            if says := each.mistake(given[letter]):
                before = re.search(rf"""(?s).*["']{letter}["']\s*:""", read_text(Path(str(module.__file__))))
                where = f"Line {len(before[0].splitlines())}: " if before else ""
                so_far = f"{count} of the {len(right)} answers are right so far."
                return Verdict(f"{where}{letter}, {each.layer.__name__}: {says}.", so_far)
        left = [letter for letter in right if given[letter] == UNKNOWN]
        return Verdict(f"Still open: {', '.join(left)}. The others are right.") if left else None


BLANK = BugsBlank(right=suspects, seeds=())
