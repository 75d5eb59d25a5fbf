"""Mending: the search for small edits of the author's code that make its gradients right. The algorithm, in order:

1. Run the code on every sample, and find the outputs that are wrong (`trial.py`).
2. Run it once more with a hook at each expression, for its values; with a right code at hand, find the lines whose
   numbers the right code has, too (`trace.py`).
3. Move the number of each expression a little, and far if nothing moves with it: it is to blame if wrong outputs move
   with it, unless a right output moves, too; of code that is called several times, each such expression is to blame
   (`search.py`).
4. Try the edits of all that is to blame, and the moves of lines, the most common mistakes first (`search.py`). An edit
   helps if one more output is right at every sample where it changes, and in a second call, and none is newly wrong.
5. Of the edits that help and cost about the same, take one that changes no output that stays wrong, and of these the
   one that mends most.
6. With an edit taken, start again at 2, until all is right, or the tries are spent.
7. With a right code at hand, `rewrite` goes on by lines (`lines.py`): in the first whose numbers the right code lacks,
   it tries small edits, then expressions of the right code, until its numbers are known; then in the next. Of several
   lines together, edits with new numbers come first.
8. `replace` puts expressions of the right code in the place of wrong results, whatever these were computed from.
9. Of what is left, it names a place to look at: where a right output is lost, or the first result that the right code
   does not have; without a right code, the first that is neither a number of forward nor the gradient of one
   (`known.py`).

`run` makes 1 to 6, with the edits up to some cost; `rewrite` makes 7, `replace` 8, `suspects` 9; `retry` undoes edits
that lead nowhere. `check_gradients` runs; `npbert/learn/judge.py` changes code, rewrites lines, adds code, rewrites
several lines, retries and replaces.

An edit is told only if it was applied, and the outputs it names were right with it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType

from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, finding_at, finding_of
from npbert.gradcheck.explain.lines import line_edits, suspects, whole_edit
from npbert.gradcheck.explain.places import places_in
from npbert.gradcheck.explain.search import Search
from npbert.gradcheck.explain.trace import Trace, watched
from npbert.gradcheck.explain.trial import (
    RAISES,
    Outlook,
    Sample,
    Trial,
    has_failed,
    mended_by,
    moved_by,
    wrong_in,
)

_NOTHING = Trace([])


class Mending:
    """A code under repair. function: the one that runs in the samples. forward: its source, for missing parts.
    right: a right code."""

    def __init__(
        self,
        code: Code,
        function: FunctionType,
        samples: Sequence[Sample],
        *,
        forward: str = "",
        right: Code | None = None,
    ) -> None:
        self.trial = trial = Trial(function, samples)
        runs = functools.cache(lambda *k: Trace(watched(trial, right, places_in(right), *k) if right else []))
        self._steps: list[tuple[Finding, set[str]]] = []  # each with the outputs that it changes, and that stay wrong
        self._search = self._original = Search(trial, forward, runs, code).begun()

    @property
    def findings(self) -> list[Finding]:
        """The edits so far of what is right with them, in order; none if they only make the code run. A last edit that
        changes as many outputs that stay wrong may be right by chance; others may need an earlier one."""
        steps = [] if has_failed(self._original.now) and self.left else self._steps
        told = [(found, moved) for found, moved in steps if self.left.isdisjoint(found.names)]
        while told and len(told[-1][1] & self.left) >= len(told[-1][0].names):
            told.pop()
        return [found for found, _ in told]

    @property
    def left(self) -> set[str]:
        """The outputs that are wrong after the edits."""
        return wrong_in(self._search.now)

    def is_to_blame(self, tries: int) -> bool:
        """True if a place in the code moves wrong outputs and no right one, as far as that is known after so many
        runs."""
        self.trial.left = tries
        return bool(self._search.reach and self._search.alone)

    def run(self, tries: int, most: float = math.inf) -> Mending:
        """Search for edits up to the cost `most`, with at most `tries` runs. Another call continues the search."""
        return self._taken(tries, lambda search: search.best(most))

    def rewrite(self, tries: int, *, lines: Sequence[int]) -> Mending:
        """Continue by lines, as in 7: at most so many together, in this order, with at most `tries` runs."""

        def chain(search: Search) -> Sequence[Search]:
            chains = (self._chain(search, count) for count in lines)
            return next(filter(None, chains), ())

        return self._taken(tries, chain)

    def retry(self) -> Mending:
        """Undo all edits if none is told, as one by chance stands in the way of others; the first search then goes on
        where it stopped."""
        if not self.findings:
            self._steps, self._search = [], self._original
        return self

    def replace(self, tries: int) -> Mending:
        """Continue with whole expressions of the right code, as in 8, with at most `tries` runs."""
        return self._taken(tries, whole_edit)

    def _taken(self, tries: int, found: Callable[[Search], Sequence[Search]]) -> Mending:
        """Take edits as long as some are found. found: the searches after edits, each in turn"""
        self.trial.left = tries
        while self.left and (chain := found(self._search)):
            before, self._search = self._search.now, chain[-1]
            subject, moved = _subject(before, self._search.now), moved_by(before, self._search.now)
            edits = [part for made in chain for part in made.edit.parts()]
            self._steps += [(finding_of(edit, subject), moved) for edit in edits]
            if self.left:
                self._search.begun()
        return self

    def _chain(self, search: Search, count: int, before: tuple[Search, ...] = ()) -> tuple[Search, ...]:
        """Return at most so many edits of different lines, which each make one known, and only together make an output
        right; () without any. before: the edits so far"""
        for made in line_edits(search, alone=count == 1):
            if any(made.edit.line == earlier.edit.line for earlier in before):
                continue
            chain = (*before, made)
            if not mended_by(self._search.now, made.now):
                chain = self._chain(made.begun(), count - 1, chain)
            if chain:
                return chain
        return ()

    def suspects(self, known: Trace = _NOTHING) -> Iterator[Finding]:
        """Yield the places to look at for what is left, the best first. known: right numbers, without a right code"""
        if self.left and not has_failed(self._original.now):
            for place, cause in suspects(self._search, known):
                yield finding_at(place, self._search.code, ", ".join(sorted(self.left)), cause)


def _subject(before: list[Outlook], after: list[Outlook]) -> str:
    """Return the outputs that an edit makes right, without those that were only not reached before; or RAISES."""
    mended = mended_by(before, after) - {RAISES}
    was, now = ({name for each in outlooks for name in each.right} for outlooks in (before, after))
    reached = now - was if was else ()
    return ", ".join(sorted(mended or reached) or [RAISES])
