"""Exercise 13, part one: how much each piece counts in what was computed, and what such shares come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercises.accumulating import MEAN, WEIGHT, accumulated
from npbert.learn.exercises.accumulating_mistakes import counted_as

_TARGETS, _ROWS = np.array([6.0, 1.0, 2.0]), np.array([7.0, 3.0, 2.0])
_FIRST, _LAST = np.eye(3)[0], np.eye(3)[2]
_RIGHT = _TARGETS / 9
_CAUSES: dict[str, Array] = {
    "Each is divided by 12, the number of all rows, and not by 9, that of all targets": _TARGETS / 12,
    "Each is divided by the number of targets so far, 6, 7 and 9, and not by that of all": _TARGETS / [6, 7, 9],
    "Each is n divided by the rows of its own piece": _TARGETS / _ROWS,
    "Each is divided by N twice": _TARGETS / 81,
    "The division by N, which is 9, is missing": _TARGETS,
    "The division by N is missing, and the rows are counted, not the targets": _ROWS,
    "Each is divided by 3, the number of pieces, and not by the number of all targets": _TARGETS / 3,
    "Each is divided by 6, the largest number of targets, and not by that of all": _TARGETS / 6,
    "Each is divided by 3, the number of pieces, once more": _RIGHT / 3,
    "Each is the root of n/N": np.sqrt(_RIGHT),
    "They count the same, however few targets they have": np.full(3, 1 / 3),
    "Each counts as a whole batch does": np.ones(3),
    "Each is divided by its own number of targets once more: its loss is a mean already": 1 / _TARGETS,
    "Each is divided by the number of all targets, but n, that of its own, is missing": np.full(3, 1 / 9),
    "Each is n/N twice, multiplied with itself": _RIGHT**2,
    "Only the first piece counts: is there a `return` in the loop?": _RIGHT * _FIRST,
    "Only the first piece counts, and as a whole batch": _FIRST,
    "Only the last piece counts: is it set, and not added, or is what was there cleared?": _RIGHT * _LAST,
    "Only the last piece counts, and as a whole batch": _LAST,
    "All have the share of the last": np.full(3, _RIGHT[2]),
    "All have the share of the first": np.full(3, _RIGHT[0]),
    "They count by their rows, 7, 3 and 2 of 12, and should count by their targets": _ROWS / 12,
    "The rows are counted and divided by the targets": _ROWS / 9,
    "The ignored rows are counted, and not the targets": (_ROWS - _TARGETS) / 3,
    "They have each other's shares, the first that of the last": _RIGHT[::-1].copy(),
    "The shares are upside down, N/n": 1 / _RIGHT,
    "The sign is wrong": -_RIGHT,
    "Nothing of them is there": np.zeros(3),
}
"""What shares of three pieces come from, with 6, 1 and 2 targets in 7, 3 and 2 rows."""


def explain_shares(thing: Any) -> list[tuple[str, str]]:
    """How much each piece counts in the gradient, and in what is returned."""
    seeds = range(6)
    given = [attempt(lambda seed=seed: accumulated(thing, seed)) for seed in seeds]  # type: ignore[misc]
    if any(isinstance(each, Failure) or MEAN not in each for each in given):
        return []
    alone = [[accumulated(_only(number), seed) for number in range(3)] for seed in seeds]
    told = []
    in_gradient = _shares([given[0][WEIGHT].ravel()], [[each[WEIGHT].ravel() for each in alone[0]]])
    in_mean = _shares(
        [each[MEAN].ravel() for each in given], [[each[MEAN].ravel() for each in of_seed] for of_seed in alone]
    )
    for name, what, shares in ((WEIGHT, "In the gradient", in_gradient), (MEAN, "In the mean", in_mean)):
        if shares is not None and not np.allclose(shares, _RIGHT, atol=1e-6):
            says = f"{what}, the three pieces count {_three(shares)}; it should be {_three(_RIGHT)}."
            told.append((name, f"{says} {_cause(shares)}".strip()))
    why = "They have 6, 1 and 2 of 9 targets, and a piece with n of all N counts n / N."
    return [*told, ("", why)] if told else []


def _only(number: int) -> Callable[..., float]:
    """accumulate with the mean of one piece, which counts 1."""
    return counted_as(lambda n, _: float(n == number))


def _cause(shares: Array) -> str:
    found = next((text for text, of in _CAUSES.items() if np.allclose(shares, of, rtol=1e-6, atol=1e-9)), "")
    return f"{found}{'' if found.endswith('?') else '.'}" if found else ""


def _shares(given: list[Array], alone: list[list[Array]]) -> Array | None:
    """What the pieces have to be multiplied with to add up to what is given, if anything does."""
    matrix, whole = np.concatenate([np.stack(each, axis=1) for each in alone]), np.concatenate(given)
    shares = np.linalg.lstsq(matrix, whole, rcond=None)[0]
    return shares if np.allclose(matrix @ shares, whole, rtol=0, atol=1e-9 * max(1.0, np.abs(whole).max())) else None


def _three(shares: Array) -> str:
    first, second, third = (
        f"{float(share):.4g}".replace("-", "−") for share in np.where(abs(shares) < 1e-9, 0, shares)
    )
    return f"{first}, {second} and {third}"
