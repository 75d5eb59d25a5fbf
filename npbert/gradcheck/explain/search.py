"""Search: one step of mending. The edits are tried in order, the most common mistakes first."""

import ast
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import HOOK, Code, expression, text_of
from npbert.gradcheck.explain.edits import RIGHT, Edit, adds_code, edits_of, moved_factors, statement_edits, transplants
from npbert.gradcheck.explain.grammar import Rule, rules_for
from npbert.gradcheck.explain.places import CodePlace, places_in
from npbert.gradcheck.explain.reasons import KINDS
from npbert.gradcheck.explain.trace import Trace, telling, watched
from npbert.gradcheck.explain.trial import RAISES, Outlook, Trial, first_wrong, has_failed, mended_by, wrong_in
from npbert.gradcheck.explain.vocabulary import Vocabulary

_PASSED_ON = 0.04  # and of what a line only passes on: the line that computes it comes first
_UNKNOWN = 0.5  # the discount for a new expression where the numbers begin to be wrong
_AGAIN = 0.5  # and of a kind that was missing before
_MORE = 0.3  # the extra cost allowed to an edit that mends more than the first that helps;
_TO_RUN = 1.0  # and than the first with which the code runs
_PART = 0.1  # of a try, for the numbers of one expression
_VALUE = "__value__"
Runs = Callable[[int], Trace]
Value = Callable[[Mapping[str, Any], Callable[[], Any]], Any]
"""The value of a place, from the variables there and from a function that computes it as it was."""
Made = tuple[Edit, Code, list[Outlook]]
"""A chosen edit, the code with it, and its wrong outputs."""


