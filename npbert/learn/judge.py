"""judge: the verdict on an answer: the line, the kind of mistake and the reason; or its numbers.

What is told, in this order:

1. Right numbers: a mistake that `Blank.prove` finds, or none.
2. An exception, with its line and advice. A `raise NotImplementedError` that is left is one.
3. What spoils all else: changed given code, wrong gradients that no check accepts.
4. Right numbers with a broken promise of a layer: the edit that keeps it, or the promise.
5. Wrong numbers: the edits that explain them (`findings_of`, by the search of `gradcheck/explain/repair.py`), and of
   the rest a fact (`fact_of`).
"""

import ast
import contextlib
import inspect
import itertools
import re
import signal
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property, partial
from types import ModuleType
from typing import Any

import numpy as np

from npbert.gradcheck import GradientError, PromiseError
from npbert.gradcheck.explain.code import Code, names_in
from npbert.gradcheck.explain.finding import UNKNOWN, Finding, describe
from npbert.gradcheck.explain.grammar import CHEAP
from npbert.gradcheck.explain.numbers import example, facts
from npbert.gradcheck.explain.repair import Mending
from npbert.gradcheck.explain.trial import Sample, is_number, quiet
from npbert.gradcheck.explain.variations import VARIATIONS
from npbert.gradcheck.inputs import magnitude
from npbert.learn.blank import Blank
from npbert.learn.failure import failure_of
from npbert.learn.layer import BROKEN
from npbert.learn.verdict import Verdict, are_right, sentence

_CHANGES, _LINES, _ADDITIONS, _SEVERAL = 800, 600, 700, 600
"""The tries for changes of the learner's code; for lines with numbers that the right code lacks; for additions; and for
several lines at once."""
_SITUATIONS = (
    "",
    *(f"This happens where {words}; otherwise it is right." for words, _ in VARIATIONS[1:]),
    "This happens when nothing is dropped; otherwise it is right.",
)
"""By half of a seed: what is special about its numbers."""
_DAMAGED = Verdict(
    "forward returns wrong numbers, but was right in the original file.",
    "It, or a function that it calls, was changed. Restore it first: backward is compared with the derivative of the "
    "right forward. To see the original, write the exercises into another folder: `npbert learn --folder again`; in a "
    "notebook, run %exercise with its number.",
)
_OF_ANY = "shape", "factor", "not finite"
"""The kinds of facts that are told of arrays that are no gradients, too."""


class Comparison:
    """The numbers of an answer, compared with the library's at each seed.

    first: the first seed with a mistake, if there is one. wrong: by the name of each wrong or missing array, the
    learner's (or None) and the right one, at its first wrong seed. stopped: the first error of the learner's code, or
    of the check before the numbers were complete. broken: the first of the check on complete numbers.
    """

    def __init__(self, blank: Blank, module: ModuleType) -> None:
        self.blank, self.file = blank, str(module.__file__)
        self.thing, self.function = getattr(module, blank.name), inspect.unwrap(blank.function_of(module))
        self.samples, self.wrong = list[Sample](), dict[str, tuple[Any, Any]]()
        self.first: int | None = None
        self.stopped: BaseException | None = None
        self.broken: GradientError | None = None
        for seed, right in zip(blank.seeds, blank.right_numbers, strict=True):
            rounding = blank.tolerance * max(map(magnitude, right.values()))  # relative to the largest number
            sample = Sample(partial(blank.run, self.thing, seed), right, dict.fromkeys(right, rounding))
            self.samples.append(sample)
            given, error = sample.numbers()
            missing = right.keys() - given.keys()
            wrong = sample.wrong(given) | missing
            for name in right.keys() & wrong:
                self.wrong.setdefault(name, (given.get(name), right[name]))
            if self.first is None and (error or wrong):
                self.first = seed
            if isinstance(error, GradientError) and not missing:
                self.broken = self.broken or error
            else:
                self.stopped = self.stopped or error

    @cached_property
    def failure(self) -> Verdict:
        """The verdict on the first error."""
        given = vars(self.blank.right).keys() - {self.blank.method}
        return failure_of(self.stopped or self.broken, self.file, given=given, advice=self.blank.entries("advice"))


