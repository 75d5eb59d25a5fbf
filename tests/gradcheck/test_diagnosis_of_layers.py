"""What is said of layers of one's own, which know nothing of npbert: what is wrong, and nothing that is not."""

import numpy as np
import pytest

from npbert import NO_TAPE, Parameter
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import TOLERANCES, check_gradients
from tests.gradcheck.small import Scale, X, broken, returning

N, D, T, K = 5, 7, 5, 3


def mean(array):
    return array.mean(axis=-1, keepdims=True)


class Own:
    """A layer of one's own: forward keeps some arrays, and backward is a function of dy and of them."""

    def __init__(self, backward, rng):
        self.of, self.rng = backward, rng

    def backward(self, dy, tape):
        kept = tape.take(self)
        return self.of(dy, *(kept if isinstance(kept, tuple) else (kept,)))


class Swish(Own):
    """y = x s(x)"""

    inputs = ((N, D),)

    def forward(self, x, tape=NO_TAPE):
        s = 1 / (1 + np.exp(-x))
        tape.keep(self, x, s)
        return x * s


class Tanh(Own):
    inputs = ((N, D),)

    def forward(self, x, tape=NO_TAPE):
        y = np.tanh(x)
        tape.keep(self, x, y)
        return y


class RMSNorm(Own):
    """y = g x / r, with an eps that is nobody's attribute."""

    inputs = ((N, D),)

    def __init__(self, backward, rng):
        super().__init__(backward, rng)
        self.g = Parameter(rng.uniform(0.5, 1.5, D))

    def forward(self, x, tape=NO_TAPE):
        r = np.sqrt(mean(x * x) + 1e-3)
        tape.keep(self, self.g.value, x, r)
        return self.g.value * x / r

    def backward(self, dy, tape):
        g, x, r = tape.take(self)
        self.g.add_grad((dy * x / r).sum(axis=0))
        return self.of(dy, g, x, r)


class Softmax(Own):
    inputs = ((N, D),)

    def forward(self, x, tape=NO_TAPE):
        p = np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
        tape.keep(self, p)
        return p


class Attention(Own):
    inputs = ((T, K), (T, K), (T, K))

    def forward(self, q, k, v, tape=NO_TAPE):
        e = np.exp(q @ k.T / np.sqrt(K))
        p = e / e.sum(axis=-1, keepdims=True)
        tape.keep(self, q, k, v, p)
        return p @ v

    def backward(self, dy, tape):
        q, k, v, p = tape.take(self)
        dp = dy @ v.T
        ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / np.sqrt(K)
        return self.of(ds @ k, ds.T @ q, p.T @ dy, ds, q, p, dy)


