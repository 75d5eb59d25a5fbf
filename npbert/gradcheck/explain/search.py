"""Search: one step of mending. Every edit of the grammar is tried, and then what may be missing."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.explain.code import Code, filled
from npbert.gradcheck.explain.edits import Edit, edit_of, edits_of, everywhere, sizes
from npbert.gradcheck.explain.edits_of_statements import statement_edits
from npbert.gradcheck.explain.needed import looked_up, slopes_at
from npbert.gradcheck.explain.places import Place, broadcasts, fingerprint, give_room, places_in
from npbert.gradcheck.explain.reasons import CHEAP
from npbert.gradcheck.explain.trial import (
    RAISES,
    Hook,
    Outlook,
    Skipped,
    Trial,
    compiled_expression,
    has_failed,
    wrong_in,
)
from npbert.gradcheck.explain.vocabulary import Vocabulary

_PAIRS, _OTHERS, _WORDS = 12, 5, 300  # first edits of a pair; edits told beside the best; words tried where code fails
_FAR = 3.0  # a single edit of a higher cost is weighed against two at once
_SHOULD_NOT_BE_LOST = {"unwrap"}  # a kind that may help though the value stays the same

Seen = list[tuple[Place, "Hook | None"]]


class Made(NamedTuple):
    """An edit that was chosen, others that are as good, and the code that all are edits of."""

    edit: Edit
    others: list[Edit]
    code: Code


class Search:
    """now: what is wrong with the code, by sample.   made, after: the edited code, and what is wrong then"""

    def __init__(self, code: Code, trial: Trial, forward: str, offers: tuple[str, ...], now: list[Outlook]) -> None:
        self.code, self.trial, self.forward, self.offers, self.now = code, trial, forward, offers, now
        self.made, self.after = code, now
        self.first = next(k for k, outlook in enumerate(now) if outlook.wrong) % (len(now) - 1)
        self._near: list[tuple[float, Edit]] = []
        self._found: list[tuple[Edit, list[Outlook]]] = []

    def nearest(self) -> list[Made]:
        """The best edit, or two at once where they are nearer to what stands there than any one."""
        one = self.best()
        after, made = self.after, self.made
        if one and one[0].edit.cost <= _FAR:
            return one
        two = self.pair()
        if two and (not one or sum(each.edit.cost for each in two) < one[0].edit.cost):
            return two
        self.after, self.made = after, made
        return one

    def best(self) -> list[Made]:
        """The best edit; none where there is none."""
        every = places_in(self.code.tree)
        seen = [(place, hook) for place in every for hook in self._watched(place)]
        give_room(every)
        statements, cheap = list(statement_edits(self.code)), []
        self._slowly(edit for edit in statements if edit.kind != "move")
        for place, hook in seen:
            edits = [edit for edit in edits_of(place, self.code.entry) if edit.cost < CHEAP]
            self._tried(place, hook, edits)
            cheap += edits
        self._slowly(everywhere(cheap))
        self._slowly(edit for edit in statements if edit.kind == "move")
        if not self._found:
            self._missing(seen)
        return self._chosen()

    def pair(self) -> list[Made]:
        """Two edits at once: the first is one of those that came nearest."""
        tried: set[float] = set()
        for score, edit in sorted(self._near, key=lambda each: (-round(each[0], 6), each[1].cost)):
            if round(score, 9) in tried or len(tried) > _PAIRS or self.trial.is_over:
                continue
            tried.add(round(score, 9))
            code = self.code.edited(copy.deepcopy(edit.changes))
            now = self.trial.looks(code)
            if not has_failed(now) and wrong_in(now) and wrong_in(now) <= wrong_in(self.now):
                second = Search(code, self.trial, self.forward, self.offers, now)
                made = second.best()
                if made:
                    self.after, self.made = second.after, second.made
                    return [Made(edit, [], self.code), *made]
        return []

    def _chosen(self) -> list[Made]:
        ranked = sorted(self._found, key=lambda each: (len(wrong_in(each[1])), *each[0].rank))
        for edit, _ in ranked:
            made = self.code.edited(copy.deepcopy(edit.changes))
            after = self.trial.looks(made)
            if self._is_progress(after):
                self.after, self.made = after, made
                others = [each for each, then in ranked if each is not edit and wrong_in(then) == wrong_in(after)]
                return [Made(edit, others[:_OTHERS], self.code)]
        return []

    def _watched(self, place: Place) -> Iterator[Hook | None]:
        """A hook that has seen the place, None where none can; nothing where it cannot be what is wrong."""
        if place.hidden:
            yield None
            return
        hook, now = Hook(self.trial, self.code, place), self.now[self.first]
        count = len(self.trial.oracle.samples)
        for k in range(count):
            if not place.seen:
                hook.watch((self.first + k) % count)
        if not place.seen:
            yield from [None] if has_failed(self.now) else []
            return
        rng = np.random.default_rng(0)

        def moved(env: Any) -> Any:
            value = hook.original(env)
            return value * (1 + 0.01 * rng.random(np.shape(value))) + 0.01

        then = hook.look(self.first, moved) if place.is_float and RAISES not in now.wrong else now
        moves_right = bool(set(now.right) - set(then.right)) and RAISES not in then.wrong
        moves_wrong = then is now or any(_has_moved(name, now, then) for name in now.wrong)
        if not moves_right and (moves_wrong or not any(now.wrong.values())):
            yield hook

    def _tried(self, place: Place, hook: Hook | None, edits: Iterable[Edit]) -> None:
        """Each edit of the expression in the place; those whose value is known not to help cost no run."""
        if hook is None:
            self._slowly(edits)
            return
        known: dict[Any, bool] | None = None if place.looped else {fingerprint(place.value): False}
        for edit in edits:
            if self.trial.is_over:
                return
            try:
                expression = compiled_expression(edit.new)
            except (SyntaxError, ValueError, TypeError):
                continue
            is_new = [None if edit.kind in _SHOULD_NOT_BE_LOST else known]

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
        """Each edit, by compiling the function anew."""
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
        is_better = bool(then.right) if RAISES in now.wrong else set(then.wrong) < set(now.wrong)
        if RAISES in then.wrong or not is_better:
            if RAISES not in then.wrong and set(then.wrong) <= set(now.wrong):
                self._near.append((sum(then.wrong.values()) + len(then.right), edit))
            return False
        after = [then if k == self.first else look(k) for k in range(len(self.now) - 1)]
        after.append(look(0))
        if self._is_progress(after):
            self._found.append((edit, after))
        return True

    def _is_progress(self, after: list[Outlook]) -> bool:
        """Whether some output that was wrong is right at every sample now, and none is newly wrong."""
        if has_failed(after) or (not has_failed(self.now) and not wrong_in(after) < wrong_in(self.now)):
            return False
        pairs = zip(self.now, after, strict=True)
        return all(RAISES in now.wrong or set(then.wrong) <= set(now.wrong) for now, then in pairs)

    def _missing(self, seen: Seen) -> None:
        """What is not a small change of what stands there: a factor, a term, a step, another expression."""
        vocabulary, now, others = Vocabulary(self.code, self.forward, self.offers), self.now[self.first], []
        for place, hook in seen:
            if hook is not None and place.is_float and not place.is_index and not self.trial.is_over:
                slopes = None if RAISES in now.wrong else slopes_at(hook, self.first, now)
                self._tried(place, hook, looked_up(hook, slopes, vocabulary) if slopes else ())
                others += [(place, hook)] if slopes is None else []
        for place, hook in [] if self._found else others:
            self._tried(place, hook, (edit_of(place, kind, new) for kind, new in _guesses(place, vocabulary)))
            if RAISES in now.wrong and isinstance(place.holder, ast.stmt | ast.Call):
                words = itertools.islice(vocabulary.words(place.env), _WORDS)
                self._tried(place, hook, (edit_of(place, "expression", word.made()) for word in words))


def _has_moved(name: str, now: Outlook, then: Outlook) -> bool:
    """Whether a wrong output is another one then."""
    if name in now.arrays and name in then.arrays:
        return not np.array_equal(now.arrays[name][0], then.arrays[name][0])
    return now.wrong.get(name) != then.wrong.get(name)


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
