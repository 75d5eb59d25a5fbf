"""Trace: the last of the author's numbers that agree with a right run, and the first that differ.

A value is recognised in any order of axes, any sign, and before broadcasting. So a statement may be known as right even
if it looks unlike the right code. An unknown value may still be right, as a sum where the right code takes a mean; the
message allows for it.
"""

import ast
import contextlib
import copy
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import HOOK, Change, Code, text_of
from npbert.gradcheck.explain.places import CodePlace, is_float
from npbert.gradcheck.explain.trial import Trial
from npbert.gradcheck.paths import listed

_MOST_EVENTS = 20_000  # so that a loop over numbers fits into memory
_MOST_CALLS = 20  # of which a place keeps the values of the last
_MOST_NUMBERS = 1000  # of an array that is compared

Event = tuple[CodePlace, Any, int]
"""A place, a value of it, and the number of the call."""


def watched(trial: Trial, code: Code, places: list[CodePlace], k: int, last: int = _MOST_CALLS) -> list[Event]:
    """Run the code on sample k; return the values at its places, in the order of the run. last: the number of the last
    call of which the places keep values"""
    events: list[Event] = []
    calls = {place: 0 for place in places if not place.seen}  # the call of the value so far
    words = re.findall(r"[^\W\d]\w*", code.text.decode())

    def see(number: int, value: Any, env: Mapping[str, Any]) -> Any:
        place = places[number]
        if place in calls and (not place.seen or calls[place] < trial.calls <= min(last, _MOST_CALLS)):
            calls[place], place.seen, place.value = trial.calls, True, copied(value)
            place.env = _in_reach(env, words)
        if len(events) < _MOST_EVENTS:
            events.append((place, copied(value), trial.calls))
        return value

    changes: list[Change] = []  # of two in one place, the second comes first in the text
    for number, place in enumerate(places):
        start, end = code.span(place.statement if place.is_target else place.expr)
        if place.is_target:
            changes.append((end, end, f"; {HOOK}({number}, ({text_of(place.expr)}), locals())"))
        else:
            changes.insert(0, (start, start, f"{HOOK}({number}, ("))
            changes.append((end, end, "), locals())"))
    trial.look(trial.compiled(code.edited(changes), see), k)
    return events


def _in_reach(env: Mapping[str, Any], words: list[str]) -> dict[str, Any]:
    """Return copies of the variables, in the order of the code, and of the attributes of self. (The order of locals()
    depends on the version of Python.)"""
    found = {name: env[name] for name in words if name in env and not name.startswith("__")}
    of_self = getattr(env.get("self"), "__dict__", {}).items()
    found |= {f"self.{name}": value for name, value in of_self if isinstance(value, np.ndarray | int | float)}
    if "self" in found:
        with contextlib.suppress(Exception):  # of the author's class
            found["self"] = copy.copy(found["self"])  # its numbers may change later
    return {name: copied(value) for name, value in found.items()}


def copied(value: Any) -> Any:
    """Return a copy of an array, or of arrays in a tuple or list, as NumPy arrays; any other value unchanged."""
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return np.array(value)
    return type(value)(map(copied, value)) if type(value) in (tuple, list) else value


class Trace:
    """The numbers of a run, for comparison; none, and false, of a right code if there is none."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self._names = defaultdict[tuple[int, frozenset[complex]], set[str]](set)  # by call, 0 for any, and numbers
        for place, value, call in events:
            for array, of in product(telling(value), (call, 0)):
                self._names[of, _numbers(array)].add(place.name)
        self._all_names = set().union(*self._names.values()) - {""}

    @cached_property
    def steps(self) -> list[tuple[str, CodePlace]]:
        """What the code assigns to names, and its results; each with its name, if assigned to one."""
        read = {place.expr: place for place, _, _ in self.events}
        steps = []
        for place in read.values():
            is_alone = place.name and getattr(place.statement, "targets", ()) == [place.expr]
            expr = getattr(place.statement, "value", None) if is_alone else place.expr
            if expr in read and (is_alone or place.is_result):
                steps.append((place.name, read[expr]))
        return steps

    def __len__(self) -> int:
        return len(self.events)

    def names_of(self, array: Array, *others: Array, call: int = 0) -> set[str]:
        """Return the names of arrays with the numbers of one of these, in any shape and order, "" without a name; none
        if there are none. call: only in this call"""
        return set().union(*(self._names.get((call, _numbers(each)), ()) for each in (array, *others)))

    def has(self, array: Array) -> bool:
        """True if the array occurred, or with all other signs."""
        return bool(self.names_of(array, -array))

    def lacks(self, place: CodePlace, array: Array, call: int) -> bool:
        """True if the array never occurred in this call, if its name in this place has other values, or if this place
        gives away what the right code does not."""
        found = self.names_of(array, -array, call=call)
        return not found or (place.name in self._all_names and place.name not in found)

    def verdicts(self, events: list[Event]) -> tuple[set[ast.stmt], dict[CodePlace, Array]]:
        """Return of another run the statements whose numbers all occurred in this one, with their signs; and in order
        the places with numbers that did not, or under another name, one per statement, with these numbers. The last
        value at each place counts, in each call. None if there is no such code."""
        fine, unknown = set[ast.stmt](), dict[CodePlace, Array]()
        results = {(place, call): value for place, value, call in events if place.is_result}
        by_statement: dict[ast.stmt, list[tuple[CodePlace, Array, int]]] = {}
        for (place, call), value in results.items():
            by_statement.setdefault(place.statement, []).extend((place, array, call) for array in telling(value))
        for statement, here in by_statement.items() if self else ():
            lacking = [(place, array) for place, array, call in here if self.lacks(place, array, call)]
            unknown.update(lacking[:1])
            if here and not lacking and all(self.names_of(array, call=call) for _, array, call in here):
                fine.add(statement)
        return fine, unknown


def telling(value: Any) -> Iterator[Array]:
    """Return the arrays and numbers of a value that hardly occur by chance."""
    for array in map(np.asarray, filter(is_float, listed(value, "").values())):
        if array.size <= _MOST_NUMBERS and np.isfinite(array).all() and _tells(array).any():
            yield array


def _numbers(array: Array) -> frozenset[complex]:
    """Return its numbers, except 1, ½ and the like, to 7 digits."""
    return frozenset(array[_tells(array) | (array == 0)].astype(np.complex64).tolist())


def _tells(array: Array) -> Any:
    """True for each number that is not 0, 1, ½ or the like."""
    return np.abs(array.real % 0.5 - 0.25) < 0.25 - 1e-9