SECOND = "x inside the other factor"
WRONG = [
    (
        Swish,
        lambda dy, x, s: dy * (s + x * (1 - s)),
        "road factor",
        f'in dx, "{SECOND}" is wrong by a factor, as if y / x',
    ),
    (
        Swish,
        lambda dy, x, s: dy * (s + s * (1 - s)),
        "road factor",
        f'"{SECOND}" is wrong by a factor, as if x was left',
    ),
    (Swish, lambda dy, x, s: dy * s, "ledger", f'"{SECOND}" is missing'),
    (Swish, lambda dy, x, s: s + x * s * (1 - s), "known factor", "as if dy was left out"),
    (Swish, lambda dy, x, s: -dy * (s + x * s * (1 - s)), "factor", "dx has the wrong sign, everywhere"),
    (Tanh, lambda dy, x, y: dy * (1 - y), "slope", "dx is dy · (1 − y), where dy · (1 − y²) is right"),
    (Tanh, lambda dy, x, y: dy * (1 + y * y), "slope", "dx is dy · (1 + y²), where dy · (1 − y²) is right"),
    (Tanh, lambda dy, x, y: dy * (x > 0), "slope", "dx is dy · ([x > 0]), where dy · (1 − y²) is right"),
    (
        RMSNorm,
        lambda dy, g, x, r: g * dy / r,
        "ledger",
        'dx = 1 · directly + 0 · through the norm: "through the norm" is',
    ),
    (RMSNorm, lambda dy, g, x, r: (dy - x * mean(dy * x) / r**2) / r, "formula", "when γ is left out"),
    (
        RMSNorm,
        lambda dy, g, x, r: g * dy - x * mean(g * dy * x) / r**2,
        "known factor",
        "as if a division by the norm was left out",
    ),
    (Softmax, lambda dp, p: dp * p * (1 - p), "formula", "p (1 − p) is taken for the whole derivative"),
    (Softmax, lambda dp, p: p * dp - p**2 * dp.sum(axis=-1, keepdims=True), "formula", "p² · Σ dp for p · Σ dp · p"),
    (Softmax, lambda dp, p: dp * p, "ledger", '"through the denominator" is missing'),
    (Softmax, lambda dp, p: dp - (dp * p).sum(axis=-1, keepdims=True), "known factor", "as if p was left out"),
    (
        Attention,
        lambda dq, dk, dv, ds, q, *_: (ds @ q, dk, dv),
        "product",
        "dq is dS · q, where dS · k is right",
    ),
    (
        Attention,
        lambda dq, dk, dv, ds, q, *_: (dq, ds @ q, dv),
        "product",
        "dk is dS · q, where dSᵀ · q is right",
    ),
    (
        Attention,
        lambda dq, dk, dv, ds, q, p, dy: (dq, dk, p @ dy),
        "product",
        "dv is A · dy, where Aᵀ · dy is right",
    ),
    (Attention, lambda dq, dk, dv, *_: (dq * np.sqrt(K), dk, dv), "factor", "dq is 1.732 times too large, everywhere"),
    (Attention, lambda dq, dk, dv, *_: (dq, dk.T.reshape(T, K), dv), "order", "a reshape stands where a transposition"),
    (Attention, lambda dq, dk, dv, *_: (dk, dq, dv), "another", "dq is dk"),
]
RIGHT = [
    (Swish, lambda dy, x, s: dy * (s + x * s * (1 - s))),
    (RMSNorm, lambda dy, g, x, r: g * dy / r - x * mean(g * dy * x) / r**3),
    (Softmax, lambda dp, p: p * (dp - (dp * p).sum(axis=-1, keepdims=True))),
    (Attention, lambda dq, dk, dv, *_: (dq, dk, dv)),
]


def report_on(layer_class, backward, seed):
    rng = np.random.default_rng(seed)
    layer = layer_class(backward, rng)
    return check_gradients(layer, *(rng.standard_normal(shape) for shape in layer_class.inputs), seed=seed)


@pytest.mark.parametrize(("layer_class", "backward", "kind", "says"), WRONG)
def test_what_is_wrong_with_a_layer_of_ones_own_is_said_first(layer_class, backward, kind, says):
    for seed in range(5):
        first = report_on(layer_class, backward, seed).diagnosis[0]
        assert first.what == kind
        assert says in first.text


@pytest.mark.parametrize(("layer_class", "backward"), RIGHT)
def test_of_what_is_right_nothing_is_said_and_nothing_is_computed(layer_class, backward):
    for seed in range(20):
        report = report_on(layer_class, backward, seed)
        assert report.ok
        assert report.diagnosis == []
        assert report.diagnose is list
        assert str(report).startswith("right, ")


@pytest.mark.parametrize("name", [name for name, setting in CATALOGUE.items() if setting.make()[0].parameters() == []])
@pytest.mark.parametrize("size", [1e-8, 1e-2])
def test_nothing_is_said_of_noise_but_an_example(name, size):
    """An honest mistake that has no pattern: dx is off by random numbers, in every entry."""
    setting = CATALOGUE[name]
    if not any(isinstance(value, np.ndarray) and value.dtype == np.float64 for value in setting.make()[1]):
        pytest.skip("has no gradient of its own")

    def noisy(self, dy, tape):
        dx = setting.layer_class.backward(self, dy, tape)
        rng = np.random.default_rng([abs(int(1e6 * np.sum(dy[0] if isinstance(dy, tuple) else dy)))])
        parts = dx if isinstance(dx, tuple) else (dx,)
        parts = tuple(part + size * rng.standard_normal(part.shape) for part in parts)
        return parts if isinstance(dx, tuple) else parts[0]

    for seed in range(3):
        layer, inputs, rng = setting.make(type("Noisy", (setting.layer_class,), {"backward": noisy}))
        report = check_gradients(layer, *inputs, rng=rng, seed=seed)
        assert not report
        kinds = {"example", "right parts", "wiring", "rounded", "linear"}
        assert {finding.what for finding in report.diagnosis} <= kinds


