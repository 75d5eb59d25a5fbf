"""The bridge: tests that the user's floats compute the proved formula.

`ExactRun.parting` compares values. Two formulas may agree at one point, such as z² and 2z at 2. So here the slope of
forward on floats is compared with the gradients, and a second backward with the first.
"""

from collections.abc import Callable, Mapping

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.case import Case, Floats
from npbert.gradcheck.exact.field import Field
from npbert.gradcheck.exact.run import ExactRun, run_on_numbers

_STEP, _STEPS = 1e-4, 10.0 ** -np.arange(2, 14)
_SLOPE = 1e-5  # the relative error of a finite difference, besides rounding
_TIMES = -(2.0**13)
_ASIDE, _NEAR = 1e-5, 1e-3  # the step away from a tie, and the allowed change of gradients, relative to the largest


def moved_by(step: float, seed: int) -> Callable[[Array], Array]:
    """Return a function that moves arrays at random, by the step relative to their spread."""
    drawn = np.random.default_rng([seed, 3])

    def moved(array: Array) -> Array:
        return np.asarray(array + step * spread(array) * drawn.standard_normal(array.shape), array.dtype)

    return moved


def spread(array: Array) -> float:
    """Return the spread of an array's numbers, or their size if all are equal."""
    return float(np.ptp(array) or np.abs(array).max() or 1.0) if array.size else 1.0


def slope_parting(part: Case, floats: Floats, run: ExactRun, right: Mapping[str, Array], seed: int) -> str:
    """Return a sentence if y changes differently on floats and on exact numbers, in a random direction; or "".

    right: the gradients of exact numbers, for the dy of floats. One step is enough if they agree. Near a kink, or with
    large rounding, the step with the steadiest slope decides.
    """
    here = part.variables
    with part.made(moved_by(1.0, seed)) as (_, ahead):
        terms = [gradient * (ahead[name] - here[name]) for name, gradient in right.items()]
    expected = sum(float(term.sum()) for term in terms)
    scale = max(abs(expected), *(float(np.abs(term).max(initial=0)) for term in terms))
    room = sum((np.abs(dy) * seen.room(floats)).sum() for dy, seen in zip(floats.dy, run.seen_y.values(), strict=True))
    room += floats.epsilon * sum(np.abs(gradient * here[name]).sum() for name, gradient in right.items())  # of x

    def slope(step: float) -> float:
        sides = [_outputs(part, moved_by(sign * step, seed)) for sign in (1, -1)]
        changes = (dy * (up - down) for dy, up, down in zip(floats.dy, *sides, strict=True))
        return float(sum(change.sum() for change in changes)) / (2 * step)

    if abs(slope(_STEP) - expected) <= _SLOPE * scale + room / _STEP:
        return ""
    found, doubt, _ = steadiest(np.array([slope(step) for step in _STEPS]), room / _STEPS)
    if abs(found - expected) <= _SLOPE * scale + doubt:
        return ""
    return f"y moves by {found:.6g} on your floats, and by {expected:.6g} on exact numbers"


def steadiest(slopes: Array, rounding: Array) -> tuple[float, float, int]:
    """Return the steadiest of slopes by decreasing steps, its error bound, and its index.

    The bound is its change to the next slope, or the largest contradiction of a later one. rounding: of each slope.
    """
    apart = np.abs(slopes[:, None] - slopes)
    doubts = np.triu(apart - rounding).max(axis=1, initial=0)[:-1] + apart.diagonal(1) + rounding[1:]
    best = int(np.argmin(doubts))
    return float(slopes[best]), float(doubts[best]), best


def _outputs(part: Case, make: Callable[[Array], Array]) -> tuple[Array, ...]:
    with part.moved(make) as there:
        return there.outputs()


def another_backward(part: Case, floats: Floats, run: ExactRun) -> str:
    """Return a sentence if a second backward, with a multiple of dy, returns other gradients; or ""."""
    again = part.run_on_floats(tuple(_TIMES * each for each in floats.dy))
    for name, gradient in floats.gradients.items():
        difference = np.abs(again.gradients[name] / _TIMES - gradient)
        if not (difference <= run.seen[name].room(floats) / abs(floats.factor) + np.finfo(gradient.dtype).tiny).all():
            return f"for {_TIMES:g} dy, the gradient of {name} is not {_TIMES:g} times as large"
    return ""


def run_in_field(part: Case, floats: Floats, seed: int) -> tuple[ExactRun, bool, bool]:
    """Return the run in GF(p); whether ⟨dy, ẏ⟩ = ⟨dx, ẋ⟩ + Σ ⟨dW, Ẇ⟩ holds at a random point, in a random direction;
    and whether it took roots, which another point may have in the field."""
    field = Field(np.random.default_rng(seed))
    run = run_on_numbers(field, part, floats.dy_of_numbers)
    return run, run.difference % Field.modulus == 0, field.has_random_roots


def is_right_on_both_sides(part: Case, floats: Floats, seed: int) -> bool:
    """True if backward is proved on both sides of a tie, and the gradients at the tie lie between those of the
    sides."""
    drawn = np.random.default_rng([seed, 4])  # all of one size, to compare gradients with
    tie = part.run_on_floats(tuple(drawn.standard_normal(np.shape(y)).astype(y.dtype)[()] for y in floats.y))
    sides = []
    for step in (_ASIDE, -_ASIDE):
        with part.moved(moved_by(step, seed)) as side:
            there = side.run_on_floats(tie.dy)
            run, holds, _ = run_in_field(side, there, seed)
            parting = run.parting(there) or run.backward_parting(there)
            if not holds or run.ties or parting or slope_parting(side, there, run, there.gradients, seed):
                return False
            sides.append(there.gradients)
    return all(_is_between(at, sides[0][name], sides[1][name]) for name, at in tie.gradients.items())


def _is_between(at: Array, one: Array, other: Array) -> bool:
    low, high = np.minimum(one, other), np.maximum(one, other)
    room = _NEAR * max(np.abs(low).max(initial=0), np.abs(high).max(initial=0))
    return bool(((low - room <= at) & (at <= high + room)).all())
