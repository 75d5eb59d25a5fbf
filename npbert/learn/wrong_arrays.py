"""How wrong arrays are told of: which they are, by how much, and what they should be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npbert.compute import Array
from npbert.learn.attempt import sentence

MOST_NAMES = 5


def described(name: str, one: Array, right: Array) -> str:
    """How an array differs from the right one: by a factor, or in which number first."""
    one, right = np.asarray(one), np.asarray(right)
    factor = np.vdot(right, one) / np.vdot(right, right) if np.any(right) else 0
    if factor and one.size > 1 and np.allclose(one, factor * right, rtol=1e-9, atol=0):
        return sentence(f"{name} is {factor:.6g} times what it should be, everywhere")
    wrong = ~np.isclose(one, right, rtol=1e-6, atol=1e-6 * np.abs(right).max(initial=0))
    if not wrong.any():
        return sentence(f"{name} is nearly right, but only in about 6 digits")
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f" at {list(place)}" if place else ""
    count = f" {int(wrong.sum())} of its {wrong.size} numbers are wrong." if wrong.size > 1 else ""
    return sentence(f"{name} is {one[place]:.6g}{where}, wanted {right[place]:.6g}") + count


def same_each_time(text: str, other: str) -> str:
    """What is true of a wrong array, and of it at another point: a factor that differs is no number in the formula."""
    if text == other or ": " in text:
        return text
    return f"{text}; but with other numbers, {other}: so look for what changes from call to call"


def what_is_right(wrong: Sequence[str], all_wrong: Sequence[str], names: Sequence[str]) -> str:
    """dx is not right; y is"""
    fine = without_echoes([name for name in names if name not in all_wrong])
    otherwise = [name for name in fine if any(other.startswith(f"{name} ") for other in wrong)]
    fine = [name for name in fine if name not in otherwise]
    fine = [name for name in fine if not any(name.startswith(f"{other} ") for other in wrong)]
    says = f"{_listed(wrong)} {'is' if len(wrong) == 1 else 'are'} not right"
    if set(wrong) != set(without_echoes(all_wrong)):
        says += ", either"
    if otherwise:
        says += f", though {_listed(otherwise)} {'is' if len(otherwise) == 1 else 'are'} otherwise"
    return f"{says}; {_listed(fine)} {'is' if len(fine) == 1 else 'are'}" if fine else says


def first_number(right: Array) -> str:
    """One number that is not 0, and its place."""
    place = tuple(map(int, np.argwhere(right)[0])) if np.any(right) else ()
    where = f" at {list(place)}" if place else ""
    return f"It should be {np.asarray(right)[place]:.6g}{where}, for example."


def without_echoes(names: Sequence[str]) -> list[str]:
    """The names, without `dx after …` where `dx` is among them."""
    return [name for name in names if not any(name.startswith(f"{other} ") for other in names)]


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