def test_the_example_is_small_and_its_arithmetic_is_right():
    report = check_gradients(returning(lambda dx: dx + dx**2), X)
    _, finding = report.diagnosis
    first, above, up, below, down, so, said = finding.text.replace("−", "-").split("\n")
    case = "s = [1., 2.], x = [[ 0.5, -1. ], [ 1.5,  0.2]], dy = [[ 0.1, -0.5], [ 2.1, -2.4]]"
    assert first == f"dx is wrong, for example with {case}:"
    assert (above, below) == ("    x[1, 1] = 0.2 + 0.001:", "    x[1, 1] = 0.2 - 0.001:")
    assert up.startswith("        S = Σ dy · y = ")
    slope = (float(up.split()[-1]) - float(down.split()[-1])) / 0.002
    assert slope == pytest.approx(-4.8)
    assert so == f"    So dS/dx[1, 1], their difference / 0.002, is {slope:.6f};"
    assert said == f"    backward says {-4.8 + 4.8**2:.6f}."


def test_the_product_rule_is_not_spoken_of_where_numbers_have_neighbours():
    """y = x mean(x), and dx = dy mean(x)."""

    class TimesMean(Own):
        def forward(self, x, tape=NO_TAPE):
            tape.keep(self, x)
            return x * mean(x)

    layer = TimesMean(lambda dy, x: dy * mean(x), None)
    report = check_gradients(layer, np.random.default_rng(0).standard_normal((N, D)))
    assert [finding.what for finding in report.diagnosis] == ["axis error"]


@pytest.mark.parametrize("method", TOLERANCES)
def test_either_method_is_enough(method):
    rng = np.random.default_rng(0)
    layer = RMSNorm(lambda dy, g, x, r: g * dy / r, rng)
    report = check_gradients(layer, rng.standard_normal((N, D)), tolerances={method: TOLERANCES[method]})
    assert '"through the norm" is missing' in report.diagnosis[0].text


def test_one_factor_on_everything_is_said_once():
    report = check_gradients(broken(forward=lambda self, x, tape: Scale.forward(self, x, tape) / 2), X)
    assert str(report).startswith("WRONG: every gradient is 2.000 times too large, everywhere: ")
    assert len(report.diagnosis) == 1
    assert report.diagnosis[0].where == "s, x"


def test_the_explanation_is_of_the_layer_as_it_was_and_leaves_all_as_it_is():
    layer = returning(lambda dx: dx + dx**2)
    x = X.copy()
    report = check_gradients(layer, x)
    layer.s.value[...] = 0
    layer.s.add_grad(np.full(3, 7.0))
    assert "with s = [1., 2.], x = " in report.diagnosis[-1].text
    np.testing.assert_array_equal(layer.s.value, 0)
    np.testing.assert_array_equal(layer.s.grad, 7)
    np.testing.assert_array_equal(x, X)
    assert report.diagnosis is report.diagnosis


def test_a_layer_that_cannot_be_explained_still_has_its_report():
    def forward(self, x, tape):
        if self.is_tired:
            raise RuntimeError("no more")
        return Scale.forward(self, x, tape)

    layer = broken(forward=forward, backward=lambda self, dy, tape: 2 * Scale.backward(self, dy, tape), is_tired=False)
    report = check_gradients(layer, X)
    layer.is_tired = True
    assert report.diagnosis == []
    assert str(report).startswith("WRONG, 9 derivatives of s, x; the worst:")
