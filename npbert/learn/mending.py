"""findings_of: finds the small edits that make an answer's numbers right, or turn a right answer's into the
learner's."""

import inspect
import re
from dataclasses import replace

import numpy as np

from npbert.gradcheck.explain import CHEAP, Code, Finding, Mending
from npbert.learn.comparison import Comparison

UNKNOWN = "unknown"
_NEAR, _FAR, _FEW = 700, 1000, 400
"""The tries for changes of existing code, in the learner's or a right one; for additions to the learner's; and for
additions where the other code is more likely to tell."""


def findings_of(compared: Comparison) -> list[Finding]:
    """Return the edits that explain the learner's wrong numbers, the clearest first; and the place of the first wrong
    numbers for the rest, of the kind UNKNOWN."""
    blank, thing = compared.blank, compared.thing
    written = getattr(thing, blank.method) if blank.method else thing
    try:
        code = Code.of(written)
        plain = Code.parsed(blank.text["plain"], code.scope) if blank.text.get("plain") else None
        methods = [each for each in vars(thing).values() if inspect.isfunction(each) and each is not written]
        forward = "".join(map(inspect.getsource, methods))
    except (OSError, TypeError, ValueError, SyntaxError):  # no file, or not a function, such as a lambda
        return []
    own, wanted = Mending(code, compared, forward=forward, right=plain), compared.comparable()
    other = Mending(plain, Comparison(blank, thing, wanted), right=code) if plain and wanted else None
    zero = {name for name in compared.all_wrong() if not any(np.any(each.get(name, 1)) for each in compared.given)}
    told = [each for each in _edits(code, own, other) if each.subject not in zero]
    left = own.left - {name for each in told for name in _names(each)}
    found = [*(step.finding for step in own.steps), *told]
    if left and (suspect := own.suspect()):
        found.append(Finding(UNKNOWN, ", ".join(sorted(left)), **suspect))
    wrong = set(compared.all_wrong())
    return list(dict.fromkeys(replace(each, subject=_briefly(_names(each) & wrong or _names(each))) for each in found))


def _edits(code: Code, own: Mending, other: Mending | None) -> list[Finding]:
    """Search edits, cheap ones of both codes first. Edits of the right code that explain the rest are worded for the
    learner's code."""
    own.run(_NEAR, CHEAP)
    if other and own.left:
        other.run(_NEAR, CHEAP)
    own.run(_FEW if other and not other.left else _FAR)
    if other is None or not own.left:
        return []
    other.run(_FEW)
    return [_in_known_names(each, code) for each in other.told_of(code) if own.left & _names(each)]


def _in_known_names(finding: Finding, code: Code) -> Finding:
    """Return a finding on a right answer, without pieces whose names the learner's code does not have."""
    names = set(re.findall(r"[^\W\d]\w*", f"{finding.found} {finding.wanted}"))
    return finding if names <= set(re.findall(r"\w+", code.text.decode())) else replace(finding, found="", wanted="")


def _names(finding: Finding) -> set[str]:
    return set(finding.subject.split(", "))


def _briefly(names: set[str]) -> str:
    """Return the names; for gradients inside a part, `the gradients of attention`."""
    inside = {name for name in names if "." in name}
    parts = {f"the gradients of {name.partition('.')[0].split()[-1]}" for name in inside}
    return ", ".join(sorted(names - inside or parts))
