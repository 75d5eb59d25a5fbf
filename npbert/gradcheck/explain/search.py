"""Search: a code with the values of its expressions, and what wrong outputs come from each; its edits in order, the
most common mistakes first; and what each makes right. An edit that helps leads to another Search."""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code, names_in, text_of, variables_of
from npbert.gradcheck.explain.edits import CHANGES, Edit, edits_of, statement_edits
from npbert.gradcheck.explain.grammar import KINDS, rules_for
from npbert.gradcheck.explain.places import CodePlace, is_float, places_in
from npbert.gradcheck.explain.trace import Trace, telling, watched
from npbert.gradcheck.explain.trial import RAISES, Trial, has_failed, has_moved, mended_by, moved_by, wrong_in
from npbert.gradcheck.explain.vocabulary import Vocabulary
from npbert.gradcheck.inputs import magnitude, mapped

_RIGHT = 1.0
"""The extra cost of an edit where the numbers are right: all common mistakes elsewhere come first."""
_OF_LINES = ("line order", "extra line", "overwritten", "unused result")
_UNSEEN = ("= or +=", "in place", "new array", "copy", "needless copy", "reshape", "transpose", "index", *_OF_LINES)
"""Kinds of mistakes with right numbers: where they go, and their order, as numbers are known in any order."""
_PASSED_ON = 0.04
"""The extra cost of an edit where a line only passes a number on, and of a change where a computed number is used: less
than between two kinds, so that it only decides between equal edits, for the line that computes the number."""
_MORE = 0.6
"""The extra cost allowed to an edit that mends more than the first that helps, as between neighbors among the kinds."""
_TO_RUN = 1.0
"""The same, for code that fails: many edits let it run, few with right numbers."""
_OF_A_PART = 0.7
"""The extra cost of an addition where fewer wrong outputs come from than elsewhere: one mistake may explain all."""
_VALUE = "__value__"
_NOTHING = 1e-9
_PART = 0.1  # of a try: an expression takes about a tenth of the time of a run


