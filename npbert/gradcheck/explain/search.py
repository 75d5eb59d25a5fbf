"""Search: one step of mending. Every edit of the grammar is tried, and then what may be missing."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.explain.code import Code, filled, replaced
from npbert.gradcheck.explain.edits import Edit, edits_of
from npbert.gradcheck.explain.edits_of_statements import statement_edits
from npbert.gradcheck.explain.needed import guesses, looked_up, slopes_at
from npbert.gradcheck.explain.places import Place, fingerprint, give_room, places_in, same
from npbert.gradcheck.explain.reasons import CHEAP
from npbert.gradcheck.explain.trial import RAISES, Hook, Outlook, Trial, has_failed, wrong_in
from npbert.gradcheck.explain.vocabulary import Vocabulary

_PAIRS, _OTHERS = 12, 5  # first edits of a pair; edits told beside the best
_FAR = 3.0  # a single edit of a higher cost is weighed against two at once


class Made(NamedTuple):
    """An edit that was chosen, others that are as good, and the code that all are edits of."""

    edit: Edit
    others: list[Edit]
    before: Code


class Way(NamedTuple):
    """One edit, or two at once, with the code that they lead to and what is wrong with that."""

    edits: list[Made]
    code: Code
    after: list[Outlook]

    @property
    def cost(self) -> float:
        return sum(made.edit.cost for made in self.edits)


class Search:
    """now: what is wrong with the code, by sample"""

    def __init__(self, code: Code, trial: Trial, forward: str, offers: tuple[str, ...], now: list[Outlook]) -> None:
        self.code, self.trial, self.forward, self.offers, self.now = (code, trial, forward, offers, now)
        self.first = next(k for k, outlook in enumerate(now) if outlook.wrong) % (len(now) - 1)
        self._near: list[tuple[float, Edit]] = []
        self._found: list[tuple[Edit, list[Outlook]]] = []

    def nearest(self) -> Way | None:
        """The best edit, or two at once where they are nearer to what stands there than any one."""
        one = self.best()
        if one and one.cost <= _FAR:
            return one
        return min(filter(None, (one, self.pair())), key=lambda way: way.cost, default=None)

    def best(self) -> Way | None:
        """The best single edit, where there is one."""
        every = places_in(self.code.tree)
        seen = [(place, hook) for place in every for hook in self._watched(place)]
        give_room(every)
        statements = list(statement_edits(self.code))
        self._slowly(edit for edit in statements if edit.kind != "move")
        for place, hook in seen:
            self._tried(place, hook, (edit for edit in edits_of(place, self.code.entry) if edit.cost < CHEAP))
        self._slowly(edit for edit in statements if edit.kind == "move")
        if not self._found:
            self._missing([(place, hook) for place, hook in seen if hook and place.is_float and not place.is_index])
        ranked = sorted(self._found, key=lambda each: (len(wrong_in(each[1])), *each[0].rank))
        for edit in (each for found, _ in ranked for each in (*self._above(found), found)):
            code, after = self._made(edit)
            if self._is_progress(after):
                others = [each for each, then in ranked if each is not edit and wrong_in(then) == wrong_in(after)]
                return Way([Made(edit, others[:_OTHERS], self.code)], code, after)
        return None

    def pair(self) -> Way | None:
        """Two edits at once: the first is one of those that came nearest."""
        of_score: dict[float, Edit] = {}
        for score, edit in sorted(self._near, key=lambda each: (-round(each[0], 6), each[1].cost)):
            of_score.setdefault(round(score, 9), edit)
        for edit in itertools.islice(of_score.values(), _PAIRS):
            code, now = self._made(edit)
            if not self.trial.is_over and not has_failed(now) and set() < wrong_in(now) <= wrong_in(self.now):
                way = Search(code, self.trial, self.forward, self.offers, now).best()
                if way:
                    return way._replace(edits=[Made(edit, [], self.code), *way.edits])
        return None

    def _above(self, edit: Edit) -> Iterator[Edit]:
        """The same edit of what was assigned to the name, where another expression belongs in its place, or where the
        name is only returned: the line that made it is the one to look at."""
        if not isinstance(edit.old, ast.Name) or not isinstance(edit.new, ast.expr):
            return
        nodes = list(ast.walk(self.code.entry))
        returned = [s.value for s in nodes if isinstance(s, ast.Return)]
        if edit.kind == "expression" or any(edit.old in (value, *getattr(value, "elts", ())) for value in returned):
            for s in reversed(nodes):
                if isinstance(s, ast.Assign) and same(s.targets[0], filled("n = 0", n=edit.old).targets[0]):
                    uses = [
                        node for node in ast.walk(edit.new) if isinstance(node, ast.Name) and node.id == edit.old.id
                    ]
                    new = replaced(edit.new, {id(node): s.value for node in uses})
                    yield Edit(edit.kind, s.lineno, {id(s.value): new}, s.value, new, edit.more)

    def _made(self, edit: Edit) -> tuple[Code, list[Outlook]]:
        """The edited code, and what is wrong with it."""
        code = self.code.edited(copy.deepcopy(edit.changes))
        return code, self.trial.looks(code)

    def _watched(self, place: Place) -> Iterator[Hook | None]:
        """A hook that has seen the place, None where none can; nothing where it cannot be what is wrong."""
        if place.hidden:
            yield None
            return
        hook, now = Hook(self.trial, self.code, place), self.now[self.first]
        for k in [self.first, *range(len(self.now) - 1)]:
            hook.watch(k)
        if not place.seen:
            yield from [None] if has_failed(self.now) else []
        elif not place.is_float or RAISES in now.wrong:
            yield hook
        else:
            rng = np.random.default_rng(0)
            then = hook.look(self.first, lambda env: _shaken(hook.original(env), rng))
            is_blamed = not any(now.wrong.values()) or any(_has_moved(name, now, then) for name in now.wrong)
            if is_blamed and (set(now.right) <= set(then.right) or RAISES in then.wrong):
                yield hook

    def _tried(self, place: Place, hook: Hook | None, edits: Iterable[Edit]) -> None:
        """Each edit of the expression in the place; one whose value is known not to help costs no whole run."""
        if hook is None:
            self._slowly(edits)
            return
        known: set[Any] = set() if place.looped else {fingerprint(place.value)}
        for edit in edits:
            if self.trial.is_over:
                return
            values: list[Any] = []
            give = hook.candidate(edit.new, known, values)
            is_near = self._judged(edit, lambda k, give=give: hook.look(k, give))  # type: ignore[misc]
            if not is_near and not place.looped:
                known.update(values)

    def _slowly(self, edits: Iterable[Edit]) -> None:
        """Each edit, by compiling the function anew."""
        for edit in edits:
            if self.trial.is_over:
                return
            function = self.trial.compiled(self.code.edited(edit.changes))
            self._judged(edit, lambda k, function=function: self.trial.look(function, k))  # type: ignore[misc]

    def _judged(self, edit: Edit, look: Callable[[int], Outlook]) -> bool:
        """Whether the edit helps at the first sample; it is noted where it does at all of them."""
        now, then = self.now[self.first], look(self.first)
        if RAISES in then.wrong:
            return False
        if not (then.right if RAISES in now.wrong else set(then.wrong) < set(now.wrong)):
            if set(then.wrong) <= set(now.wrong):
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

    def _missing(self, seen: list[tuple[Place, Hook]]) -> None:
        """What is not a small change of what stands there: a factor, a term, a step, another expression."""
        vocabulary, now = (Vocabulary(self.code, self.forward, self.offers), self.now[self.first])
        others = []
        for place, hook in seen:
            slopes = None if RAISES in now.wrong or self.trial.is_over else slopes_at(hook, self.first, now)
            if slopes is None:
                others.append((place, hook))
            elif slopes:
                self._tried(place, hook, looked_up(hook, slopes, vocabulary))
        for place, hook in [] if self._found else others:
            self._tried(place, hook, guesses(place, vocabulary))


def _shaken(value: Any, rng: np.random.Generator) -> Any:
    """The value, a little moved in all its numbers."""
    return value * (1 + 0.01 * rng.random(np.shape(value))) + 0.01


def _has_moved(name: str, now: Outlook, then: Outlook) -> bool:
    """Whether a wrong output is another one then."""
    if name in now.arrays and name in then.arrays:
        return not np.array_equal(now.arrays[name][0], then.arrays[name][0])
    return now.wrong.get(name) != then.wrong.get(name)
