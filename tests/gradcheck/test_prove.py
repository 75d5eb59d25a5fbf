"""The proof: right is proved, wrong refuted however little, and what it does not know is said to be neither."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import GELU, Init, LayerNorm, check_gradients
from npbert.catalogue import CATALOGUE, blocks
from npbert.gradcheck import NOT_PROVED, PROVED, REFUTED, prove, prove_vjp
from npbert.shapes import Shapes
from tests.gradcheck.right_pairs import PAIRS, UNPROVED, X
from tests.gradcheck.small import broken
from tests.strategies import as_it_fails

NORM = CATALOGUE["LayerNorm"]


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_right_is_proved_and_a_factor_of_1_and_1e_14_is_refuted(name):
    f, vjp, inputs = PAIRS[name]
    assert prove_vjp(f, vjp, *inputs).verdict == PROVED

    def off(dy, *given):
        dx = vjp(dy, *given)
        return (dx[0] * (1 + 1e-14), *dx[1:]) if isinstance(dx, tuple) else dx * (1 + 1e-14)

    proof = prove_vjp(f, off, *inputs)
    assert (proof.verdict, len(proof.wrong)) == (REFUTED, 1)


@pytest.mark.parametrize("name", UNPROVED)
def test_what_is_beyond_it_is_neither_proved_nor_refuted(name):
    f, vjp, reason = UNPROVED[name]
    proof = prove_vjp(f, vjp, X)
    assert proof.verdict == NOT_PROVED
    assert reason in proof.reason


@settings(as_it_fails, max_examples=2)
@given(st.integers(0, 2**32 - 1))
def test_every_block_is_proved_at_random_shapes(seed):
    for name, setting in blocks(Shapes.drawn(np.random.default_rng(seed))).items():
        layer, inputs, rng = setting.make(seed=seed)
        proof = prove(layer, *inputs, rng=rng, seed=seed)
        assert proof, f"{name}: {proof}"


@pytest.mark.parametrize("factor", ["7/3", "24", "√3", "−1", "0", "√(2/3)"])
def test_a_factor_is_named_exactly(factor):
    number = {"7/3": 7 / 3, "24": 24, "√3": math.sqrt(3), "−1": -1, "0": 0, "√(2/3)": math.sqrt(2 / 3)}[factor]
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


def test_comparisons_are_the_users_own():
    """A kink is passed on the user's side; −∞ masks; float32 is no matter."""
    proof = prove_vjp(lambda x: np.maximum(x, 0), lambda dy, x: np.where(x > 0, dy, 0), np.array([1e-300, -1e-300]))
    assert proof
    causal = np.where(np.tri(5, dtype=bool), 0.0, -np.inf)

    def masked(s):
        e = np.exp(s + causal)
        return e / e.sum(axis=1, keepdims=True)

    s = np.random.default_rng(0).standard_normal((5, 5)).astype(np.float32)
    assert prove_vjp(masked, lambda dy, s: masked(s) * (dy - (dy * masked(s)).sum(1, keepdims=True)), s)
    assert prove_vjp(masked, lambda dy, s: masked(s) * (dy - dy.sum(1, keepdims=True)), s).verdict == REFUTED


def test_what_is_not_a_gradient_for_each_input_is_refuted():
    def f(x):
        return np.tanh(x)

    assert "backward returns 2 gradients, for inputs ['x']" in prove_vjp(f, lambda dy, x: (dy, dy), X).reason
    assert "shape (4,), and x (5, 4)" in prove_vjp(f, lambda dy, x: dy[0], X).reason
    assert "divides by a number that is 0" in prove_vjp(np.tanh, lambda dy, x: dy / (x - x), X).reason
    left = broken(backward=lambda self, dy, tape: dy)
    assert "the tape still holds" in prove(left, X[:, :3]).reason


def test_wrong_inputs_are_the_layers_to_refuse():
    with pytest.raises(ValueError, match="x is"):
        prove(NORM.make()[0], np.ones((2, 2)))
    with pytest.raises(ValueError, match="there is nothing to check"):
        prove(GELU(), np.zeros((0, 3)))
