"""A gradient whose rows are sums of rows of another array, as of a table that is read by numbers: but of other rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import ACCURACY, Case, Finding

_MOST_ROWS = 8
_MOST_NUMBERS = 1000
_MOST_TIMES = 3


def sums_of_rows(case: Case) -> Iterator[Finding]:
    """Which rows are in which, where each row of the right gradient is a sum of rows of a known array, and so is each
    of the wrong one."""
    if case.right.ndim != 2 or case.right.shape[1] < 2 or case.right.size > _MOST_NUMBERS:
        return
    for name, array in case.known.items():
        if array.ndim != 2 or array.shape[1] != case.right.shape[1] or not 1 < len(array) <= _MOST_ROWS:
            continue
        exact = ACCURACY * 1e-3 * float(np.abs(case.right).max(initial=0))
        wanted = _times(case.right, array, exact, 1)
        for sign, also in ((1, ""), (-1, ", and all with the wrong sign")):
            given = _times(sign * case.wrong, array, case.allowed, _MOST_TIMES) if wanted is not None else None
            if wanted is not None and given is not None and (given != wanted).any():
                yield Finding("rows", case.name, _told(case, name, wanted, given) + also)
                return


def _told(case: Case, name: str, wanted: Array, given: Array) -> str:
    is_moved = (given.sum(axis=0) == 1).all() and (wanted.sum(axis=0) == 1).all()
    if is_moved:
        rows, right = given.argmax(axis=0), wanted.argmax(axis=0)
        count = int((rows != right).sum())
        row = int(np.argmax(rows != right))
        where = f"{name}[{row}] is in row {rows[row]} of {case.d}, and belongs in row {right[row]}"
        also = f" ({count} of the {len(rows)} rows of {name} are in a wrong one)" if count > 1 else ""
        return f"{where}{also}"
    row = int(np.argmax((given != wanted).any(axis=1)))
    count = int((given != wanted).any(axis=1).sum())
    also = f" ({count} of its {len(wanted)} rows are wrong)" if count > 1 else ""
    return f"row {row} of {case.d} is {_sum(name, given[row])}, and should be {_sum(name, wanted[row])}{also}"


def _sum(name: str, times: Array) -> str:
    """dy[0] + 2 · dy[3]"""
    texts = [f"{f'{count} · ' if count > 1 else ''}{name}[{row}]" for row, count in enumerate(times) if count]
    return " + ".join(texts) or "0"


def _times(of: Array, rows: Array, allowed: float, most: int) -> Array | None:
    """How often each of `rows` is in each row of `of`, up to `most` times, as few as possible; None where that does not
    explain every row. Where one is there more than once, at most two others are."""
    few = list(itertools.product((0, 1), repeat=len(rows)))
    if most > 1:
        for chosen in itertools.chain.from_iterable(
            itertools.combinations(range(len(rows)), count) for count in (1, 2, 3)
        ):
            for counts in itertools.product(range(1, most + 1), repeat=len(chosen)):
                times = np.zeros(len(rows), int)
                times[list(chosen)] = counts
                few.append(tuple(map(int, times)))
    tried = np.array(sorted(set(few), key=lambda times: (sum(times), times)))
    distances = np.abs(of[:, None] - (tried @ rows)[None]).max(axis=-1)
    found = (distances <= allowed).argmax(axis=1)
    return tried[found] if (distances[np.arange(len(of)), found] <= allowed).all() else None
