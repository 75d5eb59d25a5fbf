"""mend: the small edit of the author's own code that makes its gradients right, found by trying.

    found = mend(Code.of(layer.backward), oracle, forward=source_of_forward)
    for step in found.steps:
        print(shown(step.finding, edit=True))

Each wrong output is mended for itself: an edit counts when one more is right and none newly wrong, on every sample, and
on a second call. Cheap edits come first, then what is looked up (a factor, a term), then two edits at once.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.edits import Edit, edit_of, edits_of, everywhere, sizes
from npbert.gradcheck.explain.code import filled
from npbert.gradcheck.explain.edits_of_statements import statement_edits
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.needed import looked_up, slopes_at
from npbert.gradcheck.explain.places import Place, broadcasts, fingerprint, give_room, places_in
from npbert.gradcheck.explain.reasons import EVERYWHERE, KINDS
from npbert.gradcheck.explain.told import finding_of
from npbert.gradcheck.explain.trial import RAISES, Hook, Oracle, Outlook, Skipped, Trial, compiled_expression, quiet
from npbert.gradcheck.explain.vocabulary import Vocabulary

LIMIT, LONGEST = 3.0, 6.0
_CHEAP = 2.0  # edits below are tried before anything is looked up
_PAIRS = 12
_OTHERS = 5
_WORDS = 300  # so many expressions are tried where the code fails
_SAME_VALUE = {"unwrap", "copy"}  # kinds that may help though the value stays the same


@dataclass(frozen=True)
class Step:
    """One edit that was made. finding: what it says; its wanted is the edit.   outputs: those that are right by it
    others: edits of the same place in the search that are as good, the nearest first."""

    finding: Finding
    outputs: tuple[str, ...]
    others: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Mended:
    """What was found: the steps, in order, and the outputs that are still wrong after them."""

    steps: tuple[Step, ...]
    left: tuple[str, ...]


def mend(code: Code, oracle: Oracle, *, forward: str = "", limit: float = LIMIT) -> Mended:
    """The edits that make the code right, as far as they are found in `limit` seconds of CPU (LONGEST at most).

    forward: its source, for what may be missing. Nothing where the code is right; nothing is printed or left changed.
    """
    trial = Trial(oracle, min(limit, LONGEST))
    steps: list[Step] = []
    with quiet():
        now = trial.looks(code)
        failed = _fails(now)
        while _wrong(now) and not trial.is_over:
            search = Search(code, trial, forward, now)
            made = search.best() or search.pair()
            if not made:
                break
            gone = tuple(sorted(_wrong(now) - _wrong(search.after)))
            for edit, others, before in made:
                findings = tuple(finding_of(each, before, ", ".join(gone)) for each in others)
                steps.append(Step(finding_of(edit, before, ", ".join(gone)), gone, findings))
            now, code = search.after, search.made
    if failed and _wrong(now):  # what makes code run that then is wrong explains nothing
        return Mended((), tuple(sorted(_wrong(now))))
    return Mended(tuple(steps), tuple(sorted(_wrong(now))))


def _wrong(outlooks: Iterable[Outlook]) -> set[str]:
    return {name for outlook in outlooks for name in outlook.wrong}


def _fails(outlooks: Iterable[Outlook]) -> bool:
    return RAISES in _wrong(outlooks)


@dataclass(frozen=True)
class _Found:
    edit: Edit
    after: list[Outlook]

    @property
    def rank(self) -> Any:
        return len(_wrong(self.after)), *self.edit.rank


class Made(NamedTuple):
    """An edit that was chosen, others that are as good, and the code that all are edits of."""

    edit: Edit
    others: list[Edit]
    code: Code


class Search:
    """One step: all edits of one code are tried, until the best is known. now: what is wrong with it, by sample."""

    def __init__(self, code: Code, trial: Trial, forward: str, now: list[Outlook]) -> None:
        self.code, self.trial, self.forward, self.now = code, trial, forward, now
        self.made, self.after = code, now  # the code with the edit that was chosen, and what is wrong with it then
        self.first = next(k for k, outlook in enumerate(now) if outlook.wrong) % (len(now) - 1)
        self.nearest: list[tuple[float, Edit]] = []
        self.found: list[_Found] = []

    def best(self) -> list[Made]:
        """The best edit, with others that are as good; none where there is none."""
        every = places_in(self.code.tree)
        places = [(place, hook) for place in every if (hook := self._watched(place)) is not False]
        give_room(every)
        edits: list[tuple[Place, str, ast.expr]] = []
        statements = list(statement_edits(self.code))
        self._slowly(edit for edit in statements if edit.kind != "move")
        for place, hook in places:
            cheap = [(k, new) for k, new in edits_of(place, self.code.entry) if KINDS[k].cost < _CHEAP]
            edits += [(place, kind, new) for kind, new in cheap]
            self._tried(place, hook, _edits(place, cheap))
        self._slowly(_everywhere(edits))
        self._slowly(edit for edit in statements if edit.kind == "move")
        if not self.found:
            self._dear(places)
        return self._chosen()

    def pair(self) -> list[Made]:
        """Two edits at once: the first of those that came nearest."""
        tried: set[float] = set()
        for score, edit in sorted(self.nearest, key=lambda each: (-round(each[0], 6), each[1].cost)):
            if round(score, 9) in tried or len(tried) > _PAIRS or self.trial.is_over:
                continue
            tried.add(round(score, 9))
            code = self.code.edited(copy.deepcopy(edit.changes))
            now = self.trial.looks(code)
            if _fails(now) or not _wrong(now) or not _wrong(now) <= _wrong(self.now):
                continue
            second = Search(code, self.trial, self.forward, now)
            made = second.best()
            if made:
                self.after, self.made = second.after, second.made
                return [Made(edit, [], self.code), *made]
        return []

    def _chosen(self) -> list[Made]:
        ranked = sorted(self.found, key=lambda each: each.rank)
        for found in ranked:
            made = self.code.edited(copy.deepcopy(found.edit.changes))
            after = self.trial.looks(made)
            if self._is_progress(after):
                self.after, self.made = after, made
                others = [each.edit for each in ranked if each is not found and _wrong(each.after) == _wrong(after)]
                return [Made(found.edit, others[:_OTHERS], self.code)]
        return []

    # ------------------------------------------------------------------------------------------- what is there

    def _watched(self, place: Place) -> Hook | bool | None:
        """A hook that has seen the place; None where none can, False where the place is not what is wrong."""
        if place.hidden:
            return None
        hook = Hook(self.trial, self.code, place)
        for k in range(len(self.trial.oracle.samples)):
            hook.watch((self.first + k) % len(self.trial.oracle.samples))
            if place.seen:
                break
        if not place.seen:
            return None if _fails(self.now) else False
        if not place.is_float or RAISES in self.now[self.first].wrong:
            return hook
        rng = np.random.default_rng(0)

        def moved(env: Any) -> Any:
            value = hook.value_of(hook.original, env)
            return value * (1 + 0.01 * rng.random(np.shape(value))) + 0.01

        now, then = self.now[self.first], hook.look(self.first, moved)
        if RAISES in then.wrong:
            return hook
        moves_right = bool(set(now.right) - set(then.right))
        moves_wrong = any(then.wrong.get(name) != score for name, score in now.wrong.items())
        return hook if not moves_right and (moves_wrong or not any(now.wrong.values())) else False

    # ------------------------------------------------------------------------------------------------- trying

    def _tried(self, place: Place, hook: Hook | bool | None, edits: Iterable[Edit]) -> None:
        """Each edit of the expression in the place."""
        if not isinstance(hook, Hook):
            self._slowly(edits)
            return
        known: dict[Any, bool] | None = None if place.looped else {fingerprint(place.value): False}
        for edit in edits:
            if self.trial.is_over:
                return
            try:
                expression = compiled_expression(edit.new)  # type: ignore[arg-type]
            except (SyntaxError, ValueError, TypeError):
                continue
            is_new = [None if edit.kind in _SAME_VALUE else known]

            def look(k: int, expression: Any = expression, is_new: list[Any] = is_new) -> Outlook:
                give = hook.candidate(expression, is_new[0])
                is_new[0] = None  # only its first value can be one that is known
                return hook.look(k, give)

            try:
                is_near = self._judged(edit, look)
            except Skipped:
                continue
            if is_near and known is not None and len(known) > 1:
                known.popitem()  # another expression of this value may be right at every sample

    def _slowly(self, edits: Iterable[Edit]) -> None:
        for edit in edits:
            if self.trial.is_over:
                return
            try:
                function = self.trial.compiled(self.code.edited(edit.changes))
            except (SyntaxError, ValueError, TypeError):
                continue
            self._judged(edit, lambda k, function=function: self.trial.look(function, k))  # type: ignore[misc]

    def _judged(self, edit: Edit, look: Callable[[int], Outlook]) -> bool:
        """Whether the edit helps at the first sample; it is noted where it does at all of them."""
        now, then = self.now[self.first], look(self.first)
        if not _is_better(now, then):
            if not set(then.wrong) - set(now.wrong) and RAISES not in then.wrong:
                self.nearest.append((then.score, edit))
            return False
        after = [then if k == self.first else look(k) for k in range(len(self.now) - 1)]
        after.append(look(0))
        if self._is_progress(after):
            self.found.append(_Found(edit, after))
        return True

    def _is_progress(self, after: list[Outlook]) -> bool:
        """Whether some output that was wrong is right at every sample now, and none is newly wrong."""
        if _fails(after) or (not _fails(self.now) and not _wrong(after) < _wrong(self.now)):
            return False
        return all(RAISES in now.wrong or set(then.wrong) <= set(now.wrong) for now, then in zip(self.now, after, strict=True))

    # -------------------------------------------------------------------------------------- factors and terms

    def _dear(self, places: list[tuple[Place, Hook | bool | None]]) -> None:
        """What is not a small change of what stands there: a factor, a term, a step, another expression."""
        vocabulary = Vocabulary(self.code, self.forward)
        closed = []
        for place, hook in places:
            if self.trial.is_over or not place.is_float or place.is_index:
                continue
            assert isinstance(hook, Hook)
            now = self.now[self.first]
            slopes = None if RAISES in now.wrong else slopes_at(hook, self.first, now)
            if slopes is None:
                closed.append((place, hook))
            elif slopes:
                self._tried(place, hook, looked_up(hook, slopes, vocabulary))
        if not self.found:
            for place, hook in closed:
                self._tried(place, hook, _edits(place, _guesses(place, vocabulary)))
                if RAISES in self.now[self.first].wrong and (place.is_whole or isinstance(place.holder, ast.Call)):
                    words = itertools.islice(vocabulary.words(place.env), _WORDS)
                    self._tried(place, hook, _edits(place, (("expression", word.made()) for word in words)))


def _is_better(now: Outlook, then: Outlook) -> bool:
    if RAISES in then.wrong:
        return False
    if RAISES in now.wrong:
        return bool(then.right)
    return set(then.wrong) < set(now.wrong)


def _edits(place: Place, news: Iterable[tuple[str, ast.expr]]) -> Iterator[Edit]:
    return (edit_of(place, kind, new) for kind, new in news)


def _everywhere(edits: list[tuple[Place, str, ast.expr]]) -> Iterator[Edit]:
    for place, kind, group in everywhere(edits):
        edit = edit_of(place, kind, group[0][1])
        yield replace(edit, changes={id(each.expr): new for each, new in group}, more=EVERYWHERE)


def _guesses(place: Place, vocabulary: Vocabulary) -> Iterator[tuple[str, ast.expr]]:
    """Factors, steps and terms that fit, where what is needed cannot be looked up."""
    e = place.expr
    atoms = [(node, value) for node, value in vocabulary.base(place.env) if broadcasts(value, place.value)]
    yield from (("wrap", step) for step in vocabulary.steps(e))
    for node in [*(node for node, _ in atoms), *sizes(place.env)]:
        yield from (("factor", filled(template, e=e, w=node)) for template in ("e * w", "e / w"))
    for node, value in atoms:
        if np.shape(value) == np.shape(place.value):
            yield from (("term", filled(template, e=e, w=node)) for template in ("e + w", "e - w"))
            yield "expression", node


__all__ = ["LIMIT", "LONGEST", "Mended", "Search", "Step", "mend"]
