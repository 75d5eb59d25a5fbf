"""A gradient whose rows are rows of another array, as they are: but other ones than they should be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import ACCURACY, Case, Finding


def rows_of_another(case: Case) -> Iterator[Finding]:
    """Each row of the right gradient is a row of a known array, or 0, and so is each of the wrong one."""
    if case.right.ndim != 2 or len(case.right) < 2:
        return
    for name, array in case.known.items():
        if array.ndim < 2 or array.shape[-1] != case.right.shape[1]:
            continue
        rows = array.reshape(-1, array.shape[-1])
        exact = ACCURACY * 1e-3 * float(np.abs(case.right).max(initial=0))
        wanted, given = _places(case.right, rows, exact), _places(case.wrong, rows, case.allowed)
        if wanted is None or given is None or not (wanted >= 0).any() or (given == wanted).all():
            continue
        first = int(np.argmax(given != wanted))
        said = [_row(name, int(place), array) for place in (given[first], wanted[first])]
        text = f"the rows of {case.d} are rows of {name}, but not the right ones: row {first} is {said[0]}"
        yield Finding("rows", case.name, f"{text}, where {said[1]} is right")
        return


def rows_moved(case: Case) -> Iterator[Finding]:
    """Each row of the wrong gradient is a row of the right one, or 0, but of another place."""
    if case.right.ndim != 2 or len(case.right) < 2:
        return
    places = _places(case.wrong, case.right, case.allowed)
    if places is None:
        return
    is_wrong: Array = np.any(case.is_wrong, axis=1)
    row = int(np.argmax(is_wrong & (places >= 0)))
    if not is_wrong[row] or places[row] < 0:
        return
    lost = np.flatnonzero(is_wrong & case.right.any(axis=1) & ~np.isin(np.arange(len(places)), places))
    also = f", and what belongs in row {lost[0]} is nowhere" if len(lost) else ""
    text = f"{case.d} has the right rows, but not all where they belong: row {row} has that of row {places[row]}{also}"
    yield Finding("rows", case.name, text)


def _places(of: Array, rows: Array, allowed: float) -> Array | None:
    """Of each row, which of the others it is, and −1 where it is 0; None if one is none of them."""
    distances = np.abs(of[:, None] - rows[None]).max(axis=-1)
    places = np.where(np.abs(of).max(axis=-1) <= allowed, -1, distances.argmin(axis=-1))
    is_none = (places >= 0) & (distances.min(axis=-1) > allowed)
    return None if is_none.any() else places


def _row(name: str, place: int, array: Array) -> str:
    if place < 0:
        return "0"
    return f"{name}[{', '.join(map(str, np.unravel_index(place, array.shape[:-1])))}]"
