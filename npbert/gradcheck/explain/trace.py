"""Trace: the last of the author's numbers that agree with a right run, and the first that differ.

A value is recognised in any order of axes, any sign, and before broadcasting. So a statement may be known as right even
if it looks unlike the right code. An unknown value may still be right, as a sum where the right code takes a mean; the
message allows for it.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import HOOK, Change, Code, text_of
from npbert.gradcheck.explain.places import CodePlace
from npbert.gradcheck.explain.trial import Trial

_MOST_EVENTS = 20_000  # so that a loop over numbers fits into memory

Event = tuple[CodePlace, Any, int]
"""A place, a value of it, and the number of the call."""


def watched(trial: Trial, code: Code, places: list[CodePlace], k: int) -> list[Event]:
    """Run the code on sample k; return the values at its places, in the order of the run."""
    events: list[Event] = []
    words = re.findall(r"[^\W\d]\w*", code.text.decode())

    def see(number: int, value: Any, env: Mapping[str, Any]) -> Any:
        place = places[number]
        if not place.seen:
            place.seen, place.value = True, copied(value)
            place.env = _in_reach(env, words)
        if len(events) < _MOST_EVENTS:
            events.append((place, copied(value), trial.calls))
        return value

    starts: list[Change] = []
    ends: list[Change] = []
    for number, place in enumerate(places):
        start, end = code.span(place.statement if place.is_target else place.expr)
        if place.is_target:
            ends.append((end, end, f"; {HOOK}({number}, ({text_of(place.expr)}), locals())"))
        else:
            starts.insert(0, (start, start, f"{HOOK}({number}, ("))
            ends.append((end, end, "), locals())"))
    trial.look(trial.compiled(code.edited([*starts, *ends]), see), k)
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
    """The numbers of a run of a right code, for comparison."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self._named = {(place.name, _mark(array)) for place, value, _ in events for array in telling(value)}
        self._names = {name for name, _ in self._named} - {""}
        self._marks = {mark for _, mark in self._named}
        given = ((place, value) for place, value, _ in events if isinstance(place.statement, ast.Return | ast.Expr))
        self._given = {_mark(array) for place, value in given if place.is_whole for array in telling(value)}
        self._exact = {_ordered(array) for _, value, _ in events for array in telling(value)}
        self._signed = {_signed(array) for _, value, _ in events for array in telling(value)}

    def has(self, array: Array) -> bool:
        """True if the array occurred, in any shape, order of axes and sign."""
        return _mark(array) in self._marks

    def has_exactly(self, array: Array) -> bool:
        """True if the array occurred, with its shape, order and signs."""
        return _ordered(array) in self._exact

    def lacks(self, place: CodePlace, array: Array) -> bool:
        """True if the array never occurred, if its name in this place has other values, or if this place gives away
        what the right code does not."""
        is_other = place.name in self._names and (place.name, _mark(array)) not in self._named
        is_given = isinstance(place.statement, ast.Return | ast.Expr) and not place.is_target
        return is_other or _mark(array) not in (self._given if is_given else self._marks)

    def verdicts(self, events: list[Event]) -> tuple[set[ast.stmt], list[CodePlace]]:
        """Return of another run the statements whose numbers all occurred in this one, with their signs, and under the
        same names if there are several; and in order the places whose numbers did not, or under another name, one per
        statement. The last value at each place counts, in each call."""
        fine, unknown = set[ast.stmt](), list[CodePlace]()
        results = {(place, call): value for place, value, call in events if place.is_result}
        for statement in dict.fromkeys(place.statement for place, _ in results):
            here = [(place, value) for (place, _), value in results.items() if place.statement is statement]
            arrays = [(place, array) for place, value in here for array in telling(value)]
            lacking = [place for place, array in arrays if self.lacks(place, array)]
            unknown += lacking[:1]
            is_named = len({place for place, _ in here}) == 1 or all(place.name in self._names for place, _ in arrays)
            if arrays and is_named and not lacking and all(_signed(array) in self._signed for _, array in arrays):
                fine.add(statement)
        return fine, unknown


def telling(value: Any) -> Iterator[Array]:
    """Return the arrays and numbers of a value that hardly occur by chance: no whole numbers, no constant arrays."""
    if isinstance(value, tuple | list):
        for each in value:
            yield from telling(each)
    elif isinstance(value, float | complex | np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind in "fc" and array.size and np.isfinite(array).all():
            first = array.flat[0]
            if (array != first).any() or (array.size == 1 and complex(first).real % 0.5 != 0):
                yield array


def _mark(array: Array) -> str:
    """Return a mean, which ignores shape, order, sign and repetition."""
    return f"{float(np.mean(np.abs(array) ** 1.5)):.8e}"


def _signed(array: Array) -> str:
    """Return a mean like `_mark`, with the sign."""
    return f"{float(np.mean(np.real(array) * np.abs(array) ** 0.5)):.8e}"


def _ordered(array: Array) -> str:
    """Return the shape, and a mean that depends on the place and the sign of each number."""
    weighted = array * np.cos(np.arange(array.size)).reshape(array.shape)
    return f"{array.shape} {float(np.abs(weighted.mean() / np.abs(array).mean())):.6f} {_signed(array)}"
