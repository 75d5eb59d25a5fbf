"""The bridge: tests that the user's floats compute the proved formula.

`ExactRun.parting` compares values. Two formulas may agree at one point, such as z² and 2z at 2. So here the slope of
forward on floats is compared with the gradients, and a second backward with the first.
"""

from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.case import Case, Floats
from npbert.gradcheck.exact.field import Field
from npbert.gradcheck.exact.run import ExactRun, run_on_numbers
from npbert.gradcheck.exact.slope import difference, moved, random_step, slope
from npbert.gradcheck.report import Gradients

_STEP = 1e-4
_SLOPE = 1e-5  # the relative error of a finite difference, besides rounding
_CLEARLY = 1e3
_TIMES = -(2.0**13)
_ASIDE, _NEAR = 1e-5, 1e-3  # the step away from a tie, and the allowed change of gradients, relative to the largest


class Along(NamedTuple):
    """The slope of Σ dy · y on floats along a random step, with its error bound."""

    step: Gradients
    slope: float
    doubt: float

    def parting(self, gradients: Gradients, times: float = 1.0) -> str:
        """Return a sentence if these gradients give another slope, by more than `times` the error bound; or ""."""
        terms = [gradient * self.step[name] for name, gradient in gradients.items()]
        expected = sum(float(term.sum()) for term in terms)
        scale = max(abs(expected), *(float(np.abs(term).max(initial=0)) for term in terms))
        if abs(self.slope - expected) <= times * (_SLOPE * scale + self.doubt):
            return ""
        return f"y moves by {self.slope:.6g} on your floats, and by {expected:.6g} on exact numbers"

    def contradicts(self, gradients: Gradients) -> bool:
        """True if these gradients are clearly wrong."""
        return bool(self.parting(gradients, _CLEARLY))


def slope_of_floats(part: Case, floats: Floats, right: Gradients, seed: int) -> Along:
    """Return the slope of forward along a random step: by one difference if it agrees with the gradients `right`, and
    otherwise, as near a kink, by the steadiest one."""
    step = random_step(part, [seed, 3])
    quick = Along(step, difference(part, floats.dy, step, _STEP, {1: 1 / 2, -1: -1 / 2}), 0.0)
    if not quick.parting(right):
        return quick
    found, doubt, _ = slope(part, floats.dy, step, epsilon=floats.epsilon)
    return Along(step, found, doubt)


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
    for sign in (1, -1):
        with part.holding(moved(part, random_step(part, [seed, 3]), sign * _ASIDE)) as side:
            there = side.run_on_floats(tie.dy)
            run, holds, _ = run_in_field(side, there, seed)
            parting = run.parting(there) or run.backward_parting(there)
            if (
                not holds
                or run.ties
                or parting
                or slope_of_floats(side, there, there.gradients, seed).parting(there.gradients)
            ):
                return False
            sides.append(there.gradients)
    return all(_is_between(at, sides[0][name], sides[1][name]) for name, at in tie.gradients.items())


def _is_between(at: Array, one: Array, other: Array) -> bool:
    low, high = np.minimum(one, other), np.maximum(one, other)
    room = _NEAR * max(np.abs(low).max(initial=0), np.abs(high).max(initial=0))
    return bool(((low - room <= at) & (at <= high + room)).all())
