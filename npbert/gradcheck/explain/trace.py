"""Trace: the last of the author's numbers that agree with a right run, and the first that differ.

A value is recognised in any order of axes, any sign, as a row or column of a larger array, and before broadcasting. So
a statement may be known as right even if it looks unlike the right code. An unknown value may still be right, as a sum
where the right code takes a mean; the message allows for it.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import HOOK, filled
from npbert.gradcheck.explain.places import WRITTEN, CodePlace, copied
from npbert.gradcheck.explain.trial import Trial, is_equal

_MOST_EVENTS = 20_000

Event = tuple[CodePlace, Any]


def watched(trial: Trial, places: list[CodePlace], k: int, calls: float = math.inf) -> list[Event]:
    """Run the code on sample k; return the values at its places, in at most `calls` calls, in the order of the run."""
    events: list[Event] = []
    reached: set[int] = set()
    order = _order_of_names(places[0].code.entry)

    def see(number: int, value: Any, env: Mapping[str, Any]) -> Any:
        place = places[number]
        place.looped = place.looped or number in reached
        reached.add(number)
        if not place.seen:
            place.seen, place.value = True, copied(value)
            there = {name: copied(each) for name, each in _in_reach(env) if not name.startswith("__")}
            place.env = dict(sorted(there.items(), key=lambda item: order.get(item[0], len(order))))
        if len(events) < _MOST_EVENTS and trial.calls <= calls:
            events.append((place, copied(value)))
        return value

    changes: dict[int, Any] = {}
    for number, place in enumerate(places):
        seen = f"{HOOK}({number}, e, locals())"
        if place.role == WRITTEN:
            after = ast.Expr(filled(seen, e=place.expr))
            changes[id(place.statement)] = lambda statement, after=after: [statement, after]
        else:
            changes[id(place.expr)] = lambda e, seen=seen: filled(seen, e=e)
    trial.look(trial.compiled(places[0].code.edited(changes), see), k)
    return events


def _order_of_names(function: ast.FunctionDef) -> dict[str, int]:
    """Return the arguments, and then the assigned names, in the order of the code: the order of locals() depends on the
    version of Python."""
    names = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    stored = [n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    names += [n.id for n in stored]
    return {name: number for number, name in reversed(list(enumerate(names)))}


def _in_reach(env: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the variables, and the attributes of self."""
    yield from env.items()
    for name, value in getattr(env.get("self"), "__dict__", {}).items():
        if isinstance(value, np.ndarray | int | float):
            yield f"self.{name}", value


class Trace:
    """The numbers of a run of a right code, for comparison."""

    def __init__(self, events: Sequence[Event]) -> None:
        found = [(place, array) for place, value in events for array in telling(value)]
        self._marks = {mark for _, array in found for mark in _marks(array)}
        self._names = {_name_of(place) for place, _ in found} - {""}
        self._named = {(_name_of(place), _size(array)) for place, array in found}
        self._last = list(telling(events[-1][1])) if events else []

    def has(self, array: Array, *, exactly: bool = False) -> bool:
        """True if the array occurred: exactly, or in any shape, order of axes and sign."""
        exact, turned = itertools.islice(_marks(array), 2)
        return (exact if exactly else turned) in self._marks

    def lacks(self, place: CodePlace, array: Array) -> bool:
        """True if the array never occurred, or if its name in this place has other values."""
        name = _name_of(place)
        return not self.has(array) or (name in self._names and (name, _size(array)) not in self._named)

    def verdicts(self, events: list[Event]) -> tuple[set[ast.stmt], list[CodePlace]]:
        """Return of another run the statements whose numbers all occurred in this one, exactly; and in order the places
        whose numbers did not, or under another name, one per statement."""
        results: dict[ast.stmt, list[Event]] = {}
        for place, value in events:
            if is_result(place):  # an array that is written into changes: only its last value counts
                earlier = [] if place.role == WRITTEN else results.get(place.statement, [])
                results[place.statement] = [*earlier, (place, value)]
        fine, unknown = set[ast.stmt](), list[CodePlace]()
        for statement, found in results.items():
            arrays = [(place, array) for place, value in found for array in telling(value)]
            lacking = [place for place, array in arrays if self.lacks(place, array)]
            unknown += lacking[:1]
            if arrays and not lacking and all(self.has(array, exactly=True) for _, array in arrays):
                fine.add(statement)
        return fine, unknown

    def first_of(self, events: list[Event], broken: Trace, outputs: list[tuple[Array, Array]]) -> CodePlace:
        """Return the first place whose numbers only a broken run has, or only under that name. Otherwise the last place
        that passes on a wrong output, or has a right one that is not passed on, or the value that only the broken run
        returns; otherwise the last place of the code.

        outputs: the results of the code, and the right ones.
        """
        unfinished = {"", *(ast.unparse(place.expr) for place, _ in events if place.role == WRITTEN)}
        for place, value in events:
            for array in telling(value):
                named = _name_of(place), _size(array)
                is_broken = named[0] not in unfinished and named in broken._named and named not in self._named
                if is_broken or any(broken.has(array, exactly=e) > self.has(array, exactly=e) for e in (True, False)):
                    return place
        results = [event for event in events if is_result(event[0])]
        returned = [each for each in broken._last if not any(is_equal(each, right) for right in self._last)]
        for numbers in [*zip(*outputs, strict=True), returned]:
            for place, value in [*reversed(results), *reversed(events)]:
                if any(is_equal(array, each) for array in telling(value) for each in numbers):
                    return place
        return events[-1][0]


def _name_of(place: CodePlace) -> str:
    """Return the name that its value is assigned to, or ""."""
    target = place.statement.targets[0] if isinstance(place.statement, ast.Assign) and place.is_whole else None
    return target.id if isinstance(target, ast.Name) else ""


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


def _marks(array: Array) -> Iterator[Any]:
    """Return marks that equal arrays share: first exact; then for any shape, order and sign, and before broadcasting;
    then for their rows and columns."""
    length = np.linalg.norm(array)
    weights = np.random.default_rng(0).standard_normal(array.size)
    yield array.shape, f"{length:.8e}", round(float((weights @ array.ravel()).real / length), 8)
    yield _size(array)
    for axis in range(array.ndim if array.ndim > 1 else 0):
        yield from map(_size, np.moveaxis(array, axis, 0))


def _size(array: Array) -> str:
    """Return a mean, which ignores order and repetition."""
    return f"{float(np.mean(np.abs(array) ** 1.5)):.8e}"


def is_result(place: CodePlace) -> bool:
    """True if it is a result of a statement: the only one, one of several, an argument of a call without a result, or
    an array that is written into."""
    call = place.statement.value if isinstance(place.statement, ast.Expr) else None
    is_argument = isinstance(call, ast.Call) and place.holder is call
    is_whole = place.is_whole and place.role == "value" and not isinstance(place.expr, ast.Tuple)
    is_named = isinstance(place.expr, ast.Name | ast.Attribute | ast.Constant)
    return place.role == WRITTEN or ((is_whole or is_argument or place.is_one_of_several) and not is_named)
