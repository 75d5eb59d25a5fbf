"""What others write, as they write it: judged rightly, and the wrong line named."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from npbert.gradcheck import GradientError, assert_proved, check_gradients
from tests.gradcheck import courses
from tests.gradcheck.attacks.formulas import sigmoid
from tests.gradcheck.small import changed
from tests.tables import one_in


def n(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


CALLS = {  # by name: the arguments
    "sandwich": lambda m: (m.sandwich_forward, m.sandwich_backward, n(4, 2, 3), n(6, 5), n(5)),
    "dropout": lambda m: (m.dropout_forward, m.dropout_backward, n(4, 5), {"p": 0.7, "seed": 3}),
    "lstm": lambda m: (m.lstm_forward, m.lstm_backward, n(3, 2), n(3, 4)),
    "dicts": lambda m: (m.dense_forward, m.dense_backward, n(4, 3), {"W": n(3, 2), "b": n(2)}),
    "minitorch": lambda m: (m.Log, 2.5),
    "tinytorch": lambda m: (np.matmul, m.MatmulBackward, n(3, 4), n(4, 5)),
}
WRONG = [  # what is right, and what makes it wrong
    ("lstm", "(1 - np.tanh(next_c) ** 2)", "(1 + np.tanh(next_c) ** 2)"),
    ("sandwich", "dx[cache <= 0] = 0", "dx[cache >= 0] = 0"),
    ("dropout", "return dout * mask", "return dout"),
    ("dicts", '"db": dy.sum', '"db": dy.mean'),
    ("minitorch", "return d_output / a", "return d_output * a"),
    ("tinytorch", "np.matmul(grad_output, b.data.T)", "np.matmul(grad_output, b.data)"),
]


def test_what_is_right_is_proved():
    """The others are among the styles of tests/gradcheck/attacks."""
    assert assert_proved(*CALLS["minitorch"](courses)).proof


@pytest.mark.parametrize(("name", "old", "new"), one_in(4, WRONG))
def test_of_what_is_wrong_the_line_is_named(name, old, new, tmp_path):
    things, line = changed(courses, old, new, tmp_path)
    with pytest.raises(GradientError, match=f"line {line} of mine.py"):
        assert_proved(*CALLS[name](things))


def test_what_casts_to_float32_is_right_by_differences_and_the_report_says_so():
    report = assert_proved(lambda a, b: a @ b, courses.MatmulBackward, courses.Tensor(n(3, 4)), courses.Tensor(n(4, 5)))
    assert not report.proof and "by estimates, not proved" in str(report)
    assert list(report.worst) == ["finite differences of float32"]


def test_a_jax_custom_vjp():
    """By its functions, which is all that is asked of it: JAX itself is not needed."""

    class CustomVjp(SimpleNamespace):
        def __call__(self, *inputs):
            raise TypeError("only JAX's own arrays")

    scaled = CustomVjp(fun=lambda x, k: np.exp(x) * k, nondiff_argnums=(1,))
    scaled.fwd = lambda x, k: (scaled(x, k), np.exp(x))
    for factor in (1, 2):
        scaled.bwd = lambda k, residuals, g, factor=factor: (factor * g * k * residuals, None)
        assert check_gradients(scaled, n(3, 4), 3).proof.verdict == ("proved" if factor == 1 else "refuted")


@pytest.mark.torch
def test_a_function_of_torch_is_proved_with_numpy_inside_and_compared_with_torch_inside():
    import torch

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.y = np.exp(x.detach().numpy())
            return torch.from_numpy(ctx.y)

        @staticmethod
        def backward(ctx, grad):
            return torch.as_tensor(grad.numpy() * ctx.y)

    class Slow(Exp):
        @staticmethod
        def forward(ctx, x):
            ctx.y = torch.exp(x)
            return ctx.y

        @staticmethod
        def backward(ctx, grad):
            return grad + ctx.y

    assert assert_proved(Exp, n(3, 4)).proof
    report = check_gradients(Slow, torch.from_numpy(n(3, 4)))
    assert report.wrong and "finite differences" in report.worst


A, RNG = n(3), np.random.default_rng(0)


def product(a, b):
    return a * b, (a, b)


def todo(*given):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("given", "options", "error", "says"),
    [
        ((product, lambda d, cache: d * cache[1]), {}, GradientError, r"returns 1 gradient, for inputs \['a', 'b'\]"),
        (
            (product, lambda d, cache: 1 / 0),
            {},
            GradientError,
            r"raises ZeroDivisionError, at line \d+ of .*_others.py",
        ),
        ((product, lambda d, cache: (None,)), {}, GradientError, "backward returns None: it is not written yet, or"),
        (
            (lambda a, b: (None, a), lambda d, cache: 0),
            {},
            GradientError,
            "forward returns None: it is not written yet",
        ),
        ((np.multiply, todo), {}, GradientError, r"backward is not written yet, at line \d+ of .*test_others.py"),
        ((todo, np.multiply), {}, GradientError, r"forward is not written yet, at line \d+ of .*test_others.py"),
        ((lambda a, b: (0.0, np.zeros(3)),), {}, GradientError, "forward returns 0 for every input: it is not written"),
        ((lambda a, b: a * RNG.random(), np.multiply), {"wrt": "a"}, GradientError, "another y in a second call"),
        ((product, lambda d, cache: d), {"wrt": "c"}, ValueError, "wrt has c, wanted inputs: a, b"),
        ((lambda a, b: (a.sum(), np.ones(2)),), {}, ValueError, "which no remaining input has; name their inputs"),
        ((lambda a, b: (a, {"b": b}), lambda *given: given[0]), {}, TypeError, r"returns \(ndarray, dict\), wanted"),
        ((np.multiply,), {}, TypeError, "alone gives no gradients: wanted a layer"),
        ((product(A, A), todo), {}, TypeError, r"^\(tuple, todo\) is not a known form.*pass the function itself"),
        ((SimpleNamespace(backward=todo),), {}, TypeError, r"^\(SimpleNamespace\) is not a known form"),
        ((lambda a, b: memoryview(n(2, 2))[0], todo), {}, NotImplementedError, "sub-views"),
    ],
)
def test_what_cannot_be_checked_is_told(given, options, error, says):
    with pytest.raises(error, match=says):
        assert_proved(given, A, A, **options)


def test_whose_the_gradients_are():
    assert assert_proved(product, lambda d, cache: d * cache[0], A, A, wrt=["b"]).sizes == {"b": 3}


@pytest.mark.parametrize(
    ("variance", "is_lost"),
    [(lambda x: (x**2).mean() - x.mean() ** 2, True), (lambda x: ((x - x.mean()) ** 2).mean(), False)],
)
def test_a_forward_that_loses_all_digits_is_told(variance, is_lost):
    report = assert_proved(variance, lambda d, x: d * 2 * (x - x.mean()) / len(x), n(5))
    assert ("Forward loses all digits if x is near 10⁸" in str(report)) == is_lost


NAIVE = (lambda x: np.exp(x) / (1 + np.exp(x)), lambda d, x: d * sigmoid(x) * sigmoid(-x), A)


@pytest.mark.parametrize(
    ("functions", "overflows"),
    [
        (NAIVE, True),
        ((lambda x: np.log(1 - sigmoid(x)), lambda d, x: -d * sigmoid(x), A), True),  # −∞ from 37 on
        ((np.exp, lambda d, x: d * np.exp(x), A), False),  # ∞ is right
    ],
)
def test_forward_is_tried_with_large_numbers(functions, overflows):
    assert ("Forward returns NaN or ∞ if x is as large as 800" in str(assert_proved(*functions))) == overflows


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        (lambda x: sigmoid(-x), r"forward is wrong: y\[\d\] is 0\..*, but the reference has 0\."),
        (lambda x: sigmoid(x)[None], r"forward returns y of shape \(3,\), but the reference \(1, 3\)"),
    ],
)
def test_forward_is_compared_with_a_reference(reference, says):
    assert assert_proved(*NAIVE, forward=sigmoid).proof
    with pytest.raises(GradientError, match=says):
        assert_proved(*NAIVE, forward=reference)


def test_the_fixture_fails_with_the_report_below_the_line_of_the_test(tmp_path):
    (tmp_path / "test_mine.py").write_text(
        "import sys\n\n\ndef f(x):\n    return x**2\n\n\ndef vjp(d, x):\n    return d * x\n\n\n"
        "def test_nothing():\n    assert 'numpy' not in sys.modules\n\n\n"
        "def test_mine(assert_proved):\n    import numpy as np\n\n    assert_proved(f, vjp, np.ones(3))\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "npbert.pytest_plugin", "-q", str(tmp_path)]
    root = str(Path(__file__).parents[2])  # where npbert is installed, its plugin would come twice
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": root}
    out = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=alone).stdout
    assert "1 failed, 1 passed" in out
    assert re.search(r"FAIL: dx is wrong; line 9 of test_mine.py.*\n.*return d \* x", out) and "check.py" not in out
