"""Search: one step of mending. Every edit of the grammar is tried, and then what may be missing."""

import ast
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import HOOK, Code, filled, replaced, text_of
from npbert.gradcheck.explain.edits import Edit, edits_of, statement_edits
from npbert.gradcheck.explain.places import WRITTEN, Place, fingerprint, places_in
from npbert.gradcheck.explain.reasons import CHEAP
from npbert.gradcheck.explain.trace import Run, Verdicts, telling, watched
from npbert.gradcheck.explain.trial import RAISES, VALUES, Outlook, Trial, has_failed, is_near, wrong_in
from npbert.gradcheck.explain.vocabulary import Vocabulary

_FAR = 3.0  # where only an edit of a higher cost is found, it is looked for elsewhere, too

Runs = Callable[[int], Run]
Made = tuple[Edit, Code, list[Outlook]]
"""An edit that was chosen, the code with it, and what is wrong then."""


class Search:
    """now: what is wrong with the code, by sample.   runs: of a right code, by sample, where there is one
    found: the edits that help, with what is wrong after each"""

    def __init__(self, code: Code, trial: Trial, forward: str, now: list[Outlook], runs: Runs | None) -> None:
        self.code, self.trial, self.now = code, trial, now
        self.first = next(k for k, outlook in enumerate(now) if outlook.wrong) % (len(now) - 1)
        self.right = runs(self.first) if runs else None
        self.vocabulary, self.everything = Vocabulary(code, forward), places_in(code)
        self.places = [place for place in self.everything if place.role != WRITTEN]
        self.found: list[tuple[Edit, list[Outlook]]] = []
        self._spoilt: dict[Place, float] = {}

    def best(self) -> Made | None:
        """The best edit, where there is one. Places on which right numbers hang, too, come later, and lines whose
        numbers are right come last."""
        fine, unknown = self._verdicts()
        self._tried(statement_edits(self.code))
        known = [place for place in self.places if id(place.statement) in fine]
        doubtful = [place for place in self.places if id(place.statement) not in fine and self._spoils(place) < np.inf]
        first = [place for place in doubtful if not self._spoils(place)]
        later = [place for place in doubtful if self._spoils(place)]
        self._changed(first)
        if later and not self.found:
            self._missing(first, unknown)
        for places in (later, known):
            if not self.found:
                self._changed(places)
        if not self.found:
            self._missing(later or first, unknown)
        return self._chosen()

    def _chosen(self) -> Made | None:
        """The one that helps most, and is the nearest to what stands there."""
        for found, _ in sorted(self.found, key=lambda each: (len(wrong_in(each[1])), *each[0].rank)):
            for edit in (*self._above(found), found):
                code = self.code.edited(copy.deepcopy(edit.changes))
                after = self.trial.looks(code)
                if self._is_progress(after):
                    return edit, code, after
        return None

    def _above(self, edit: Edit) -> Iterator[Edit]:
        """The same edit of what was assigned to the name, where another expression belongs in its place, or where the
        name is only handed on: the line that made it is the one to look at."""
        if not isinstance(edit.old, ast.Name) or not isinstance(edit.new, ast.expr):
            return
        nodes = list(ast.walk(self.code.entry))
        handed_on = [
            part for s in nodes if isinstance(s, ast.Return) for part in (s.value, *getattr(s.value, "elts", ()))
        ]
        if edit.kind == "expression" or edit.old in handed_on:
            for s in reversed(nodes):
                if isinstance(s, ast.Assign) and text_of(s.targets[0]) == edit.old.id:
                    uses = [n for n in ast.walk(edit.new) if isinstance(n, ast.Name) and n.id == edit.old.id]
                    new = replaced(edit.new, {id(node): s.value for node in uses})
                    yield Edit(edit.kind, s.lineno, {id(s.value): new}, s.value, new, edit.more)

    def suspect(self) -> Place | None:
        """The first place whose numbers are in no right run, where what is wrong comes from, and nothing right."""
        for place in self._verdicts()[1]:
            if self.right and all(map(self.right.has, telling(place.value))):
                continue  # it is in a right run by another name
            computed = [each for each in self.places if each.statement is place.statement and each.is_whole]
            here = computed[0] if place.role == WRITTEN and computed else place
            if here.seen and not here.hidden and self._spoils(here) < np.inf:
                return place
        return None

    def _verdicts(self) -> Verdicts:
        """Runs the code; what is to be said of the first sample beside a right code. Places that are not reached there
        are looked at in the others."""
        events = watched(self.trial, self.everything, self.first)
        for k in range(len(self.now) - 1):
            if not all(place.seen for place in self.places):
                watched(self.trial, self.everything, k)
        return self.right.verdicts(events) if self.right else (set(), [])

    def _spoils(self, place: Place) -> float:
        """How many right numbers, but for zeros, move with the place. ∞ where an edit of it cannot help: where nothing
        wrong moves, or an output that is right, or y."""
        if place not in self._spoilt:
            self._spoilt[place] = self._spoils_now(place)
        return self._spoilt[place]

    def _spoils_now(self, place: Place) -> float:
        now = self.now[self.first]
        if place.hidden or not place.seen:
            return 0 if place.hidden or has_failed(self.now) else np.inf
        if not place.is_float or RAISES in now.wrong:
            return 0
        rng = np.random.default_rng(0)
        shaken = self.code.edited({id(place.expr): filled(f"{HOOK}(e)", e=place.expr)})

        def moved(value: Any) -> Any:
            return value * (1 + 0.01 * rng.random(np.shape(value))) + 0.01

        then = self.trial.look(self.trial.compiled(shaken, moved), self.first)
        is_blamed = any(_has_moved(name, now, then) for name in now.wrong)
        if VALUES in then.wrong or not is_blamed or not (now.right <= then.right or RAISES in then.wrong):
            return np.inf
        both = [name for name in now.wrong if name in now.arrays and name in then.arrays]
        arrays = [(*now.arrays[name], then.arrays[name][0]) for name in both]
        return sum(int((is_near(g, right) & (g != 0) & ~is_near(g, moved)).sum()) for g, right, moved in arrays)

    def _changed(self, places: list[Place]) -> None:
        """The small edits of what stands in these places, where they may be wrong."""
        for place in places:
            if self._spoils(place) < np.inf:
                self._tried((edit for edit in edits_of(place, self.code.entry) if edit.cost < CHEAP), place)

    def _missing(self, places: list[Place], unknown: list[Place]) -> None:
        """Edits that write something new: a factor, a term, a step, another expression; first where the
        numbers begin to be nobody's."""
        values = [place for place in places if place.is_float and not (place.is_index or place.hidden)]
        for place in values:
            self._tried(self.vocabulary.unused_in(place), place)
        if self.found:
            return
        here = {id(place.statement) for place in values}
        first = next((id(place.statement) for place in unknown if id(place.statement) in here), 0)
        values.sort(key=lambda place: id(place.statement) != first)
        for _, group in itertools.groupby(values, lambda place: id(place.statement) == first):
            for place in group:
                self._tried(self.vocabulary.guesses(place), place)
            if any(edit.cost <= _FAR for edit, _ in self.found):
                return

    def _tried(self, edits: Iterable[Edit], place: Place | None = None) -> None:
        """Each edit, but for those that give a place a value which is known not to help. What helps is noted."""
        is_told = place and place.value is not None and not (place.hidden or place.looped)
        known = {fingerprint(place.value)} if place and is_told else set()
        for edit in itertools.takewhile(lambda _: not self.trial.is_over, edits):
            value = place.valued(edit.new) if place and known else None
            if value in known:
                continue
            function = self.trial.compiled(self.code.edited(edit.changes))
            now, then = self.now[self.first], self.trial.look(function, self.first)
            if RAISES not in then.wrong and (then.right if RAISES in now.wrong else then.wrong < now.wrong):
                after = [self.trial.look(function, k) for k in [*range(len(self.now) - 1), 0]]
                if self._is_progress(after):
                    self.found.append((edit, after))
            elif value is not None:
                known.add(value)

    def _is_progress(self, after: list[Outlook]) -> bool:
        """True if some output that was wrong is right at every sample now, and none is newly wrong."""
        if has_failed(after) or (not has_failed(self.now) and not wrong_in(after) < wrong_in(self.now)):
            return False
        pairs = zip(self.now, after, strict=True)
        return all(RAISES in now.wrong or then.wrong <= now.wrong for now, then in pairs)


def _has_moved(name: str, now: Outlook, then: Outlook) -> bool:
    """True if a wrong output is another one then, as far as that can be told."""
    is_known = name in now.arrays and name in then.arrays
    return not is_known or not np.array_equal(now.arrays[name][0], then.arrays[name][0])
