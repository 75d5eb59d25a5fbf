"""The proof: wrong derivatives are refuted however little, and what it does not know is said to be neither.

(What people write in many styles, right and wrong, is in tests/gradcheck/attacks.)
"""

import math

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

from npbert import Init, LayerNorm, check_gradients
from npbert.catalogue import blocks
from npbert.gradcheck import NOT_PROVED, REFUTED, prove, prove_vjp
from npbert.shapes import Shapes
from tests.gradcheck.attacks.formulas import of_x
from tests.gradcheck.small import broken

X = np.random.default_rng(7).standard_normal((5, 4))


@pytest.mark.parametrize(
    ("f", "slope", "reason"),
    [
        (lambda x: np.exp(x) * np.exp(x), lambda x: 2 * np.exp(2 * x), "in decimals no gradient is off by more"),
        (lambda x: x.astype(np.float32) ** 2, lambda x: 2 * x, "an exact number is turned into a float here"),
        (lambda x: x + 0 * np.spacing(x), lambda x: 1.0, "np.spacing has no exact rule"),
    ],
)
def test_what_is_beyond_it_is_neither_proved_nor_refuted(f, slope, reason):
    proof = prove_vjp(f, of_x(slope), X)
    assert proof.verdict == NOT_PROVED
    assert reason in proof.reason


@settings(max_examples=1, phases=[Phase.generate])
@given(st.integers(0, 2**32 - 1))
def test_a_third_of_all_blocks_is_proved_at_random_shapes(thorough, seed):
    found = blocks(Shapes.drawn(np.random.default_rng(seed)))
    for name in list(found) if thorough else list(found)[seed % 3 :: 3]:
        layer, inputs, rng = found[name].make(seed=seed)
        proof = prove(layer, *inputs, rng=rng, seed=seed)
        assert proof, f"{name}: {proof}"


FACTORS = {"7/3": 7 / 3, "−1": -1, "0": 0, "√(2/3)": math.sqrt(2 / 3), "1.0000000000000300": 1 + 3e-14}


@pytest.mark.parametrize(("factor", "number"), FACTORS.items())
def test_a_factor_is_named_exactly(factor, number):
    proof = prove_vjp(np.tanh, lambda dy, x: number * dy * (1 - np.tanh(x) ** 2), X)
    (wrong,) = proof.wrong
    assert (wrong.factor, wrong.count, wrong.size) == (factor, X.size, X.size)
    assert f"each of them {factor} times the right one" in str(proof)


def test_a_blind_point_hides_nothing():
    """Where γ = 1, a γ left out is right by chance; and where dy is what the caller drew, it is drawn anew."""

    def without_gamma(self, dy, tape):
        return LayerNorm.backward(self, dy, tape) / self.gamma.value

    layer = type("Wrong", (LayerNorm,), {"backward": without_gamma})(4, Init(None, 1.0, np.float64))
    assert prove(layer, X).verdict == REFUTED
    report = check_gradients(layer, X)
    assert not report
    assert report.wrong["x"] == X.size


def test_float32_is_proved_and_refuted_too():
    x = X.astype(np.float32)
    assert prove_vjp(np.tanh, of_x(lambda x: 1 - np.tanh(x) ** 2), x)
    assert prove_vjp(np.tanh, of_x(lambda x: 1 - np.tanh(x)), x).verdict == REFUTED


def test_what_is_not_a_gradient_for_each_input_is_refuted():
    def f(x):
        return np.tanh(x)

    assert "backward returns 2 gradients, for inputs ['x']" in prove_vjp(f, lambda dy, x: (dy, dy), X).reason
    assert "of shape (4,) and float64 for x, wanted shape (5, 4)" in prove_vjp(f, lambda dy, x: dy[0], X).reason
    assert "x[0, 0] is inf" in prove_vjp(f, lambda dy, x: dy / (x - x), X).reason
    left = broken(backward=lambda self, dy, tape: dy)
    assert "the tape still holds" in prove(left, X[:, :3]).reason
