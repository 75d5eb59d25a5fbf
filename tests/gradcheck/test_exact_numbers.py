"""The worlds of exact numbers: a finite field, fifty digits, degrees of polynomials."""

import itertools
import math
import operator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.catalogue import CATALOGUE
from npbert.gradcheck import COMPLEX_STEP
from npbert.gradcheck.derivatives import along, by_direction, exact_gradients, random_steps
from npbert.gradcheck.exact import degree_of
from npbert.gradcheck.exact.constants import constant
from npbert.gradcheck.exact.degree import Degree, Degrees
from npbert.gradcheck.exact.digits import CONTEXT, Digits
from npbert.gradcheck.exact.field import Field, P
from npbert.gradcheck.exact.number import RULES, Number, Rule, inhabited
from npbert.gradcheck.function import ScalarFunction
from tests.gradcheck.right_pairs import X
from tests.gradcheck.small import Function


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
        y = RULES[name].apply(Number(at, Decimal(1), x))
        up, down = (RULES[name].apply(Number(at + step, 0, x)).value for step in (h, -h))
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


def _rank(rows):
    """The rank of a matrix over the field."""
    rank, rows = 0, [list(row) for row in rows]
    for column in range(len(rows[0])):
        pivot = next((n for n in range(rank, len(rows)) if rows[n][column] % P), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        inverse = pow(rows[rank][column], -1, P)
        for n in range(rank + 1, len(rows)):
            factor = rows[n][column] * inverse % P
            rows[n] = [(a - factor * b) % P for a, b in zip(rows[n], rows[rank], strict=True)]
        rank += 1
    return rank


OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


@given(st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6))
def test_the_degree_of_a_formula_is_no_larger_than_is_said(steps):
    """On a line, N(t)/M(t) of degree n over m: then f(t) t^j and t^k are dependent, with j ≤ m and k ≤ n."""

    def formula(a, b, c):
        known = [a, b, c]
        for sign, i, j in steps:
            one, other = known[i % len(known)], known[j % len(known)]
            known.append(OPERATORS[sign](one, other))
        return known[-1]

    with inhabited(Degrees()):
        said = formula(*(Number(Degree(1), 0, seen) for seen in (1.1, 2.3, 3.7))).value
    over = sum(q.of * exponent for q, exponent in said.divisors.items())
    if said.of + over > 24:
        return
    rng, count = np.random.default_rng(0), said.of + over + 3
    ends = [[int(rng.integers(P >> 64)) for _ in range(2)] for _ in range(3)]
    rows = []
    with inhabited(Field(rng)):
        for t in itertools.islice(itertools.count(3), count):
            try:
                f = formula(*(Number((start + t * by) % P, 0, 1.0) for start, by in ends)).value
            except ZeroDivisionError:  # a − a
                return
            rows.append([f * pow(t, j, P) % P for j in range(over + 1)] + [pow(t, k, P) for k in range(said.of + 1)])
    assert _rank(rows) < said.of + over + 2


@pytest.mark.parametrize(("name", "degree"), [("Linear", 3), ("ReLU", 2), ("Tanh", 4), ("LayerNorm", 26)])
def test_degrees_of_layers(name, degree):
    """S = Σ dy (ẋ W + x Ẇ + ḃ) has degree 3; of tanh, dy (1 − t²) ẋ has 4."""
    layer, inputs, rng = CATALOGUE[name].make()
    assert degree_of(layer, *inputs, rng=rng) == degree


def test_a_whole_model_is_a_polynomial_of_some_hundreds():
    layer, inputs, rng = CATALOGUE["BertForPreTraining"].make()
    assert degree_of(layer, *inputs, rng=rng) < 1000 < P // 10**30


def _masked_softmax(s):
    e = np.exp(np.where(np.tri(4, dtype=bool), s, -np.inf))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["masked", "EncoderLayer", "BertForPreTraining", "GELU", "Softmax"])
def test_the_gradients_with_fifty_digits_are_those_of_the_complex_step(name):
    if name == "masked":
        layer, inputs, rng = Function(_masked_softmax, lambda s: 1.0), (X[:4],), None
    else:
        layer, inputs, rng = CATALOGUE[name].make()
    function = ScalarFunction(layer, inputs, rng, 0)
    steps = random_steps(exact_gradients(function), 3, 0)
    expected = by_direction(function, COMPLEX_STEP, steps)
    np.testing.assert_allclose(along(exact_gradients(function), steps), expected, rtol=1e-12)
