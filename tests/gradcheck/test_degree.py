"""The degree of the polynomial that a random point might hit a zero of: so rarely is a wrong backward taken for right.

A world of Numbers counts it. Each value is a fraction N / (q₁^k₁ q₂^k₂ …), where the q are what was divided by. Kept
are a bound on the degree of N, and each q with its exponent. Unknowns, tangents and values of functions have degree 1.
"""

import math
import operator
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from npbert.catalogue import CATALOGUE
from npbert.gradcheck.exact.field import Field, P
from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.exact.run import Part, inhabited, run_on_numbers

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


class Degree:
    """A value at several points of a line, a bound on the degree of its N, and a count of the q, Degrees as well."""

    def __init__(self, of, at, divisors=None):
        self.of, self.at, self.divisors = of, at % P, divisors or Counter()

    def __add__(self, other):
        if not isinstance(other, Degree):
            return self + Degree(0, other) if other else self
        common = self.divisors | other.divisors
        return Degree(size(common) + max(self.excess, other.excess), self.at + other.at, common)

    def __mul__(self, other):
        if not isinstance(other, Degree):
            return Degree(self.of, self.at * other, self.divisors) if other else 0
        return Degree(self.of + other.of, self.at * other.at, self.divisors + other.divisors)

    def __mod__(self, modulus):
        return self

    def __sub__(self, other):
        return self + -1 * other

    __radd__, __rmul__ = __add__, __mul__

    @property
    def excess(self):
        """The degree of N less that of the denominator."""
        return self.of - size(self.divisors)

    @property
    def numerator(self):
        """N at each of the points."""
        return math.prod((q.at**exponent for q, exponent in self.divisors.items()), start=self.at) % P


def size(divisors):
    return sum(q.of * exponent for q, exponent in divisors.items())


class Degrees(Field):
    """What is divided by twice is one q, if it is one value. No law of a function is known, but √a √a = a."""

    def __init__(self, points):
        super().__init__(np.random.default_rng(0))
        self.points, self.inverses = np.arange(points).astype(object), {}

    def draw(self, seen):
        return Degree(1, super().draw(seen) + super().draw(seen) * self.points)

    def inverse(self, value):
        if not isinstance(value, Degree):
            return super().inverse(value)
        if value not in self.inverses:
            at = np.array([super(Degrees, self).inverse(int(each)) for each in value.at], object)
            self.inverses[value] = Degree(size(value.divisors), at, Counter({Degree(value.of, value.numerator): 1}))
        return self.inverses[value]

    def function(self, rule, value):
        y = self.draw(0.0)
        if rule.degree:
            self.inverses[value] = Degree(0, y.at**0, Counter({y: rule.degree}))
        return y


@given(st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6))
def test_the_degree_of_a_formula_is_no_larger_than_is_said(steps):
    """The differences of a polynomial of degree n are of degree n − 1, and so on, until all are 0."""
    with inhabited(Degrees(40)):
        known = [Number(Number.world.draw(seen), 0, seen) for seen in (1.1, 2.3, 3.7)]
        for sign, i, j in steps:
            try:
                known.append(OPERATORS[sign](known[i % len(known)], known[j % len(known)]))
            except ZeroDivisionError:  # a − a
                assume(False)
    said = known[-1].value
    assert said.of > 38 or not (np.diff(said.numerator, said.of + 1) % P).any()


def degree_of(name):
    return run_on_numbers(Degrees(1), Part(*CATALOGUE[name].make()), np.random.default_rng(0)).difference.of


@pytest.mark.parametrize(("name", "degree"), [("Linear", 3), ("ReLU", 2), ("Tanh", 4), ("LayerNorm", 34)])
def test_degrees_of_layers(name, degree):
    """S = Σ dy (ẋ W + x Ẇ + ḃ) has degree 3; of tanh, dy (1 − t²) ẋ has 4."""
    assert degree_of(name) == degree


def test_a_whole_model_is_a_polynomial_of_some_hundreds():
    assert 100 < degree_of("BertForPreTraining") < 1000 < P // 10**30
