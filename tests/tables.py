"""Long tables of cases: a fixed part of each is tried always, the rest with `pytest --thorough`."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest


def one_of_each(kind: Callable[[Any], Hashable], cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters, of which the first of each kind is tried always."""
    known: set[Hashable] = set()
    parameters = []
    for case in cases:
        marks = [pytest.mark.thorough] if kind(case) in known else []
        known.add(kind(case))
        parameters.append(pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=marks))
    return parameters


def one_in(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters, of which the first of every `count` is tried always."""
    places = {}
    for place, case in enumerate(cases):
        places[case] = place // count
    return one_of_each(places.__getitem__, places)
