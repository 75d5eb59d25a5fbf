"""Search: one step of mending. The edits are tried in order, the most common mistakes first."""

import ast
import heapq
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import HOOK, Code, expression, text_of
from npbert.gradcheck.explain.edits import Edit, edits_of, group_of, statement_edits
from npbert.gradcheck.explain.grammar import rules_for
from npbert.gradcheck.explain.places import CodePlace, places_in
from npbert.gradcheck.explain.reasons import KINDS
from npbert.gradcheck.explain.trace import Trace, telling, watched
from npbert.gradcheck.explain.trial import RAISES, VALUES, Outlook, Trial, has_failed, is_worse, wrong_in
from npbert.gradcheck.explain.vocabulary import Vocabulary

_RIGHT = 1.0  # the extra cost of an edit of a line with right numbers
_UNKNOWN = 0.5  # the discount for a new expression where the numbers begin to be wrong
_AGAIN = 2.0  # the discount for a new expression of a kind that was missing before
_MORE = 0.3  # the extra cost allowed to an edit that mends more than the first that helps;
_TO_RUN = 1.0  # and than the first with which the code runs
_SPOILED = 1000.0  # times the error: it was nearly right before. (One of two mistakes may hide the other)
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
        self.first = next(k for k, outlook in enumerate(now) if outlook.wrong) % (len(now) - 1)
        self.right = runs(self.first) if runs else None
        self.vocabulary, self.everything = Vocabulary(code, forward), places_in(code)
        self.places = [place for place in self.everything if not place.is_target]
        self._blamed: list[CodePlace] = []
        self._open: dict[CodePlace, Callable[..., Any]] = {}
        self._value: Value
        self._waiting: list[tuple[Any, int, Edit | str, CodePlace | None]] = []
        self._number = itertools.count()
        self._fine, self._unknown = self._verdicts()

    def best(self, most: float) -> Made | None:
        """Return the edit that helps most among the cheapest, up to the cost `most`; None without one."""
        if not next(self._number):
            self._fill()
        found: list[Made] = []
        while not self.trial.is_over and self._waiting and self._waiting[0][0][0] <= most:
            (cost, *_), _, thing, place = heapq.heappop(self._waiting)
            for edit in [thing] if isinstance(thing, Edit) else self._anew(cost, thing, place):
                if made := self._made(edit, place):
                    found.append(made)
                    most = min(most, cost + (_TO_RUN if has_failed(self.now) else _MORE))
                    if not wrong_in(made[2]):
                        return made
                if self.trial.is_over:
                    break
        return min(found, key=lambda made: len(wrong_in(made[2])), default=None)

    def _fill(self) -> None:
        """Queue all possible edits."""
        for edit in statement_edits(self.code):
            self._push(edit.rank, edit, None)
        for place in self.places:
            if self.trial.is_over or not self._is_blamed(place):
                continue
            self._blamed.append(place)
            more = _RIGHT if place.statement in self._fine and not isinstance(place.statement, ast.Return) else 0.0
            for edit in edits_of(place, self.vocabulary, more):
                self._push(edit.rank, edit, place)
            if self._unknown and place.statement is self._unknown[0].statement:
                more -= _UNKNOWN
            for kind in dict.fromkeys(group_of(rule) for rule, _ in rules_for(place.expr, place.sorts)):
                if kind:
                    self._push((KINDS[kind].cost + more - _AGAIN * (kind in self.made),), kind, place)

    def _push(self, rank: tuple[float, ...], thing: Edit | str, place: CodePlace | None) -> None:
        heapq.heappush(self._waiting, (rank, next(self._number), thing, place))

    def _anew(self, cost: float, kind: str, place: CodePlace | None) -> Iterator[Edit]:
        """Yield the edits of a kind that write something new in a place, if it then has a number of the right code."""
        assert place
        for edit in edits_of(place, self.vocabulary, cost - KINDS[kind].cost, kind):
            if self._leads_on(place, edit):
                yield edit

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
        if RAISES not in then.wrong and (then.right if RAISES in now.wrong else then.wrong < now.wrong):
            edit = edit.tidied(self.code)
            code = edit.of(self.code)
            after = self.trial.looks(code)
            if self._is_progress(after):
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
        wrong = [self.now[self.first].arrays.get(name) for name in self.now[self.first].wrong]
        if all(pair and not pair[0].any() for pair in wrong):
            shapes = {pair[0].shape for pair in wrong if pair}
            return next((each for each in self.places if each.is_whole and _is_zero(each.value, shapes)), None)
        for place in self._unknown:
            if self.right and all(map(self.right.has, telling(place.value))):
                continue  # it is in a right run, under another name
            computed = [each for each in self.places if each.statement is place.statement and each.is_whole]
            here = computed[0] if place.is_target and computed else place
            if here.seen and not here.hidden and here in self._blamed:
                return here
        return None

    def _verdicts(self) -> tuple[set[ast.stmt], list[CodePlace]]:
        """Run the code and compare the first sample with a right code. Places not reached there are compared in the
        others."""
        events = watched(self.trial, self.code, self.everything, self.first)
        for k in range(len(self.now) - 1):
            if not all(place.seen for place in self.places):
                watched(self.trial, self.code, self.everything, k)
        return self.right.verdicts(events) if self.right else (set(), [])

    def _is_blamed(self, place: CodePlace) -> bool:
        """False if an edit of the place cannot help: it moves no wrong output, or a right one, or y."""
        now = self.now[self.first]
        if place.hidden or not place.seen:
            return place.hidden or has_failed(self.now)
        if not place.is_float or RAISES in now.wrong:
            return True
        rng = np.random.default_rng(0)

        def moved(_: Any, e: Callable[[], Any]) -> Any:
            value = e()
            return value * (1 + 0.01 * rng.random(np.shape(value))) + 0.01

        then = self.trial.look(self._with(place, moved), self.first)
        is_shared = place.looped and self.trial.calls > 1  # right in one call, it may be wrong in another
        is_spoiled = not (now.right <= then.right or RAISES in then.wrong or is_shared)
        return VALUES not in then.wrong and not is_spoiled and any(_has_moved(name, now, then) for name in now.wrong)

    def _is_progress(self, after: list[Outlook]) -> bool:
        """True if a wrong output is now right at every sample, and none is newly wrong, or worse."""
        if has_failed(after) or (not has_failed(self.now) and not wrong_in(after) < wrong_in(self.now)):
            return False
        pairs = zip(self.now, after, strict=True)
        return all(
            RAISES in now.wrong or (then.wrong <= now.wrong and not is_worse(now, then, _SPOILED))
            for now, then in pairs
        )


def _is_zero(value: Any, shapes: Collection[tuple[int, ...]]) -> bool:
    return isinstance(value, np.ndarray) and value.shape in shapes and not value.any()


def _has_moved(name: str, now: Outlook, then: Outlook) -> bool:
    """True if a wrong output changes, as far as known."""
    is_known = name in now.arrays and name in then.arrays
    return not is_known or not np.array_equal(now.arrays[name][0], then.arrays[name][0])
