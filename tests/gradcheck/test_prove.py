"""The proof: right is proved, wrong refuted however little, and what it does not know is said to be neither."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import GELU, EncoderLayer, Init, LayerNorm, Linear, TanhGELU, check_gradients, randomize
from npbert.catalogue import CATALOGUE, blocks
from npbert.core import named_parameters
from npbert.gradcheck import NOT_PROVED, PROVED, REFUTED, prove, prove_vjp
from npbert.shapes import Shapes
from tests.gradcheck.right_pairs import PAIRS, UNPROVED, X
from tests.gradcheck.small import Scale
from tests.planted import PLANTED, WRONG, build, load_all

load_all()
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


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a law of exp", "with 50 digits every gradient is right"),
        ("sin² + cos² = 1", "with 50 digits every gradient is right"),
        ("a rounded constant", "with 50 digits every gradient is right"),
        ("a cast", "a number is turned into a float here"),
        ("no rule", "no rule is known for np.arcsinh"),
    ],
)
def test_what_is_beyond_it_is_neither_proved_nor_refuted(name, reason):
    f, vjp, inputs = UNPROVED[name]
    proof = prove_vjp(f, vjp, *inputs)
    assert proof.verdict == NOT_PROVED
    assert reason in proof.reason


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1))
def test_every_block_is_proved_at_random_shapes(seed):
    for name, setting in blocks(Shapes.drawn(np.random.default_rng(seed))).items():
        layer, inputs, rng = setting.make(seed=seed)
        proof = prove(layer, *inputs, rng=rng, seed=seed)
        assert proof, f"{name}: {proof}"


@pytest.mark.parametrize("name", [name for name, (_, says) in PLANTED.items() if says == WRONG])
def test_every_planted_bug_is_refuted_and_its_part_named(name):
    twin, _ = PLANTED[name]
    layer, inputs, rng = build(*twin)
    proof = prove(layer, *inputs, rng=rng)
    assert proof.verdict == REFUTED
    assert proof.wrong
    assert not twin[1] or proof.parts == (twin[1],)


def _mean_of_squares_taken_for_1(self, dy, tape):
    """With eps = 1e-12 only 1e-12 is missing."""
    x_hat, sigma = tape.take(self)
    g = self.gamma.value * dy
    self.gamma.add_grad((dy * x_hat).sum(axis=0))
    self.beta.add_grad(dy.sum(axis=0))
    both = (g * x_hat).mean(axis=-1, keepdims=True) / (x_hat * x_hat).mean(axis=-1, keepdims=True)
    return (g - g.mean(axis=-1, keepdims=True) - x_hat * both) / sigma


def _one_entry_off(self, dy, tape):
    dx = Linear.backward(self, dy, tape)
    dx[1, 2] += 1e-13
    return dx


def _a_constant_cut_short(self, x):
    y, slope = TanhGELU.value_and_slope(self, x)
    return y, slope + 0.5 * x * (1 - np.tanh(x) ** 2) * (0.797884560803 - math.sqrt(2 / math.pi))


@pytest.mark.parametrize(
    ("layer_class", "method", "wrong", "make"),
    [
        (LayerNorm, "backward", _mean_of_squares_taken_for_1, lambda cls: cls(6, Init(None, 1.0, np.float64))),
        (Linear, "backward", _one_entry_off, lambda cls: cls(6, 4, Init(None, 1.0, np.float64))),
        (TanhGELU, "value_and_slope", _a_constant_cut_short, lambda cls: cls()),
    ],
)
def test_what_no_estimate_sees_is_refuted(layer_class, method, wrong, make):
    x = np.random.default_rng(0).standard_normal((5, 6))
    layer = make(type("Wrong", (layer_class,), {method: wrong}))
    randomize(layer, np.random.default_rng(1))
    proof = prove(layer, x)
    assert proof.verdict == REFUTED
    assert [array.name for array in proof.wrong] == ["x"]
    report = check_gradients(layer, x)
    assert (report.ok, report.wrong["x"] > 0) == (False, True)
    assert str(report).startswith("WRONG")


@pytest.mark.parametrize("factor", ["7/3", "24", "√3", "−1", "0", "√(2/3)"])
def test_a_factor_is_named_exactly(factor):
    number = {"7/3": 7 / 3, "24": 24, "√3": math.sqrt(3), "−1": -1, "0": 0, "√(2/3)": math.sqrt(2 / 3)}[factor]
    (wrong,) = prove_vjp(np.tanh, lambda dy, x: number * dy * (1 - np.tanh(x) ** 2), X).wrong
    assert (wrong.factor, wrong.count, wrong.size) == (factor, X.size, X.size)
    assert f"each of them {factor} times the right one" in str(wrong)


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

    assert "backward returns 2 gradients, for the inputs ['x']" in prove_vjp(f, lambda dy, x: (dy, dy), X).reason
    assert "shape (4,), and x (5, 4)" in prove_vjp(f, lambda dy, x: dy[0], X).reason
    assert "divides by a number that is 0" in prove_vjp(np.tanh, lambda dy, x: dy / (x - x), X).reason
    left = type("Left", (Scale,), {"backward": lambda self, dy, tape: dy})()
    assert "the tape still holds" in prove(left, X[:, :3]).reason


def test_nothing_is_left_changed():
    layer, inputs, rng = CATALOGUE["EncoderLayer"].make()
    parameters = dict(named_parameters(layer))
    place = np.empty_like(parameters["output_norm.beta"].value)
    parameters["output_norm.beta"].zero_grad(place)
    before = [dict(vars(parameter)) for parameter in parameters.values()]
    state, modules = rng.bit_generator.state, {name: vars(module).get("np") for name, module in sys.modules.items()}
    for layer_or_twin in (layer, build("EncoderLayer", "", None, "backward", lambda self, dy, tape: 1 / 0)[0]):
        with pytest.raises(ZeroDivisionError) if layer_or_twin is not layer else np.errstate():
            prove(layer_or_twin, *inputs, rng=rng)
            assert layer_or_twin is layer
            break
    assert [vars(parameter) for parameter in parameters.values()] == before
    assert rng.bit_generator.state == state
    assert {name: vars(sys.modules[name]).get("np") for name in modules} == modules


def test_wrong_inputs_are_the_layers_to_refuse():
    with pytest.raises(ValueError, match="x is"):
        prove(NORM.make()[0], np.ones((2, 2)))
    with pytest.raises(ValueError, match="there is nothing to check"):
        prove(GELU(), np.zeros((0, 3)))


def test_the_diagnosis_does_not_fall_silent_over_noise():
    """The derivative by a key's bias is exactly 0, and estimates of it are noise."""

    def without_residual(self, dy, tape):
        dx, dz = EncoderLayer.backward(self, dy, tape)
        return dx - 0.5 * dy, dz

    for seed in range(2):
        layer = type("Wrong", (EncoderLayer,), {"backward": without_residual})(8, 2, 16, Init(None, 1.0, np.float64))
        randomize(layer, np.random.default_rng(seed))
        x = np.random.default_rng(seed + 100).standard_normal((5, 8))
        report = check_gradients(layer, x, x.copy(), seed=seed)
        assert not report
        assert report.diagnosis
