"""Long tables of cases: a fixed part of each is tried always, the rest with `pytest --thorough`."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest


def one_of_each(kind: Callable[[Any], Hashable], cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters, of which the first of each kind is tried always."""
    known: set[Hashable] = set()
    parameters = []
    for case in cases:
        parameters.append(_parameter(case, is_tried=kind(case) not in known))
        known.add(kind(case))
    return parameters


def one_in(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters, of which the first of every `count` is tried always."""
    return [_parameter(case, is_tried=place % count == 0) for place, case in enumerate(cases)]


def _parameter(case: Any, is_tried: bool) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=[] if is_tried else [pytest.mark.thorough])
