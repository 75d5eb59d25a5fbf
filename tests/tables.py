"""Long tables of cases: a fixed part of each is tried always, the rest with `pytest --thorough`."""

import pytest


def one_of_each(kind, cases):
    """The cases as parameters, of which the first of each kind is tried always."""
    known = set()
    parameters = []
    for case in cases:
        parameters.append(_parameter(case, is_tried=kind(case) not in known))
        known.add(kind(case))
    return parameters


def one_in(count, cases):
    """The cases as parameters, of which the first of every `count` is tried always."""
    return [_parameter(case, is_tried=place % count == 0) for place, case in enumerate(cases)]


def _parameter(case, is_tried):
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=[] if is_tried else [pytest.mark.thorough])
