"""The worlds of exact numbers: a finite field, and fifty digits."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from npbert.catalogue import CATALOGUE
from npbert.gradcheck import COMPLEX_STEP
from npbert.gradcheck.exact.constants import constant
from npbert.gradcheck.exact.digits import CONTEXT, Digits
from npbert.gradcheck.exact.field import Field, P
from npbert.gradcheck.exact.number import RULES, Number, Rule
from npbert.gradcheck.exact.run import inhabited
from npbert.gradcheck.function import ScalarFunction


@pytest.mark.parametrize(
    ("x", "ratio", "is_root", "halves_of_pi"),
    [
        (0.1, "1/10", False, 0),
        (1 / 3, "1/3", False, 0),
        (3 * 0.044715, "26829/200000", False, 0),
        (math.sqrt(2), "2", True, 0),
        (1 / math.sqrt(6), "1/6", True, 0),
        (1 / math.sqrt(2 * math.pi), "1/2", True, -1),
        (math.sqrt(2 / math.pi), "2", True, -1),
        (2 / math.sqrt(math.pi), "2", False, -1),
        (4 * math.pi, "4", False, 2),
        (1e-12, "1/1000000000000", False, 0),
    ],
)
def test_a_float_stands_for_the_simplest_number_that_rounds_to_it(x, ratio, is_root, halves_of_pi):
    for sign in (1, -1):
        assert constant(sign * x) == (sign, Fraction(ratio), is_root, halves_of_pi)


def test_roots_of_constants_multiply_as_they_should():
    value = Field(np.random.default_rng(0)).constant
    assert constant(0.123456789123456) == (1, Fraction(0.123456789123456), False, 0)
    assert value(math.sqrt(2)) ** 2 % P == 2
    assert value(math.sqrt(2)) * value(-math.sqrt(3)) % P == value(-math.sqrt(6))
    assert value(math.sqrt(2 / math.pi)) ** 2 * value(math.pi) % P == 2


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if isinstance(rule, Rule)])
@pytest.mark.parametrize("x", [0.05, 0.7, 2.5, 9.0])
def test_fifty_digits_are_those_of_floats_and_slopes_those_of_differences(name, x):
    with localcontext(CONTEXT), inhabited(Digits()):
        at, h = Decimal(x), Decimal("1e-20")
        y = RULES[name](Number(at, Decimal(1), x))
        up, down = (RULES[name](Number(at + step, 0, x)).value for step in (h, -h))
        assert abs((up - down) / (2 * h) - y.tangent) < Decimal("1e-25") * max(1, abs(y.tangent))
    assert float(y.value) == pytest.approx(RULES[name].of_float(x), rel=1e-15)
    assert y.seen == RULES[name].of_float(x)


def test_laws_hold_in_the_field():
    with inhabited(Field(np.random.default_rng(0))):
        a, b = (Number(Number.world.draw(seen), Number.world.draw_tangent(), seen) for seen in (0.5, 2.0))
        pairs = [
            ((-a).exp() * a.exp(), 1),
            (a.exp().log(), a),
            (b.log().exp(), b),
            ((a * a).exp() / b, (a * a - b.log()).exp()),
            (b.sqrt() * b.sqrt() / b, 1),
            ((-a).tanh(), -a.tanh()),
            ((-a).cos(), a.cos()),
            (b**-1.5 * b**0.5, 1 / b),
            ((b ** (1 / 3)) ** 3 / b, 1),
        ]
        for one, other in pairs:
            other = other if isinstance(other, Number) else Number(other, 0, 0.0)
            assert one.value == other.value % P
            assert one.tangent == other.tangent


@pytest.mark.parametrize("name", ["EncoderLayer", "BertForPreTraining", "GELU", "Softmax"])
def test_the_gradients_with_fifty_digits_are_those_of_the_complex_step(name):
    layer, inputs, rng = CATALOGUE[name].make()
    function = ScalarFunction(layer, inputs, rng, 0)
    assert function.compared_along(function.exact(), {COMPLEX_STEP: 1e-12}, 3, 0)
