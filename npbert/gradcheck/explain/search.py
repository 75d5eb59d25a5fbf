"""Search: the edits of a code in order, the most common mistakes first."""

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import itemgetter
from typing import Any

from npbert.gradcheck.explain.code import text_of
from npbert.gradcheck.explain.edits import (
    CHANGES,
    RIGHT,
    Edit,
    edits_of,
    names_in,
    statement_edits,
)
from npbert.gradcheck.explain.grammar import rules_for
from npbert.gradcheck.explain.places import CodePlace
from npbert.gradcheck.explain.reasons import KINDS
from npbert.gradcheck.explain.survey import Made, Survey
from npbert.gradcheck.explain.trial import has_failed, moved_by, wrong_in

_PASSED_ON = 0.04
"""The extra cost of an edit where a line only passes a number on, and of a change where a computed number is used, or
of an index of what is written: less than between two kinds, so that it only decides between equal edits, for the line
that computes the number."""
_MORE = 0.3
"""The extra cost allowed to an edit that mends more than the first that helps: as between neighbors among the kinds."""
_ELSEWHERE = 0.3
"""The same, more, after an edit that also changes an output that stays wrong: it may be before the mistake."""
_UNREAD = 0.6
"""The same, for another variable in the place of one that is then never read: what computes that may be wrong."""
_TO_RUN = 1.0
"""The same, for code that fails: many edits let it run, few with right numbers."""
_OF_A_PART = 0.7
"""The extra cost of an addition where fewer wrong outputs come from than elsewhere: one mistake may explain all."""
_STRANGE = 2.0
"""The extra cost of an addition with numbers that the right code lacks."""
SAFE = 4.0
"""An edit of a higher cost must make all outputs right: in a part they may be right by chance."""
_VALUE = "__value__"


class Search:
    """The search for one edit of a surveyed code. It goes on where it stopped."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey

    def best(self, most: float) -> list[Made]:
        """Return the edit that helps most among the cheapest, up to the cost `most`; [] without one."""
        survey, found = self.survey, list[Made]()
        while not survey.trial.is_over and self._untried and self._untried[0][0][0] <= most:
            (cost, *_), edits, place = self._untried.popleft()
            for edit in edits:
                made = survey.made(edit, place)
                if made and not (wrong_in(made[1]) or _leaves_unread(made)):
                    return [made]
                if made and cost < SAFE and edit.kind != "line order":  # which mends a part by chance
                    found.append(made)
                    most = min(most, cost + self._more(made))
                if survey.trial.is_over:
                    break
        return sorted(found, key=survey.badness)[:1]

    def _more(self, made: Made) -> float:
        """Return the extra cost allowed to an edit that is better."""
        _, after = made
        if not wrong_in(after):
            return _UNREAD
        if has_failed(self.survey.now):
            return _TO_RUN
        return _MORE + _ELSEWHERE * bool(moved_by(self.survey.now, after))

    @cached_property
    def _untried(self) -> deque[tuple[tuple[float, ...], Iterable[Edit], CodePlace | None]]:
        """The edits, each with its rank and its place; edits that add code by place and kind."""
        code, vocabulary, fine = self.survey.code, self.survey.vocabulary, self.survey.fine
        statements = list(dict.fromkeys(place.statement for place in self.survey.places if not place.hidden))
        nodes = [node for each in statements for node in ast.walk(each)]
        computed = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        ranked: list[Any] = [(edit.rank, [edit], None) for edit in statement_edits(code, statements, fine)]
        most = max(self.survey.reach.values(), default=0)
        for place, moves in self.survey.reach.items():
            passes_on = place.is_name and place.is_whole
            is_fine = place.statement in fine and not (passes_on or isinstance(place.statement, ast.Return))
            more = _PASSED_ON * (passes_on and not isinstance(place.statement, ast.Assign))
            elsewhere = _PASSED_ON * (text_of(place.expr) in computed or place.is_written)
            changes = edits_of(place, vocabulary, CHANGES, more + elsewhere, is_fine=is_fine)
            ranked += [(edit.rank, [edit], place) for edit in changes]
            kinds = dict.fromkeys(rule.kind for rule, _ in rules_for(place.expr, place.sorts))
            for kind in kinds:
                if kind in CHANGES:
                    continue
                for is_strange in (False, True) if self.survey.right else (False,):
                    cost = KINDS[kind].cost + more + RIGHT * is_fine + _OF_A_PART * (moves < most)
                    cost += _STRANGE * is_strange
                    rank = cost, not place.is_whole, len(text_of(place.expr))  # simple lines first
                    ranked.append((rank, self._additions(place, kind, is_strange), place))
        return deque(sorted(ranked, key=itemgetter(0)))

    def _additions(self, place: CodePlace, kind: str, is_strange: bool) -> Iterator[Edit]:
        """Yield the edits of a kind that add code in a place, if it then has numbers that the right code lacks; or, if
        not is_strange, numbers of the right code, as far as known."""
        survey = self.survey
        for edit in edits_of(place, survey.vocabulary, (kind,)):
            is_open = survey.right is None or place.hidden or not place.seen
            text = edit.new.replace(f"({text_of(place.expr)})", f"({_VALUE})")
            is_known = is_open or survey.has_right_numbers(text, {**place.env, _VALUE: place.value}) is not False
            if is_known != is_strange:
                yield edit


def _leaves_unread(made: Made) -> bool:
    """True for another variable in the place of one that is never read then."""
    edit, _ = made
    is_name = edit.kind == "wrong name" and edit.old.isidentifier()
    return is_name and edit.old not in {each.id for each in names_in(edit.applied.functions[0])}
