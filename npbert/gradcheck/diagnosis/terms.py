"""A formula with another term than the right one: what was written is looked for among all that people write."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import Case, Finding, Term
from npbert.gradcheck.diagnosis.ledger import is_plain_sum

_COUNTS = {1.0: "", 2.0: "2 · ", 0.5: "½ · "}
_MOST_NUMBERS = 600  # of a gradient whose formula is looked for


class _Choice(NamedTuple):
    """A term as it may have been written, factor · form. cost: how far that is from the right one. sign: 0 where it is
    missing. projected: as of `_matching`."""

    cost: float
    sign: int
    text: str
    factor: float
    form: Array
    projected: float

    @property
    def is_there(self) -> bool:
        """Whether it is the right term, or its negative, or left out: then the ledger says so, too."""
        return self.cost < 3


def wrong_terms(case: Case) -> Iterator[Finding]:
    """The formula that the wrong gradient is, where the right one is another: of several, the one that is nearest.

    One in which terms are only left out, or have the wrong sign, is left to the ledger.
    """
    terms = case.terms() if case.right.size <= _MOST_NUMBERS else ()
    if not terms or is_plain_sum(case):
        return
    found = min(_matching(case, terms), key=lambda chosen: sum(choice.cost for choice in chosen), default=None)
    if found is None or all(choice.is_there for choice in found):
        return
    wanted = [
        f'"{term.road}" {"should be" if choice.sign else "is missing, which is"} {_sum([(term.sign, _right(term))])}'
        for term, choice in zip(terms, found, strict=True)
        if choice.cost
    ]
    written = _sum([(choice.sign, choice.text) for choice in found if choice.sign])
    legend = "".join(f" ({term.legend})" for term in terms if term.legend)
    front = terms[0].front
    if front:
        right = _sum([(term.sign, _right(term)) for term in terms])
        text = f"{case.d} is {front} · ({written or 0}), where {front} · ({right}) is right{legend}"
        yield Finding("terms", case.name, text)
        return
    yield Finding("terms", case.name, f"{case.d} is {written or 0}: {'; '.join(wanted)}{legend}")


def _right(term: Term) -> str:
    return next(iter(term.forms))


def _sum(terms: list[tuple[int, str]]) -> str:
    (sign, text), *others = terms or [(1, "")]
    return f"{'−' if sign < 0 else ''}{text}" + "".join(f" {'−' if sign < 0 else '+'} {text}" for sign, text in others)


def _choices(term: Term, along: Array) -> Iterator[_Choice]:
    yield _Choice(2, 0, "", 0.0, along, 0.0)
    for place, (text, form) in enumerate(term.forms.items()):
        projected = float((form * along).sum())
        of_form = 3 + math.log2(place) if place else 0.0  # the common ones stand first
        for (count, said), sign in itertools.product(_COUNTS.items(), (term.sign, -term.sign)):
            cost = of_form + (3 if said else 0) + (0 if sign == term.sign else 2)
            yield _Choice(cost, sign, said + text, sign * count, form, sign * count * projected)


def _matching(case: Case, terms: tuple[Term, ...]) -> Iterator[list[_Choice]]:
    """The choices, one for each term, whose sum is the wrong gradient.

    They are far too many to add up. So each array is projected to one number; then the sum of the first terms can be
    looked up in a sorted list, and only what fits there is tried in full.
    """
    along = np.random.default_rng(0).standard_normal(case.wrong.shape)
    allowed = 1e-3 * case.allowed * float(np.abs(along).sum())  # what is written so is exact but for rounding
    choices = [list(_choices(term, along)) for term in terms]
    *firsts, lasts = (np.array([choice.projected for choice in of_term]) for of_term in choices)
    sums = np.asarray(sum(np.ix_(*firsts), 0.0))  # one axis for each term but the last
    order = np.argsort(sums, axis=None)
    ascending, wanted = sums.ravel()[order], (case.wrong * along).sum() - lasts
    begin, end = (np.searchsorted(ascending, wanted + by) for by in (-allowed, allowed))
    for last in np.flatnonzero(end > begin):
        for place in order[begin[last] : end[last]]:
            places = [*np.unravel_index(place, sums.shape), last]
            chosen = [of_term[place] for of_term, place in zip(choices, places, strict=True)]
            if case.explains(sum((choice.factor * choice.form for choice in chosen), np.zeros_like(case.right))):
                yield chosen