def judge(blank: Blank, module: ModuleType) -> Verdict | None:
    """Return the verdict on the answer in this file, or None if it is right. Raises: as Blank.prove."""
    compared = Comparison(blank, module)
    if compared.first is None:
        return blank.prove(module)
    stopped = compared.stopped
    is_refused = not isinstance(compared.broken, PromiseError | None) and compared.wrong
    if stopped is None and compared.wrong.keys() & blank.fixed:
        verdict = _DAMAGED
    elif isinstance(stopped, NotImplementedError) or (stopped is None and is_refused):  # no check accepts the gradients
        verdict = compared.failure
    else:
        with contextlib.suppress(AttributeError):  # Windows
            signal.setitimer(signal.ITIMER_PROF, 0)  # the search counts rounds of loops
        findings = findings_of(compared)
        verdict = _with_findings(compared, findings) if stopped is None else _of_exception(compared, findings)
    return verdict.because_of(_SITUATIONS[compared.first // 2])


def _of_exception(compared: Comparison, findings: Sequence[Finding]) -> Verdict:
    """Return the exception, with the lines whose edits make the code run, unless its own line is one of them."""
    lines = [f"line {line}" for line in sorted({each.line for each in findings if each.is_edit})]
    is_there = any(f"{line} " in compared.failure.says.lower() for line in lines)
    told = f"It comes from {' and '.join(lines)}." if lines and not is_there else ""
    return Verdict(compared.failure.says, told, findings).because_of(compared.failure.because)


def _with_findings(compared: Comparison, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict by edits, as far as they explain what is wrong, and by facts on the numbers for the rest; or
    by the broken promise, if all numbers are right."""
    edits = sorted((each for each in findings if each.is_edit), key=lambda finding: finding.line)
    others = [each for each in findings if not each.is_edit]
    places = list(map(describe, others))
    told = []  # paragraphs of each mistake
    for finding in edits:
        says, _, rest = describe(finding).partition("\n")  # line, kind and cause in words
        reasons = _reasons(compared.blank, finding.names)
        told.append([says, rest, reasons[0] if len(reasons) == 1 else ""])
    explained = {name for each in edits for name in each.names}
    names = compared.samples[0].right
    left = [name for name in names if name in compared.wrong.keys() - explained and not ("." in name and explained)]
    left = [name for name in left if compared.wrong[name][0] is not None] or ([] if edits else left)
    if left:
        first, *more = [sentence(fact_of(compared, name)) for name in left]
        not_right = *compared.wrong, *compared.blank.fixed
        right = [name for name in names if name not in not_right]
        told.append([first, *places, *more, *_reasons(compared.blank, left), are_right(right)])
    if compared.broken and not compared.wrong:
        told, places = told or [[BROKEN]], [compared.failure.says, *places]
    if len(told) > 1:
        for number, paragraphs in enumerate(told, 1):
            paragraphs[0] = f"{number}. {paragraphs[0]}"
    says, *because = itertools.chain(*told)
    return Verdict(says, findings=(*edits, *others)).because_of(*because, *places)


def _reasons(blank: Blank, names: Collection[str]) -> list[str]:
    """Return the reason for these names together, or else those for each."""
    reasons = blank.entries("reasons")
    together = ", ".join(sorted(names))
    return [reasons[name] for name in ([together] if together in reasons else names) if name in reasons]


def fact_of(compared: Comparison, name: str) -> str:
    """Return what is wrong with an array, at its first wrong seed."""
    one, right = compared.wrong[name]
    if one is None:
        return f"{name} is missing"
    if not is_number(one):
        real = ". Of complex numbers, .real and .imag are real" * np.iscomplexobj(one)
        return f"{name} is an array of {np.asarray(one).dtype}, wanted one of real numbers{real}"
    is_gradient = re.fullmatch(r"d\w+", name)
    one = np.asarray(one)
    for kind, text in facts(one, right, name[1:]):
        if is_gradient or kind in _OF_ANY:
            return f"{name} {text}"
    return f"{name} {example(one, right)}"


@quiet()
def findings_of(compared: Comparison) -> list[Finding]:
    """Return the edits that explain the learner's wrong numbers, the clearest first; and the place of the first wrong
    numbers for the rest, of the kind UNKNOWN."""
    plain_text = compared.blank.text.get("plain")
    try:
        code = Code.of(compared.function)
        plain = Code.parsed(plain_text, code.scope) if plain_text else None
        others = [each for each in vars(compared.thing).values() if each is not compared.function]
        forward = "".join(map(inspect.getsource, filter(inspect.isfunction, others)))
    except (OSError, TypeError, ValueError, SyntaxError):  # no file, or not a function, such as a lambda
        return []
    # The likeliest first: a slip, a line, something left out, several lines; then again without the edits that led
    # nowhere; last, whole results of the right code.
    own = Mending(code, compared.function, compared.samples, forward=forward, right=plain)
    own.run(_CHANGES, CHEAP).rewrite(_LINES, lines=[1]).run(_ADDITIONS).rewrite(_SEVERAL, lines=[2, 3])
    own.retry().run(_ADDITIONS).retry().replace(_LINES)
    source = code.text.decode()  # of an edit of edited code nothing is shown
    found = [each for each in own.findings if all(line in source for line in each.place.split("\n"))]
    unread = sorted(_parameters_read(plain) - _parameters_read(code) - {"self"}) if plain else []
    found += [Finding(UNKNOWN, "", cause=f"The numbers of {name} are not used.") for name in unread]
    found += itertools.islice(own.suspects(), 1)
    return [replace(each, subject=_briefly(each.names, compared.wrong)) for each in found]


def _parameters_read(code: Code) -> set[str]:
    """Return the parameters that are read for their numbers, except to check them."""
    function = code.functions[0]
    body = [each for each in function.body if not ast.unparse(each).startswith("check_")]
    return {each.arg for each in function.args.args} & {name.id for each in body for name in names_in(each)}


def _briefly(names: set[str], wrong: Collection[str]) -> str:
    """Return the wrong ones of these names, or all; for gradients inside a part, `the gradients of attention`."""
    names = names.intersection(wrong) or names
    inside = {name for name in names if "." in name}
    parts = {f"the gradients of {name.partition('.')[0].split()[-1]}" for name in inside}
    return ", ".join(sorted(names - inside or parts))
