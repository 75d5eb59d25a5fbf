"""Where the wrong entries are, when the others are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.factors import constant_factor
from npbert.gradcheck.diagnosis.finding import Case, Finding, listed, plural

_AFTER_THE_FIRST = "s after the first"


def wrong_places(case: Case) -> Iterator[Finding]:
    """The place with a name that all wrong entries are in and few others, or their rows or columns."""
    wrong = case.is_wrong
    if not wrong.any() or wrong.all():
        return
    fitting = [
        (np.count_nonzero(place), text)
        for text, place in [*_given(case), *_common(case)]
        if not (wrong & ~place).any() and not place.all() and _tells(case, place)
    ]
    if fitting:
        count, text = min(fitting, key=lambda of: of[0])
        if np.count_nonzero(wrong) * 2 > count:
            there, first = _there(case), text.removesuffix(_AFTER_THE_FIRST)
            is_only = first != text and not there
            where = text if first == text else f"the {plural(first)} after the first"
            said = (
                f"only the first {first} of {case.d} is right"
                if is_only
                else f"{case.d} is right but for {where}{there}"
            )
            yield Finding("place", case.name, said)
            return
    count, size = np.count_nonzero(wrong), case.right.size
    for array, says in ((case.wrong, "are 0, and should not be"), (case.right, "should be 0, and are not")):
        if case.is_zero(array[wrong]) and not case.is_zero(array):
            yield Finding("place", case.name, f"{case.d} is right but for {count} of its {size} numbers: they {says}")


def _tells(case: Case, place: Array) -> bool:
    """Whether some number outside is not 0, or the place should be 0: else all that could be wrong is wrong."""
    right = np.abs(case.right) > case.allowed
    return bool(right[~place].any() or not right[place].any())


def _given(case: Case) -> Iterator[tuple[str, Array]]:
    for text, place in case.places.items():
        try:
            yield text, np.broadcast_to(place, case.right.shape)
        except ValueError:
            continue


def _common(case: Case) -> Iterator[tuple[str, Array]]:
    """Places that any array has: first and last, the diagonal, a head, and at last some rows, some columns."""
    shape = case.right.shape
    index = np.indices(shape)
    names = [_item(axis, len(shape)) for axis in range(len(shape))]
    for axis, item in enumerate(names):
        yield f"the first {item}", index[axis] == 0
        yield f"the last {item}", index[axis] == shape[axis] - 1
        others = tuple(other for other in range(len(shape)) if other != axis)
        lines: Array = np.any(case.is_wrong, axis=others)
        if shape[axis] > 1 and lines[1:].all():
            yield f"{item}{_AFTER_THE_FIRST}", index[axis] > 0
    if len(shape) == 2:
        yield "the diagonal", index[0] == index[1]
        yield "what is above the diagonal", index[0] < index[1]
        yield "what is below the diagonal", index[0] > index[1]
        for head in range(case.heads if case.heads > 1 and shape[1] % case.heads == 0 else 0):
            width = shape[1] // case.heads
            yield f"head {head} (counted from 0)", index[1] // width == head
    for axis, item in enumerate(names):
        others = tuple(other for other in range(len(shape)) if other != axis)
        numbers = np.flatnonzero(case.is_wrong.any(axis=others))
        if len(numbers) * 2 <= shape[axis]:
            text = f"{item} {numbers[0]}" if len(numbers) == 1 else f"the {plural(item)} {listed(numbers.tolist(), 12)}"
            yield f"{text} (counted from 0)", np.isin(index[axis], numbers)


def _item(axis: int, ndim: int) -> str:
    if ndim == 2:
        return ("row", "column")[axis]
    return "entry" if ndim == 1 else f"slice of axis {axis}"


def _there(case: Case) -> str:
    """What is true of the wrong entries alone."""
    wrong, right = case.wrong[case.is_wrong], case.right[case.is_wrong]
    if case.is_zero(wrong):
        return ": it is 0 there, and should not be"
    if case.is_zero(right):
        return ": it should be 0 there, and is not"
    inside = replace(case, wrong=wrong, right=right)
    return next((": there it" + finding.text.removeprefix(case.d) for finding in constant_factor(inside)), "")