class Search:
    """now: the errors of the code, by sample. runs: of a right code, by sample, if any. made: the kinds of the earlier
    edits, likely mistakes elsewhere too
    """

    def __init__(
        self, code: Code, trial: Trial, forward: str, now: list[Outlook], runs: Runs | None, made: Collection[str]
    ) -> None:
        self.code, self.trial, self.now, self.made = code, trial, now, made
        self.first = first_wrong(now)
        self.right = runs(self.first) if runs else None
        self.vocabulary, everything = Vocabulary(code, forward), places_in(code)
        self.places = [place for place in everything if not place.is_target]
        self._open: dict[CodePlace, Callable[..., Any]] = {}
        self._value: Value
        events = watched(trial, code, everything, self.first)
        for k in range(len(now) - 1):
            if not all(place.seen for place in self.places):
                watched(trial, code, everything, k)
        self._fine, self._unknown = self.right.verdicts(events) if self.right else (set(), [])

    def best(self, most: float) -> Made | None:
        """Return the edit that helps most among the cheapest, up to the cost `most`; None without one."""
        found: list[Made] = []
        while self._waiting and self._waiting[0][0][0] <= most and not self.trial.is_over:
            (cost, *_), edits, place = self._waiting.popleft()
            for edit in edits:
                if made := self._made(edit, place):
                    found.append(made)
                    most = min(most, cost + (_TO_RUN if has_failed(self.now) else _MORE))
                    if not wrong_in(made[2]):
                        return made
                if self.trial.is_over:
                    break
        best = min(found, key=lambda made: _badness(made[2]), default=None)
        return best and (self._earlier(best) or best)

    def _earlier(self, made: Made) -> Made | None:
        """Return an edit by the same rule at the last place that more wrong outputs come from, if it mends more: it is
        one mistake, not several."""
        edit, _, after = made
        mended = mended_by(self.now, after)
        for place in sorted(self._blamed, key=lambda place: -place.expr.lineno):
            if edit.rule and self._reached[place] > mended:
                for another in edits_of(place, self.vocabulary, lambda rule: rule == edit.rule):
                    better = self._made(another, place)
                    if better and _badness(better[2]) < _badness(after):
                        return better
        return None

    @cached_property
    def _blamed(self) -> list[CodePlace]:
        """The places where an edit may help."""
        return [place for place, outputs in self._reached.items() if outputs]

    @cached_property
    def _reached(self) -> dict[CodePlace, set[str]]:
        """The wrong outputs that an edit of each place may mend."""
        return {place: self._outputs_of(place) for place in self.places if not self.trial.is_over}

    @cached_property
    def _waiting(self) -> deque[tuple[tuple[float, ...], Iterable[Edit], CodePlace | None]]:
        """The edits that are not yet tried, each with its rank and its place; edits that add code by place and kind."""
        statements = dict.fromkeys(place.statement for place in self.places if not place.hidden)
        edits = [*statement_edits(self.code, statements, self._fine), *moved_factors(self.code, statements)]
        waiting: list[Any] = [(edit.rank, [edit], None) for edit in edits]
        for place in self._blamed:
            more = RIGHT if place.statement in self._fine and not isinstance(place.statement, ast.Return) else 0.0
            if place.is_name and place.is_whole and not isinstance(place.statement, ast.Assign):
                more += _PASSED_ON
            waiting += [(edit.rank, [edit], place) for edit in edits_of(place, self.vocabulary, _changes, more)]
            if self._unknown and place.statement is self._unknown[0].statement:
                more -= _UNKNOWN
            rules = (rule for rule, _ in rules_for(place.expr, place.sorts))
            for kind in dict.fromkeys(rule.kind for rule in rules if adds_code(rule)):
                cost = KINDS[kind].cost + more - _AGAIN * (kind in self.made)
                rank = cost, not place.is_whole, len(text_of(place.expr))  # simple lines first
                waiting.append((rank, self._anew(place, kind), place))
        return deque(sorted(waiting, key=itemgetter(0)))

    def _anew(self, place: CodePlace, kind: str) -> Iterator[Edit]:
        """Yield the edits of a kind that add code in a place, if it then has a number of the right code."""
        edits = edits_of(place, self.vocabulary, lambda rule: rule.kind == kind)
        return (edit for edit in edits if self._leads_on(place, edit))

    def lines(self, *, alone: bool) -> Iterator[Made]:
        """Yield the edits of lines with unknown numbers after which an output is right; or, unless `alone`, fewer lines
        are unknown."""
        if right := self.right:
            for place in self._unknown:
                for edit in sorted(self._toward(place, right), key=lambda edit: edit.rank):
                    made = None if self.trial.is_over else self._made(edit, None)
                    if made:
                        yield self._earlier(made) or made
                    elif not (alone or self.trial.is_over) and (made := self._known(edit, right)):
                        yield made

    def _known(self, edit: Edit, right: Trace) -> Made | None:
        """Return the code with the edit, if fewer lines are unknown."""
        edit = edit.tidied(self.code)
        code = edit.of(self.code)
        if not has_failed([self.trial.look(self.trial.compiled(code), self.first)]):
            _, unknown = right.verdicts(watched(self.trial, code, places_in(code), self.first))
            if len(unknown) < len(self._unknown):
                after = self.trial.looks(code)
                keeps = all(now.right <= then.right for now, then in zip(self.now, after, strict=True))
                return (edit, code, after) if keeps else None
        return None

    def _toward(self, unknown: CodePlace, right: Trace) -> Iterator[Edit]:
        """Yield the edits of a statement with which it may have numbers of the right code; none if it reads others:
        then an earlier one comes first."""
        here = [place for place in self._blamed if place.statement is unknown.statement]
        if not all(right.has_exactly(array) for each in here if each.is_name for array in telling(each.value)):
            return
        yield from statement_edits(self.code, {place.statement: None for place in here}, ())
        for whole in here:
            if whole.is_whole and whole.is_float:
                start, end = self.code.span(whole.expr)
                inside = [each for each in here if start <= self.code.span(each.expr)[0] < end]
                for edit in (edit for each in inside for edit in edits_of(each, self.vocabulary, lambda _: True)):
                    before, after = self.code.text[start : edit.start], self.code.text[edit.end : end]
                    arrays = self._arrays_of(f"{before.decode()}{edit.new}{after.decode()}", whole.env)
                    if arrays and all(map(right.has, arrays)):
                        yield edit
                yield from transplants(whole, self.code, right.events)

    def _arrays_of(self, text: str, env: Mapping[str, Any]) -> list[Array]:
        """Return the telling numbers of an expression; [] if it fails."""
        self.trial.left -= _PART
        try:
            return list(telling(eval(expression(text), {**self.code.scope, **env})))
        except Exception:  # of the author's code, edited
            return []

    def _leads_on(self, place: CodePlace, edit: Edit) -> bool:
        """True if the numbers with the edit occur in the right code, as far as known."""
        if self.right is None or place.hidden or not place.seen:
            return True
        self.trial.left -= _PART
        new = edit.new.replace(f"({text_of(place.expr)})", f"({_VALUE})")
        try:
            value = eval(expression(new), {**self.code.scope, **place.env, _VALUE: place.value})
        except Exception:  # of the author's code, edited
            return False
        return all(map(self.right.has, telling(value)))

    def _made(self, edit: Edit, place: CodePlace | None) -> Made | None:
        """Return the code with the edit, if it helps."""
        if place and not place.hidden:
            scope = self.code.scope
            function = self._with(place, lambda env, _: eval(expression(edit.new), {**scope, **env}))
        else:
            function = self.trial.compiled(edit.of(self.code))
        now, then = self.now[self.first], self.trial.look(function, self.first)
        if mended_by([now], [then]):
            edit = edit.tidied(self.code)
            code = edit.of(self.code)
            after = self.trial.looks(code)
            if mended_by(self.now, after):
                return edit, code, after
        return None

    def _with(self, place: CodePlace, value: Value) -> Callable[..., Any]:
        """Return the code with another value in a place. The code is compiled only once for each place."""
        if place not in self._open:
            start, end = self.code.span(place.expr)  # an inner function knows the names it reads
            changes = [(start, start, f"{HOOK}(locals(), lambda: ("), (end, end, "))")]
            self._open[place] = self.trial.compiled(self.code.edited(changes), lambda *given: self._value(*given))
        self._value = value
        return self._open[place]

    def suspect(self) -> CodePlace | None:
        """Return the first place whose numbers are in no right run: wrong outputs come from it, and no right ones. If
        all wrong outputs are 0, the first place with such an array."""
        now = self.now[self.first]
        if all(name in now.arrays and not now.arrays[name][0].any() for name in now.wrong):
            zeros = (each for each in self.places if each.is_whole and each.is_float and not np.any(each.value))
            return next(zeros, None)
        for place in self._unknown:
            is_known = self.right and all(map(self.right.has, telling(place.value)))  # under another name
            if not is_known and any(each.statement is place.statement for each in self._blamed):
                return place
        return None

    def _outputs_of(self, place: CodePlace) -> set[str]:
        """Return the wrong outputs that move with a place, as far as known: all, if it has no floats. None, if a right
        output or y moves, too: an edit cannot help."""
        now = self.now[self.first]
        if not (place.hidden or place.seen or has_failed(self.now)):
            return set()
        if place.hidden or not place.seen or not place.is_float or RAISES in now.wrong:
            return set(now.wrong)
        rng = np.random.default_rng(0)

        def moved(_: Any, e: Callable[[], Any]) -> Any:
            value = e()
            return value * (1 + 0.01 * rng.random(np.shape(value))) + 0.01

        then = self.trial.look(self._with(place, moved), self.first)
        is_shared = self.trial.calls > 1  # right in one call, it may be wrong in another
        is_spoiled = not (now.right <= then.right or RAISES in then.wrong or is_shared)
        return set() if is_spoiled else {name for name in now.wrong if _has_moved(name, now, then)}


def _changes(rule: Rule) -> bool:
    return not adds_code(rule)


def _badness(after: list[Outlook]) -> tuple[bool, int]:
    return has_failed(after), len(wrong_in(after))


def _has_moved(name: str, now: Outlook, then: Outlook) -> bool:
    """True if a wrong output changes, as far as known."""
    is_known = name in now.arrays and name in then.arrays
    return not is_known or not np.array_equal(now.arrays[name][0], then.arrays[name][0])
