"""Exercise 15: twelve layers, some of them broken by one line."""

import ast
import inspect
import textwrap
from functools import cache
from typing import Any, NamedTuple

from npbert.blocks import EncoderLayer, FeedForward, MaskedLMHead, MeanPooling
from npbert.catalogue import CATALOGUE
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
from npbert.learn.exercise import CHAPTERS, Exercise, Part
from npbert.learn.judge import judge
from npbert.learn.layer import layer_part
from npbert.learn.source import with_helpers
from npbert.learn.verdict import Verdict

UNKNOWN, FINE = "?", "right"


class Suspect(NamedTuple):
    """A method of a layer of the library, as it stands in the file; with one line changed, or none."""

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

TEXT = """
You have written many backwards. Now read some. Here are twelve layers of the library. Some of them are as they should
be; in others one line was changed, as people do it. All of them would train, and the loss would fall.

Each line of a backward has a name at its end: a1, a2 and so on. In ANSWERS, at the end of this file, write for each
layer the name of the line that is wrong, as "c4", or "right" if none is. Above each class is the place of its forward.

Try to find them by reading. If you are stuck, let the computer look:

    from npbert import check_gradients
    from npbert.catalogue import CATALOGUE

    layer, inputs, rng = CATALOGUE["Linear"].make(A)
    print(check_gradients(layer, *inputs, rng=rng))

For J it is CATALOGUE["FeedForward, gelu"].
"""
HINTS = """
Ask of each line: which line of forward does it undo? What was averaged there has to be divided by the same number, what
was read twice has to be added twice, and what dropout changed has to be changed in the same way.

Seven of the twelve are broken. Losses, a gather, a norm, a mean, attention, and an encoder layer.

Run check_gradients as the text at the top says, for each letter: it says which gradient is wrong, and how. Then look
for the line that makes it.
"""


@cache
def lines_of(letter: str) -> list[str]:
    """The lines of the method as they are in the file: its head, and the body without its docstring, with the change in
    it, if there is one. Raises: ValueError where what is to be changed is not in the library's source just once."""
    suspect = SUSPECTS[letter]
    source = textwrap.dedent(inspect.getsource(getattr(suspect.right, suspect.method)))
    if suspect.before and source.count(suspect.before) != 1:
        raise ValueError(f"{suspect.before!r} is not in {suspect.right.__name__}.{suspect.method} once")
    docstring = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    lines = source.replace(suspect.before, suspect.after).splitlines()
    return ["\n".join(lines[: docstring.lineno - 1]), *filter(str.strip, lines[docstring.end_lineno :])]


def answer(letter: str) -> str:
    """The right answer for a layer: the name of the line that was changed, or "right"."""
    after = SUSPECTS[letter].after
    return next((f"{letter}{number}" for number, line in enumerate(lines_of(letter)) if after and after in line), FINE)


def class_text(letter: str) -> str:
    """The class as it is in the file."""
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
        """The classes, and answers that are still to be found."""
        lines = [f'    "{letter}": "{UNKNOWN}",  # {each.right.__name__}' for letter, each in SUSPECTS.items()]
        texts, helpers = list(map(class_text, SUSPECTS)), []
        for text, each in zip(texts, SUSPECTS.values(), strict=True):
            helpers += with_helpers(text, inspect.getmodule(each.right))[1:]
        answers = "\n".join(lines)
        return [*helpers, *texts, f"ANSWERS = {{\n{answers}\n}}\n"]


def judge_answers(thing: Any) -> Verdict | None:
    """The first answer that is wrong, without the right one."""
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
    """Judge one wrong answer, without giving the right one away."""
    name, right = f"{letter}, {SUSPECTS[letter].right.__name__}", answer(letter)
    lines = [f"{letter}{number}" for number in range(1, len(lines_of(letter)))]
    if given not in (FINE, *lines):
        return Verdict(f'{name}: the answer is "{given}", wanted "{FINE}", or a line from {lines[0]} to {lines[-1]}.')
    if right == FINE:
        return Verdict(f"{name}: line {given} is right, and so are all others.")
    if given != FINE:
        return Verdict(f"{name}: one line is wrong, but line {given} is right.")
    return Verdict(f"{name}: one of its lines is wrong.", _what_is_wrong(letter))


def _what_is_wrong(letter: str) -> str:
    """A statement that is true of the numbers that a broken layer gives, as it is in the file."""
    suspect, variables = SUSPECTS[letter], dict[str, Any]()
    exec(compile(EXERCISE.source(), f"<{letter}>", "exec"), variables)
    part = layer_part(CATALOGUE[suspect.right.__name__], method=suspect.method, asked="")
    found = judge(part, variables[letter.upper()], mends=False)
    return f"From its numbers: {found.says}" if found else ""


def show() -> str:
    """The lines that were changed, and as they are in the library."""
    shown = []
    for letter, suspect in SUSPECTS.items():
        told, line = f"{letter}, {suspect.right.__name__}", answer(letter)
        if line == FINE:
            shown.append(f"{told}: {FINE}")
            continue
        changed = lines_of(letter)[int(line[1:])].strip()
        library = changed.replace(suspect.after, suspect.before)
        shown.append(f"{told}, line {line}:\n    {changed}\n  should be\n    {library}")
    return "\n\n".join(shown)


PART = AnswersPart(right=SUSPECTS, asked="", seeds=(), prove=judge_answers)
EXERCISE = Exercise("find the bug", CHAPTERS[9], TEXT, HINTS, (PART,), shown=show)
