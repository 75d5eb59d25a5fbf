"""Search: a code with the values of its expressions, and what wrong outputs come from each; its edits in order, the
most common mistakes first; and what each makes right."""

import ast
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code, names_in, text_of, variables_of
from npbert.gradcheck.explain.edits import CHANGES, RIGHT, Edit, edits_of, statement_edits
from npbert.gradcheck.explain.grammar import KINDS, rules_for
from npbert.gradcheck.explain.places import CodePlace, is_float, places_in
from npbert.gradcheck.explain.trace import Trace, telling, watched
from npbert.gradcheck.explain.trial import RAISES, Outlook, Trial, has_failed, has_moved, mended_by, moved_by, wrong_in
from npbert.gradcheck.explain.vocabulary import Vocabulary
from npbert.gradcheck.inputs import Function, magnitude, mapped

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
_A_LITTLE = 0.01  # moves outputs far beyond rounding, and most numbers to no other branch
_NOTHING = 1e-9
_PART = 0.1  # of a try: an expression takes about a tenth of the time of a run
Made = tuple[Edit, list[Outlook]]
"""An edit that helps, and the result of the code with it on every sample."""


class Search:
    """now: the result of the code on every sample   first: the number of the first with something wrong
    right: a right code's run there, if there is one   places: the expressions, with their values
    fine: the statements with numbers of the right code   unknown: in order, the places with other numbers
    """

    def __init__(
        self,
        trial: Trial,
        forward: str,
        runs: Callable[[int, int], Trace],
        code: Code,
        now: list[Outlook],
    ) -> None:
        self.code, self.trial, self.now = code, trial, now
        first = next((k for k, outlook in enumerate(now) if outlook.wrong), 0)
        self.first = first % (len(now) - 1)  # the last result is of the first sample again
        self.vocabulary, everything = Vocabulary(code, forward), places_in(code)
        self.places = [place for place in everything if not place.is_target]
        events = watched(trial, code, everything, self.first)
        self._own = Trace(events)
        self.right = runs(self.first, trial.calls)  # right code runs on, after what stops this one
        for k in range(len(now) - 1):
            if not all(place.seen for place in self.places):
                watched(trial, code, everything, k)
        self.fine, self.unknown = set[ast.stmt](), dict[CodePlace, Array]()
        if self.right:
            self.fine, self.unknown = self.right.verdicts(events)
        self._hooked: dict[CodePlace, Code] = {}
        self.alone = set[CodePlace]()
        """The places that move wrong outputs and no right one, known after `reach`."""

    @cached_property
    def reach(self) -> dict[CodePlace, int]:
        """The places where an edit may help, as far as known, with the number of wrong outputs that move with each."""
        moves = {place: self._moves(place) for place in self.places if not self.trial.is_over}
        return {place: count for place, count in moves.items() if count}

    def _moves(self, place: CodePlace) -> int:
        """Return the number of wrong outputs that move with a place, all if it is no float; 0 if a right output or y
        moves, too. A condition takes no notice of a little, but of other numbers."""
        now = self.now[self.first]
        if not (place.hidden or place.seen or has_failed(self.now)):
            return 0
        if place.hidden or not place.seen or not place.has_floats or RAISES in now.wrong:
            return len(now.wrong)
        moved = self._moved(place, _a_little) or self._moved(place, _elsewhere)
        return moved if place.is_float else len(now.wrong)  # of several floats, some may be right

    def _moved(self, place: CodePlace, change: Function) -> int:
        """Return the same for one change of the numbers of a place."""
        now = self.now[self.first]
        then = self.trial.look(self._with(place, lambda _, value: mapped(change, value())), self.first)
        spoiled = [name for name in then.wrong - now.wrong if not _is_nothing(now, name)]  # a sum that is 0 may stay so
        is_shared = self.trial.calls > 1  # right in one call, it may be wrong in another
        is_spoiled = spoiled and not (is_shared or RAISES in then.wrong)
        count = 0 if is_spoiled else sum(has_moved(name, now, then) for name in now.wrong)
        if count and not spoiled:
            self.alone.add(place)
        return count

    def _with(self, place: CodePlace, value: Function) -> Function:
        """Return the code with another value in a place. value: of the variables there, and of what computes the old"""
        if place not in self._hooked:  # parsed only once for each place
            self._hooked[place] = self.code.hooked(place.expr)
        return self.trial.compiled(self._hooked[place], value)

    def made(self, edit: Edit, place: CodePlace | None = None) -> Made | None:
        """Return the code with the edit, if it helps. place: of an edit of an expression, which makes this quicker"""
        if place and not place.hidden:
            function = self._with(place, lambda env, _: self.code.value(edit.new, env))
        else:
            function = self.trial.compiled(edit.applied)
        now, then = self.now[self.first], self.trial.look(function, self.first)
        if mended_by([now], [then]):
            edit = edit.tidied()
            after = self.trial.looks(edit.applied)
            if mended := mended_by(self.now, after):
                for change in edit.changes if not edit.told else ():
                    less = replace(edit, changes=[each for each in edit.changes if each != change])
                    if less.changes:  # of equal places, some may be right
                        others = self.trial.looks(less.applied)
                        if mended <= mended_by(self.now, others):
                            edit, after = less, others
                return edit, after
        return None

    def badness(self, made: Made) -> tuple[bool, bool, int]:
        """A sort key: does it fail, does it change what stays wrong, and how many outputs are wrong, at how many
        samples?"""
        _, after = made
        return has_failed(after), bool(moved_by(self.now, after)), sum(len(outlook.wrong) for outlook in after)

    def has_right_numbers(self, text: str, env: Mapping[str, Any]) -> bool | None:
        """True if an expression has numbers of the right code, False if it has others or fails, None if none tell."""
        self.trial.left -= _PART
        try:
            arrays = list(telling(self.code.value(text, env)))
        except Exception:  # of the author's code, edited
            return False
        return all(map(self.right.has, arrays)) if arrays else None

    def newness(self, text: str, env: Mapping[str, Any]) -> int:
        """Return 0 if an expression's right numbers repeat, or are those of a variable, and so may be right by chance;
        2 if the code does not have them; and 1 otherwise."""
        self.trial.left -= _PART
        arrays = list(telling(self.code.value(text, env)))
        for array in arrays:
            repeats = len(np.unique(array)) < np.count_nonzero(array) / 2
            if repeats or any(np.array_equal(array, other) for other in env.values()):
                return 0
        return 2 - all(map(self._own.has, arrays))

    def best(self, most: float) -> list[Made]:
        """Return the edit that helps most among the cheapest, up to the cost `most`; [] without one."""
        found = list[Made]()
        while not self.trial.is_over and self._untried and self._untried[0][0][0] <= most:
            (cost, *_), edits, place = self._untried.popleft()
            for edit in edits:
                made = self.made(edit, place)
                if made and not (wrong_in(made[1]) or _leaves_unread(made)):
                    return [made]
                if made and edit.kind != "line order":  # which mends a part by chance
                    found.append(made)
                    most = min(most, cost + (_TO_RUN if has_failed(self.now) else _MORE))
                if self.trial.is_over:
                    break
        return sorted(found, key=self.badness)[:1]

    @cached_property
    def _untried(self) -> deque[tuple[tuple[float, ...], Iterable[Edit], CodePlace | None]]:
        """The edits, each with its rank and its place; edits that add code by place and kind."""
        vocabulary, fine = self.vocabulary, self.fine
        computed = {name for place in self.places if not place.hidden for name in variables_of(place.statement)[0]}
        ranked: list[Any] = [(edit.rank, [edit], None) for edit in statement_edits(self.places, vocabulary, fine)]
        most, alike = max(self.reach.values(), default=0), defaultdict[Any, dict[Any, Edit]](dict)
        for place, moves in self.reach.items():
            passes_on = place.is_name and place.is_whole
            is_fine = place.statement in fine and not (passes_on or isinstance(place.statement, ast.Return))
            more = _PASSED_ON * (passes_on and not isinstance(place.statement, ast.Assign))
            elsewhere = _PASSED_ON * (text_of(place.expr) in computed)
            for edit in edits_of(place, vocabulary, CHANGES, more + elsewhere, is_fine=is_fine):
                ranked.append((edit.rank, [edit], place))
                alike[edit.kind, edit.old, edit.new][edit.span] = edit
            kinds = dict.fromkeys(rule.kind for rule, _ in rules_for(place.expr, place.sorts))
            for kind in kinds:
                if kind not in CHANGES:
                    cost = KINDS[kind].cost + more + RIGHT * is_fine + _OF_A_PART * (moves < most)
                    rank = cost, not place.is_whole, len(text_of(place.expr))  # simple lines first
                    ranked.append((rank, self._additions(place, kind), place))
        for edits in alike.values():
            edit, *others = edits.values()
            if others:  # a mistake made more than once
                changes = [change for each in edits.values() for change in each.changes]
                all_of_them = replace(edit, changes=changes, more=RIGHT)
                ranked.append((all_of_them.rank, [all_of_them], None))
        return deque(sorted(ranked, key=itemgetter(0)))

    def _additions(self, place: CodePlace, kind: str) -> Iterator[Edit]:
        """Yield the edits of a kind that add code in a place, if it then has numbers of the right code, as far as
        known."""
        for edit in edits_of(place, self.vocabulary, (kind,)):
            is_open = not self.right or place.hidden or not place.seen
            text = edit.new.replace(f"({text_of(place.expr)})", f"({_VALUE})")
            if is_open or self.has_right_numbers(text, {**place.env, _VALUE: place.value}) is not False:
                yield edit


def _a_little(value: Any) -> Any:
    by = 1 + _A_LITTLE * np.random.default_rng(0).random(np.shape(value))
    return value * by + _A_LITTLE if is_float(value) else value


def _elsewhere(value: Any) -> Any:
    return value * np.random.default_rng(0).uniform(-0.5, 0.5, np.shape(value)) if is_float(value) else value


def _leaves_unread(made: Made) -> bool:
    """True for another variable in the place of one that is never read then: what computes that may be wrong."""
    edit, _ = made
    is_name = edit.kind == "wrong name" and edit.old.isidentifier()
    return is_name and edit.old not in {each.id for each in names_in(edit.applied.functions[0])}


def _is_nothing(outlook: Outlook, name: str) -> bool:
    """True if the right numbers of an output are known to be 0."""
    return name in outlook.arrays and bool(magnitude(outlook.arrays[name][1]) < _NOTHING)
