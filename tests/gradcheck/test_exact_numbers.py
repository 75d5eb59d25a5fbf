"""The worlds of exact numbers: a finite field, fifty digits, and one that counts the degrees of polynomials."""

import math
from collections import Counter
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from npbert.catalogue import CATALOGUE
from npbert.gradcheck.exact.digits import DIGITS, Digits
from npbert.gradcheck.exact.field import Field, P
from npbert.gradcheck.exact.number import Number, as_number, constant
from npbert.gradcheck.exact.number_modules import room_for_numbers
from npbert.gradcheck.exact.rules import RULES, exact_version
from npbert.gradcheck.exact.run import run_on_numbers
from npbert.gradcheck.function import ScalarFunction


@pytest.mark.parametrize(
    ("x", "ratio", "is_root", "halves_of_pi"),
    [
        (0.1, "1/10", False, 0),
        (3 * 0.044715, "26829/200000", False, 0),
        (1 / math.sqrt(6), "1/6", True, 0),
        (math.sqrt(2 / math.pi), "2", True, -1),
        (4 * math.pi, "4", False, 2),
        (1e-12, "1/1000000000000", False, 0),
    ],
)
def test_a_float_stands_for_the_simplest_number_that_rounds_to_it(x, ratio, is_root, halves_of_pi):
    for sign in (1, -1):
        assert constant(sign * x) == (sign, Fraction(ratio), is_root, halves_of_pi)


def test_roots_of_constants_multiply_as_they_should():
    value = Field(0).constant
    assert constant(0.123456789123456) == (1, Fraction(0.123456789123456), False, 0)
    assert value(math.sqrt(2)) ** 2 % P == 2
    assert value(math.sqrt(2)) * value(-math.sqrt(3)) % P == value(-math.sqrt(6))
    assert value(math.sqrt(2 / math.pi)) ** 2 * value(math.pi) % P == 2


SPECIAL = {
    "erf": math.erf,
    "erfc": math.erfc,
    "expit": lambda x: 1 / (1 + math.exp(-x)),
    "log_expit": lambda x: -math.log1p(math.exp(-x)),
    "xlogy": lambda x, y: x * math.log(y),
}
FLOATS = {name: SPECIAL.get(name) or getattr(np, name) for name in RULES}
OF_TWO = ["arctan2", "hypot", "logaddexp", "xlogy"]
OF_ONE = [name for name in RULES if name not in OF_TWO]
WITHIN_ONE = {"arcsin", "arccos", "arctanh"}
ODD = "erf", "sin", "tan", "arcsin", "arctan", "arcsinh", "tanh", "sinh"


@pytest.mark.parametrize("name", OF_ONE)
@pytest.mark.parametrize("x", [0.05, 2.5])
def test_fifty_digits_are_those_of_floats_and_slopes_those_of_differences(name, x):
    x = x / 10 if name in WITHIN_ONE else x + (name == "arccosh")
    with localcontext(Context(prec=2 * DIGITS)), room_for_numbers(Digits(), []):
        at, h = Decimal(x), Decimal("1e-20")
        of_numbers = exact_version(name, FLOATS[name])
        y = of_numbers(Number(at, Decimal(1), x))
        up, down = (of_numbers(Number(at + step, 0, x)).value for step in (h, -h))
        assert abs((up - down) / (2 * h) - y.tangent) < Decimal("1e-25") * max(1, abs(y.tangent))
    wanted = float(FLOATS[name](x))
    assert float(y.value) == pytest.approx(wanted, rel=4e-15)
    assert y.seen == pytest.approx(wanted, rel=1e-15)
    assert abs(float(y.value) - y.seen) <= y.error * 2.0**-53


@pytest.mark.parametrize("name", OF_TWO)
@pytest.mark.parametrize(("x", "y"), [(0.7, 2.5), (0.0, 0.5)])
def test_functions_of_two_numbers_are_in_fifty_digits_what_they_are_in_floats(name, x, y):
    with localcontext(Context(prec=DIGITS)), room_for_numbers(Digits(), []):
        found = exact_version(name, FLOATS[name])(*(Number(Decimal(each), 0, each) for each in (x, y)))
    wanted = FLOATS[name](x, y)
    assert (float(found.value), found.seen) == pytest.approx((wanted, wanted), rel=4e-15)


def test_a_value_that_is_a_whole_number_is_this_number_in_the_field():
    known = {"exp": 0, "log": 1, "sqrt": 1, "cbrt": 1, "arccosh": 1, "cos": 0, **dict.fromkeys(ODD, 0)}
    with room_for_numbers(Field(0), []):
        for name, x in known.items():
            y = RULES[name](as_number(x))
            assert y.value == y.seen, name


class Degree:
    """A value N / (q₁^k₁ q₂^k₂ …), where the q are what was divided by: a bound on the degree of N, and the q, Degrees
    as well, with their exponents. Unknowns, tangents and values of functions have degree 1."""

    def __init__(self, of, divisors=None):
        self.of, self.divisors = of, divisors or Counter()

    def __add__(self, other):
        if not isinstance(other, Degree):
            return self + Degree(0) if other else self
        common = self.divisors | other.divisors
        excess = max(each.of - size(each.divisors) for each in (self, other))
        return Degree(size(common) + excess, common)

    def __mul__(self, other):
        if not isinstance(other, Degree):
            return self if other else 0
        return Degree(self.of + other.of, self.divisors + other.divisors)

    def __mod__(self, modulus):
        return self

    def __sub__(self, other):
        return self + -1 * other

    def __rsub__(self, other):
        return -1 * self + other

    def __neg__(self):
        return -1 * self

    __radd__, __rmul__ = __add__, __mul__


def size(divisors):
    return sum(q.of * exponent for q, exponent in divisors.items())


class Degrees(Field):
    """What is divided by twice is one q, if it is one value. No law of a function is known, but √a √a = a."""

    def __init__(self):
        super().__init__(0)
        self.inverses = {}

    def draw(self):
        return Degree(1)

    def inverse(self, value):
        if not isinstance(value, Degree):
            return super().inverse(value)
        return self.inverses.setdefault(value, Degree(size(value.divisors), Counter({Degree(value.of): 1})))

    def function(self, rule, x):
        y = self.draw()
        if rule.degree:
            self.inverses[x.value] = Degree(0, Counter({y: rule.degree}))
        return y


@pytest.mark.parametrize(
    ("name", "degrees"), [("Linear", [3]), ("LayerNorm", [34]), ("BertForPreTraining", range(100, 10000))]
)
def test_a_layer_is_a_polynomial_of_a_low_degree(name, degrees):
    """S = Σ dy (ẋ W + x Ẇ + ḃ) has degree 3; of tanh, dy (1 − t²) ẋ has 4. A random point might hit a zero of such a
    polynomial, in at most a degree of P cases: so rarely is a wrong backward taken for right."""
    part = ScalarFunction(*CATALOGUE[name].make(), 0)
    run = run_on_numbers(Degrees(), part)
    assert run.difference.of in degrees
    assert P > 10**35
