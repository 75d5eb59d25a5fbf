"""findings_of: finds the edits that make an answer's numbers right."""

import inspect
from dataclasses import replace
from functools import partial

from npbert.gradcheck.explain import CHEAP, SAFE, Code, Finding, Mending
from npbert.learn.comparison import Comparison

_CHANGES, _LINES, _ADDITIONS, _SEVERAL = 800, 400, 1000, 800
"""The tries for changes of the learner's code; for lines with numbers that the right code lacks; for additions, first
with its numbers, then with others; and for several lines at once."""


def findings_of(compared: Comparison) -> list[Finding]:
    """Return the edits that explain the learner's wrong numbers, the clearest first; and the place of the first wrong
    numbers for the rest, of the kind UNKNOWN."""
    plain_text = compared.blank.text["plain"]
    try:
        code = Code.of(compared.function)
        plain = Code.parsed(plain_text, code.scope) if plain_text else None
        methods = [each for each in vars(compared.thing).values() if inspect.isfunction(each)]
        forward = "".join(inspect.getsource(each) for each in methods if each is not compared.function)
    except (OSError, TypeError, ValueError, SyntaxError):  # no file, or not a function, such as a lambda
        return []
    begun = partial(Mending, code, compared, forward=forward, right=plain)
    for is_strict in (False, True):
        own = begun(is_strict=is_strict)
        own.run(_CHANGES, CHEAP).rewrite(_LINES, lines=1).run(_ADDITIONS, SAFE).rewrite(_SEVERAL, lines=3)
        if own.is_sure:
            break
    own = own.run(_ADDITIONS) if own.steps else begun()  # an edit that only lets it run may stand in the way
    own.replace(_LINES)
    source = code.text.decode()  # of an edit of edited code nothing is shown
    found = [step.finding for step in own.steps if step.finding.place.partition("\n")[0] in source]
    found += filter(None, [own.suspect()])
    wrong = set(compared.all_wrong())
    return [
        replace(each, subject=_briefly(set(each.subject.split(", ")), wrong))
        for each in (*found, own.suspect())
        if each
    ]


def _briefly(names: set[str], wrong: set[str]) -> str:
    """Return the wrong ones of these names, or all; for gradients inside a part, `the gradients of attention`."""
    names = names & wrong or names
    inside = {name for name in names if "." in name}
    parts = {f"the gradients of {name.partition('.')[0].split()[-1]}" for name in inside}
    return ", ".join(sorted(names - inside or parts))