class Search:
    """now: the result of the code on every sample   first: the number of the first with something wrong
    outlook: the result there   own: the code's run there   right: a right code's, if there is one
    places: the expressions, with their values   fine: the statements with numbers of the right code
    unknown: in order, the places with other numbers   edit: the last edit, which led to this code
    alone: the places that move wrong outputs and no right one, known after `reach`
    """

    def __init__(
        self,
        trial: Trial,
        forward: str,
        runs: Callable[[int, int], Trace],
        code: Code,
        edit: Any = None,
    ) -> None:
        self.trial, self.code, self.edit = trial, code, edit
        self.now = now = trial.looks(code)
        self._forward, self._runs = forward, runs
        self.first = max(range(len(now) - 1), key=lambda k: bool(now[k].wrong))
        self.outlook = now[self.first]
        self._hooked = cache(code.hooked)  # parsed only once for each place
        self.alone = set[CodePlace]()

    def begun(self) -> Search:
        """Run the code with hooks, as the search goes on from here. Return the search."""
        trial, code = self.trial, self.code
        self.vocabulary, everything = Vocabulary(code, self._forward), places_in(code)
        self.places = [place for place in everything if not place.is_target]
        self.own = Trace(watched(trial, code, everything, self.first))
        self.right = self._runs(self.first, trial.calls)  # right code runs on, after what stops this one
        for k in range(len(self.now) - 1):
            if not all(place.seen for place in self.places):
                watched(trial, code, everything, k)
        self.fine, self.unknown = self.right.verdicts(self.own.events)
        return self

    @cached_property
    def reach(self) -> dict[CodePlace, int]:
        """The places where an edit may help, as far as known, with the number of wrong outputs that move with each."""
        moves = {place: self._moves(place) for place in self.places if not self.trial.is_over}
        return {place: count for place, count in moves.items() if count}

    def _moves(self, place: CodePlace) -> int:
        """Return the number of wrong outputs that move with a place, all if it is no float; 0 if a right output or y
        moves, too. It is moved far beyond rounding, but so little that most numbers come to no other branch; then far,
        as a condition takes no notice of a little."""
        now = self.outlook
        if not (place.hidden or place.seen or has_failed(self.now)):
            return 0
        if place.hidden or not place.seen or not place.has_floats or RAISES in now.wrong:
            return len(now.wrong)
        moved = self._moved(place, 1, 1.01, 0.01) or self._moved(place, -0.5, 0.5)
        return moved if place.is_float else len(now.wrong)  # of several floats, some may be right

    def _moved(self, place: CodePlace, low: float, high: float, shift: float = 0) -> int:
        """Return the same for the numbers of a place times others from low to high, and shifted."""

        def change(value: Any) -> Any:
            by = np.random.default_rng(0).uniform(low, high, np.shape(value))
            return value * by + shift if is_float(value) else value

        now = self.outlook
        moved = self.trial.compiled(self._hooked(place.expr), lambda _, value: mapped(change, value()))
        then = self.trial.look(moved, self.first)
        nothing = {name for name, (_, right) in now.arrays.items() if magnitude(right) < _NOTHING}
        spoiled = then.wrong - now.wrong - nothing  # a sum that is 0 may stay so
        is_shared = self.trial.calls > 1  # right in one call, it may be wrong in another
        is_spoiled = spoiled and not (is_shared or RAISES in then.wrong)
        count = 0 if is_spoiled else sum(has_moved(name, now, then) for name in now.wrong)
        if count and not spoiled:
            self.alone.add(place)
        return count

    def made(self, edit: Edit) -> Search | None:
        """Return the search in the code with the edit, if it helps."""
        if edit.place:  # not parsed again
            hooked = self._hooked(edit.place.expr)
            function = self.trial.compiled(hooked, lambda env, _: self.code.value(edit.new, env))
        else:
            function = self.trial.compiled(edit.applied)
        if mended_by([self.outlook], [self.trial.look(function, self.first)]):
            made = self.after(edit.tidied())
            if mended := mended_by(self.now, made.now):
                for change in made.edit.changes if not edit.told else ():
                    rest = [each for each in made.edit.changes if each != change]
                    if rest:  # of equal places, some may be right
                        less = self.after(replace(made.edit, changes=rest))
                        if mended <= mended_by(self.now, less.now):
                            made = less
                return made
        return None

    def after(self, edit: Edit) -> Search:
        """Return the search in the code with the edit."""
        return Search(self.trial, self._forward, self._runs, edit.applied, edit)

    def _badness(self, made: Search) -> tuple[bool, bool, int]:
        """A sort key: does it fail, does it change what stays wrong, and how many outputs are wrong, at how many
        samples?"""
        return has_failed(made.now), bool(moved_by(self.now, made.now)), sum(len(outlook.wrong) for outlook in made.now)

    def known_arrays(self, text: str, env: Mapping[str, Any]) -> list[Array] | None:
        """Return the telling arrays of an expression's value, if the right code has all; None if not, or it fails."""
        self.trial.left -= _PART
        try:
            arrays = list(telling(self.code.value(text, env)))
        except Exception:  # of the author's code, edited
            return None
        return arrays if all(map(self.right.has, arrays)) else None

    def best(self, most: float) -> list[Search]:
        """Return the edit that helps most among the cheapest, up to the cost `most`; [] without one."""
        found = list[Search]()
        while not self.trial.is_over and self._untried and self._untried[0][0][0] <= most:
            (cost, *_), edits = self._untried.popleft()
            for edit in edits:
                made = self.made(edit)
                if made and not (wrong_in(made.now) or _leaves_unread(made)):
                    return [made]
                if made and edit.kind != "line order":  # which mends a part by chance
                    found.append(made)
                    most = min(most, cost + (_TO_RUN if has_failed(self.now) else _MORE))
                if self.trial.is_over:
                    break
        return sorted(found, key=self._badness)[:1]

    @cached_property
    def _untried(self) -> deque[tuple[tuple[float, ...], Iterable[Edit]]]:
        """The edits, each with its rank; edits that add code by place and kind."""
        vocabulary, fine = self.vocabulary, self.fine
        computed = {name for place in self.places if not place.hidden for name in variables_of(place.statement)[0]}
        ranked = list[Any]()
        for edit in statement_edits(self.places, vocabulary, fine):
            ranked.append((edit.rank(_of_right(edit, edit.told in fine)), [edit]))
        most, alike = max(self.reach.values(), default=0), defaultdict[Any, dict[Any, Edit]](dict)
        for place, moves in self.reach.items():
            passes_on = place.is_name and place.is_whole
            is_fine = place.statement in fine and not (passes_on or isinstance(place.statement, ast.Return))
            more = _PASSED_ON * (passes_on and not isinstance(place.statement, ast.Assign))
            elsewhere = _PASSED_ON * (text_of(place.expr) in computed)
            for edit in edits_of(place, vocabulary, CHANGES):
                ranked.append((edit.rank(more + elsewhere + _of_right(edit, is_fine)), [edit]))
                alike[edit.kind, edit.old, edit.new][edit.span] = edit
            kinds = dict.fromkeys(rule.kind for rule, _ in rules_for(place.expr, place.sorts))
            for kind in kinds:
                if kind not in CHANGES:
                    cost = KINDS[kind].cost + more + _RIGHT * is_fine + _OF_A_PART * (moves < most)
                    rank = cost, not place.is_whole, len(text_of(place.expr))  # simple lines first
                    ranked.append((rank, self._additions(place, kind)))
        for edits in alike.values():
            edit, *others = edits.values()
            if others:  # a mistake made more than once
                changes = [change for each in edits.values() for change in each.changes]
                all_of_them = replace(edit, changes=changes, place=None)
                ranked.append((all_of_them.rank(_RIGHT), [all_of_them]))
        return deque(sorted(ranked, key=itemgetter(0)))

    def _additions(self, place: CodePlace, kind: str) -> Iterator[Edit]:
        """Yield the edits of a kind that add code in a place, if it then has numbers of the right code, as far as
        known."""
        for edit in edits_of(place, self.vocabulary, (kind,)):
            is_open = not self.right or place.hidden or not place.seen
            text = edit.new.replace(f"({text_of(place.expr)})", f"({_VALUE})")
            if is_open or self.known_arrays(text, {**place.env, _VALUE: place.value}) is not None:
                yield edit


def _of_right(edit: Edit, is_fine: bool) -> float:
    """Return the extra cost of an edit. is_fine: of right numbers"""
    return _RIGHT * (is_fine and edit.kind not in _UNSEEN)


def _leaves_unread(made: Search) -> bool:
    """True for another variable in the place of one that is never read then: what computes that may be wrong."""
    is_name = made.edit.kind == "wrong name" and made.edit.old.isidentifier()
    return is_name and made.edit.old not in {each.id for each in names_in(made.code.functions[0])}
