"""findings_of: the small edits that make an answer's numbers right; or a right answer's those of the learner."""

import inspect
import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.gradcheck import PromiseError
from npbert.gradcheck.explain import CHEAP, FAILED, Code, Finding, Mending, Outlook
from npbert.learn.compared import Beside, Given, is_number
from npbert.learn.exercise import Numbers

_FAR, _FEW = 1200, 500
"""Tries for what writes something new: in the learner's code, and in a right one; and in the learner's, where an edit
of a right one gives the same numbers already."""


def findings_of(beside: Beside) -> list[Finding]:
    """The edits that explain the learner's wrong numbers, the most telling first; and where those that are left begin
    to be wrong, of the kind "unknown"."""
    part, written = beside.part, getattr(beside.thing, beside.part.method or "__call__")
    written = written if part.method else beside.thing
    try:
        code = Code.of(written)
    except (OSError, TypeError, ValueError, SyntaxError):  # no file, or no function: a lambda, say
        return []
    plain = Code.parsed(part.plain.strip("\n"), code.scope) if part.plain else None
    own = Mending(code, _Oracle(beside, beside.right), forward=_other_methods(beside.thing, written), right=plain)
    fitting = beside.comparable()
    given = [each.numbers for each in beside.given]
    other = Mending(plain, _Oracle(beside, given, fitting)) if plain and fitting else None
    own.run(most=CHEAP)
    if other and own.left:
        other.run(most=CHEAP)
    own.run(_FEW if other and not other.left else _FAR)
    if other and own.left:
        other.run(_FAR)
    found = [step.finding for step in own.steps]
    told = [_in_known_names(each, code) for each in (other.told_of(code) if other and own.left else [])]
    found += [each for each in told if own.left & _names(each)]
    left = own.left - {name for each in told for name in _names(each)}
    if left and (suspect := own.suspect()):
        found.append(Finding("unknown", ", ".join(sorted(left)), **suspect))
    wrong = set(beside.all_wrong())
    return list(dict.fromkeys(replace(each, subject=_briefly(_names(each) & wrong or _names(each))) for each in found))


def _in_known_names(finding: Finding, code: Code) -> Finding:
    """What is told of a right answer, without the pieces of it whose names are not in the learner's code."""
    names = set(re.findall(r"[^\W\d]\w*", f"{finding.found} {finding.wanted}"))
    return finding if names <= set(re.findall(r"\w+", code.source)) else replace(finding, found="", wanted="")


def _names(finding: Finding) -> set[str]:
    return set(finding.subject.split(", "))


def _briefly(names: Iterable[str]) -> str:
    """The names; of the gradients inside a part, `the gradients of attention`."""
    names = sorted(names)
    inside = [name for name in names if "." in name]
    parts = {f"the gradients of {name.partition('.')[0].split()[-1]}" for name in inside}
    return ", ".join([name for name in names if name not in inside] or sorted(parts))


def _other_methods(thing: Any, written: Any) -> str:
    """The source of what a class has besides, for lines that may be missing."""
    if not isinstance(thing, type):
        return ""
    methods = [each for each in vars(thing).values() if inspect.isfunction(each) and each is not written]
    return "".join(map(inspect.getsource, methods))


class _Oracle:
    """Runs an edited function in the place of the learner's, and compares its numbers with those that are wanted, step
    by step: while one is not right, none after it is."""

    def __init__(self, beside: Beside, wanted: Sequence[Numbers], names: Set[str] | None = None) -> None:
        self.beside, self.wanted = beside, wanted
        self.names = set(beside.right[0]) if names is None else names
        self.samples: Sequence[Any] = beside.part.seeds

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """As the Protocol says."""
        given, wrong = Given({}), set[str]()
        try:
            for numbers in self.beside.part.run(self.beside.with_function(function), self.samples[k]):
                given.numbers.update(numbers)
                wrong = self.beside.wrong(given, self.wanted[k]) & numbers.keys() & self.names
                if wrong:
                    break
        except PromiseError as error:
            return Outlook(set(error.subjects), self.names)
        except Exception:  # of what the edited code returned
            return FAILED
        return self._seen(given.numbers, wrong, k)

    def _seen(self, numbers: Numbers, wrong: set[str], k: int) -> Outlook:
        wanted = self.wanted[k]
        both = {name: (numbers[name], wanted[name]) for name in self.names & numbers.keys() & wanted.keys()}
        arrays = {
            name: (np.asarray(one, float), np.asarray(other, float))
            for name, (one, other) in both.items()
            if is_number(one) and np.shape(one) == np.shape(other)
        }
        if not wrong <= arrays.keys():
            return FAILED
        unseen = self.names - numbers.keys() if wrong else set()
        return Outlook(wrong | unseen, self.names & numbers.keys() - wrong, arrays)
