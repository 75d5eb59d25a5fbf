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
from tests.gradcheck.small import changed
from tests.tables import one_in


def n(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


CALLS = {  # by name: the arguments
    "sandwich": ("sandwich_forward", "sandwich_backward", n(4, 2, 3), n(6, 5), n(5)),
    "dropout": ("dropout_forward", "dropout_backward", n(4, 5), {"p": 0.7, "seed": 3}),
    "lstm": ("lstm_forward", "lstm_backward", n(3, 2), n(3, 4)),
    "minitorch": ("Log", 2.5),
    "tinytorch": (np.matmul, "MatmulBackward", n(3, 4), n(4, 5)),
}
WRONG = [  # what is right, and what makes it wrong
    ("lstm", "(1 - np.tanh(next_c) ** 2)", "(1 + np.tanh(next_c) ** 2)"),
    ("sandwich", "dx[cache <= 0] = 0", "dx[cache >= 0] = 0"),
    ("dropout", "return dout * mask", "return dout"),
    ("minitorch", "return d_output / a", "return d_output * a"),
    ("tinytorch", "np.matmul(grad_output, b.data.T)", "np.matmul(grad_output, b.data)"),
]


def arguments(name, things):
    return [getattr(things, each) if isinstance(each, str) else each for each in CALLS[name]]


@pytest.mark.parametrize("name", ["minitorch", "tinytorch"])  # the others are among the styles
def test_what_is_right_is_proved(name):
    assert assert_proved(*arguments(name, courses)).proof


@pytest.mark.parametrize(("name", "old", "new"), one_in(4, WRONG))
def test_of_what_is_wrong_the_line_is_named(name, old, new, tmp_path):
    things, line = changed(courses, old, new, tmp_path)
    with pytest.raises(GradientError, match=f"line {line} of mine.py"):
        assert_proved(*arguments(name, things))


def test_what_casts_to_float32_is_right_by_differences_and_the_report_says_so():
    report = assert_proved(lambda a, b: a @ b, courses.MatmulBackward, courses.Tensor(n(3, 4)), courses.Tensor(n(4, 5)))
    assert not report.proof and "by estimates, not proved" in str(report)
    assert list(report.worst) == ["finite differences of float32"]


def test_a_jax_custom_vjp():
    """By its functions, which is all that is asked of it: JAX itself is not needed."""
    scaled = SimpleNamespace(fun=lambda x, k: np.exp(x) * k, nondiff_argnums=(1,))
    scaled.fwd = lambda x, k: (scaled(x, k), np.exp(x))  # which JAX alone can call
    scaled.bwd = lambda k, residuals, g: (g * k * residuals, None)
    assert assert_proved(scaled, n(3, 4), 3).proof
    scaled.bwd = lambda k, residuals, g: (g * residuals, None)
    assert not check_gradients(scaled, n(3, 4), 3).ok


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
F = (lambda a, b: (a * b, (a, b)), A, A)


@pytest.mark.parametrize(
    ("backward", "says"),
    [
        (lambda d, cache: d * cache[1], r"returns 1 gradient, for inputs \['a', 'b'\]"),
        (lambda d, cache: 1 / 0, r"backward raises ZeroDivisionError, at line \d+ of .*test_others.py"),
        (lambda d, cache: None, "backward returns None: it is not written yet, or lacks a `return`"),
        (lambda d, cache: (None,), "backward returns None: it is not written yet"),
    ],
)
def test_a_backward_without_gradients_is_told(backward, says):
    with pytest.raises(GradientError, match=says):
        assert_proved(F[0], backward, *F[1:])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((F[0], lambda d, cache: d, A, A, "c"), "wrt has c, wanted inputs: a, b"),
        ((lambda x, y: (x.sum(), np.ones(2)), A, n(4)), r"which no remaining input has; name their inputs, as in wrt="),
        (
            (lambda x: (x, {"x": x}), lambda *given: given[0], A),
            r"returns \(ndarray, dict\), wanted",
        ),
        ((np.tanh, A), "alone gives no gradients: wanted a layer"),
        ((F[0](A, A), lambda d, cache: d, A), r"^\(ndarray, tuple\) is not a known form.*pass the function itself"),
    ],
)
def test_what_is_no_form_is_told(given, says):
    options = {"wrt": [given[-1]]} if isinstance(given[-1], str) else {}
    with pytest.raises((TypeError, ValueError), match=says):
        assert_proved(*given[: len(given) - len(options)], **options)


def test_whose_the_gradients_are():
    assert_proved(F[0], lambda d, cache: (d * cache[1], None), A, A)
    assert assert_proved(F[0], lambda d, cache: d * cache[0], A, A, wrt=["b"]).sizes == {"b": 3}


def todo(*given):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("functions", "says"),
    [
        ([lambda x: (None, x), lambda d, x: None], "forward returns None: it is not written yet, or lacks a `return`"),
        ([np.exp, todo], r"backward is not written yet, at line \d+ of .*test_others.py"),
        ([todo, np.exp], r"forward is not written yet, at line \d+ of .*test_others.py"),
        ([lambda x: (0.0, np.zeros(3))], "forward returns 0 for every input: it is not written yet"),
        ([lambda x: x * RNG.random(), np.multiply], "another y in a second call"),
    ],
)
def test_a_forward_that_is_not_filled_or_draws_anew_is_told(functions, says):
    with pytest.raises(GradientError, match=says):
        assert_proved(*functions, A)


@pytest.mark.parametrize(
    ("variance", "is_lost"),
    [(lambda x: (x**2).mean() - x.mean() ** 2, True), (lambda x: ((x - x.mean()) ** 2).mean(), False)],
)
def test_a_forward_that_loses_all_digits_is_told(variance, is_lost):
    report = assert_proved(variance, lambda d, x: d * 2 * (x - x.mean()) / len(x), n(5))
    assert ("Forward loses all digits if x is near 10⁸" in str(report)) == is_lost


def test_forward_is_compared_with_a_reference_and_tried_with_large_numbers():
    naive = (lambda x: (np.exp(x) / (1 + np.exp(x)), x), lambda d, x: d * np.exp(x) / (1 + np.exp(x)) ** 2, A)
    overflows = "Forward returns NaN or ∞ if x is as large as 800"
    assert overflows in str(assert_proved(*naive, forward=lambda x: 1 / (1 + np.exp(-x))))
    with pytest.raises(GradientError, match=r"forward is wrong: y\[\d\] is 0\..*, but the reference has 0\."):
        assert_proved(*naive, forward=lambda x: 1 / (1 + np.exp(x)))
    with pytest.raises(GradientError, match=r"forward returns y of shape \(3,\), but the reference \(1, 3\)"):
        assert_proved(*naive, forward=lambda x: x[None])
    rest = assert_proved(lambda x: np.log(1 - 1 / (1 + np.exp(-x))), lambda d, x: -d / (1 + np.exp(-x)), A)
    assert overflows in str(rest)  # −∞ from 37 on
    assert "Forward" not in str(assert_proved(lambda x: (np.exp(x), x), lambda d, x: d * np.exp(x), A))


def test_the_fixture_fails_with_the_report_alone(tmp_path):
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
    assert re.search(r"FAIL: dx is wrong; line 9 of test_mine.py.*\n.*return d \* x", out) and "Traceback" not in out
