"""The ledger: how often each road that leads back is in the wrong gradient. In the right one, each is there once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.factors import cause_among, cause_of, factors_of
from npbert.gradcheck.diagnosis.finding import ACCURACY, Case, Finding, d, number

_IS_WHOLE = 1e-6
_MOST_ADDED = 5  # roads that are told as a sum


def ledger(case: Case) -> Iterator[Finding]:
    """The wrong gradient as a sum of the roads, each some times, or with a known factor on one of them."""
    cuts = _cuts(case)
    counted = _counted(case, cuts)
    if counted:
        roads, counts = min(counted, key=lambda of: sum(count not in (0, 1, -1) for count in of[1]))
        yield Finding("ledger", case.name, _told(case, roads, dict(zip(roads, counts, strict=True))))
        return
    for roads in cuts:
        found = list(_another_on_a_road(case, roads)) or list(_factor_on_a_road(case, roads))
        if found:
            yield from found
            return


def is_plain_sum(case: Case) -> bool:
    """Whether each road is there once, not at all, or with the wrong sign: nothing says more than the ledger then."""
    return any(all(count in (0, 1, -1) for count in counts) for _, counts in _counted(case, _cuts(case)))


def _cuts(case: Case) -> list[dict[str, Array]]:
    """The ways to cut the right gradient into roads that add up to it."""
    cuts = [{name: road for name, road in cut.items() if np.any(road)} for cut in (case.roads, *case.cuts)]
    return [cut for cut in cuts if len(cut) > 1 and _is_right(case, list(cut.values()))]


def _counted(case: Case, cuts: list[dict[str, Array]]) -> list[tuple[dict[str, Array], list[float]]]:
    """Those of the ways in which the wrong gradient is a sum of the roads, with how often each is there."""
    told = ((cut, _counts(case, list(cut.values()))) for cut in cuts)
    return [(cut, counts) for cut, counts in told if counts is not None]


def _told(case: Case, roads: dict[str, Array], counts: dict[str, float]) -> str:
    """dx = 1 · directly + 0 · through μ: "through μ" is missing"""
    if not any(counts.values()):
        return f"{case.d} is 0 everywhere, but for rounding: what is in it cancels out"
    alike: dict[float, list[str]] = {}
    for name, count in counts.items():
        if count != 1:
            alike.setdefault(round(count, 9), []).append(f'"{name}"')
    of_all = all(_is_in_every_row(road, case.right) and not name.startswith("past ") for name, road in roads.items())
    if list(counts.values()) == list(range(len(counts), 0, -1)) and len(counts) > _MOST_ADDED:
        first, *_, last = counts
        each = f"{first} is there {len(counts)} times, and each of the others once less than the one before it"
        loop = "as if what was summed up so far was added in each step of a loop, and not once, after it"
        return f"in {case.d}, {each}, down to {last}, which is there once: {loop}"
    of_all = of_all and len(alike) == 1
    if len(alike) > _MOST_ADDED:
        each = ", ".join(_count(count) for count in [*counts.values()][:_MOST_ADDED])
        return f"in {case.d}, each of {next(iter(counts))} … {[*counts][-1]} has a factor of its own: {each}, …"
    about = "; ".join(_about(case, names, count, of_all=of_all) for count, names in alike.items())
    if len(counts) > _MOST_ADDED:
        return f"in {case.d}, {about}; the rest is right"
    sum_of_roads = " + ".join(f"{_count(count)} · {name}" for name, count in counts.items())
    return f"{case.d} = {sum_of_roads.replace('+ −', '− ')}: {about}"


def _is_right(case: Case, roads: list[Array]) -> bool:
    """Roads are tried, not believed: all together they must be the right gradient."""
    left_over = np.abs(sum(roads) - case.right).max(initial=0)
    return bool(left_over <= max(case.allowed, ACCURACY * 1e-3 * np.abs(case.right).max(initial=0)))


def _counts(case: Case, roads: list[Array]) -> list[float] | None:
    """How often each road is there, if that explains the wrong gradient, and in one way only."""
    matrix = np.stack([road.ravel() for road in roads], axis=1)
    counts, _, rank, _ = np.linalg.lstsq(matrix, case.wrong.ravel(), rcond=None)
    is_one_way = rank == len(roads) and np.linalg.cond(matrix) < 1e8
    if not is_one_way or not case.explains((matrix @ counts).reshape(case.right.shape), fitted=len(roads)):
        return None
    return [float(round(count)) if abs(count - round(count)) < _IS_WHOLE else float(count) for count in counts]


def _count(count: float) -> str:
    return f"{count:.0f}".replace("-", "−") if count == round(count) else number(count)


def _is_in_every_row(road: Array, right: Array) -> bool:
    """Else a factor on it is one on some rows, and no size of the layer's explains that; nor one on what goes past."""
    return right.ndim < 2 or bool((road.any(axis=-1) | ~right.any(axis=-1)).all())


def _about(case: Case, names: list[str], count: float, *, of_all: bool) -> str:
    *most, last = names
    name = f"{', '.join(most)} and {last}" if most else last
    is_, has = ("are", "have") if most else ("is", "has")
    if count == 0:
        return f"{name} {is_} missing"
    if count == -1:
        return f"{name} {has} the wrong sign"
    cause = cause_of(count, case.sizes, case.numbers) if of_all else cause_among(count, case.numbers)
    return f"{name} {is_} there {_count(count)} times" + (f" ({cause})" if cause else "")


def _another_on_a_road(case: Case, roads: dict[str, Array]) -> Iterator[Finding]:
    """All roads right but for one, in whose place there is another gradient that is known."""
    for (name, road), (other, array) in itertools.product(roads.items(), case.others.items()):
        if array.shape == road.shape and case.explains(case.right - road + array, fitted=1):
            right = case.name_of(road)
            said = (
                f'"{name}" is {d(other)}, and should be {right}'
                if right
                else f'in place of "{name}" there is {d(other)}'
            )
            yield Finding("ledger", case.name, f"in {case.d}, {said}")
            return


def _factor_on_a_road(case: Case, roads: dict[str, Array]) -> Iterator[Finding]:
    """All roads right, or missing, but for one that is multiplied with something known."""
    for name, road in roads.items():
        others = [other for other in roads if other != name]
        for count in range(len(others), -1, -1):
            for there in itertools.combinations(others, count):
                rest = sum((roads[other] for other in there), np.zeros_like(road))
                for text in factors_of(case, road, rest):
                    missing = [f'"{other}" is missing' for other in others if other not in there]
                    right = ["the rest is right"] if not missing else []
                    said = "; ".join([f'"{name}" is wrong by a factor, as if {text}', *missing, *right])
                    yield Finding("road factor", case.name, f"in {case.d}, {said}")
                    return
