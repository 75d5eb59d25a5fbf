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
from tests.tables import one_in

SOURCE = Path(courses.__file__).read_text(encoding="utf-8")


def n(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


LABELS = np.array([0, 2, 1, 1, 2])
CALLS = {  # by name: the arguments
    "sandwich": ("sandwich_forward", "sandwich_backward", n(4, 2, 3), n(6, 5), n(5)),
    "dropout": ("dropout_forward", "dropout_backward", n(4, 5), {"p": 0.7, "seed": 3}),
    "max_pool": ("max_pool_forward", "max_pool_backward", n(6, 2), 3),
    "svm": ("svm_loss", n(4, 3), n(5, 4), LABELS, 0.1),
    "lstm": ("lstm_forward", "lstm_backward", n(3, 2), n(3, 4)),
    "minitorch": ("Log", 2.5),
    "tinytorch": (np.matmul, "MatmulBackward", n(3, 4), n(4, 5)),
}


def arguments(name, things):
    return [getattr(things, each) if isinstance(each, str) else each for each in CALLS[name]]


@pytest.mark.parametrize("name", ["minitorch", "tinytorch"])  # the others are among the styles
def test_what_is_right_is_proved(name):
    assert assert_proved(*arguments(name, courses)).proof


@pytest.mark.parametrize(
    ("name", "old", "new"),
    one_in(
        4,
        [
            ("sandwich", "dx[cache <= 0] = 0", "dx[cache >= 0] = 0"),
            ("dropout", "return dout * mask", "return dout"),
            ("max_pool", "(window == np.max(window, axis=0))", "(window == np.max(window))"),
            ("svm", "slopes[rows, y] -= ", "slopes[rows, y] += "),
            ("lstm", "(1 - np.tanh(next_c) ** 2)", "(1 + np.tanh(next_c) ** 2)"),
            ("minitorch", "return d_output / a", "return d_output * a"),
            ("tinytorch", "np.matmul(grad_output, b.data.T)", "np.matmul(grad_output, b.data)"),
        ],
    ),
)
def test_of_what_is_wrong_the_line_is_named(name, old, new, tmp_path):
    file, things = tmp_path / "mine.py", {"__name__": "mine"}
    assert SOURCE.count(old) == 1
    file.write_text(SOURCE.replace(old, new), encoding="utf-8")
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), things)
    with pytest.raises(GradientError, match=f"line {SOURCE[: SOURCE.index(old)].count(chr(10)) + 1} of mine.py"):
        assert_proved(*arguments(name, SimpleNamespace(**things)))


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
def test_a_function_of_torch_is_proved_with_numpy_inside_and_compared_with_torch_or_float32_inside():
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

    def of_float32(x):
        return torch.tensor(x, dtype=torch.float32).numpy() ** 2

    assert assert_proved(Exp, n(3, 4)).proof
    assert not assert_proved(of_float32, lambda dy, x: np.float32(2 * dy * x), n(3, 4)).proof
    with pytest.raises(
        GradientError, match=r"(?s)line \d+ of test_others.py.*return grad \* ctx.y.*finite differences"
    ):
        assert_proved(Slow, torch.from_numpy(n(3, 4)))


def test_whose_the_gradients_are():
    def f(a, b):
        return a * b, (a, b)

    assert_proved(f, lambda d, cache: (d * cache[1], None), n(3), n(3))
    assert assert_proved(f, lambda d, cache: d * cache[0], n(3), n(3), wrt=["b"]).sizes == {"b": 3}
    with pytest.raises(GradientError, match=r"returns 1 gradient, for inputs \['a', 'b'\]"):
        assert_proved(f, lambda d, cache: d * cache[1], n(3), n(3))
    with pytest.raises(GradientError, match=r"returns 2 gradients, for inputs \['w'\]"):  # whole numbers have none
        assert_proved(lambda ids, w: w[ids], lambda d, ids, w: (d, d), np.arange(3), n(3))
    with pytest.raises(ValueError, match="wrt has c, wanted inputs: a, b"):
        assert_proved(f, lambda d, cache: d, n(3), n(3), wrt=["c"])
    with pytest.raises(ValueError, match=r"which no remaining input has; name their inputs, as in wrt=\('x',\)"):
        assert_proved(lambda x, y: (x.sum(), np.ones(2)), n(3), n(4))
    with pytest.raises(GradientError, match=r"returns 1 gradient, .* one for each NumPy array of floats, or None"):
        assert_proved(lambda a, b, c: a * b * c, lambda d, a, b, c: d, n(3), n(3), n(3))
    with pytest.raises(TypeError, match=r"returns \(ndarray, dict\), wanted .*, and not backward\(\*args\)"):
        assert_proved(lambda x: (x, {"x": x}), lambda *given: given[0], n(3))
    with pytest.raises(TypeError, match="alone gives no gradients: wanted a layer"):
        assert_proved(np.tanh, n(3))
    with pytest.raises(TypeError, match=r"^\(ndarray, tuple\) is not a known form.*pass the function itself"):
        assert_proved(f(n(3), n(3)), lambda d, cache: d, n(3), n(3))


def test_of_an_output_of_one_number_a_wrong_gradient_is_told():
    with pytest.raises(GradientError, match=r"FAIL: dx is 2\.000 times too large"):
        assert_proved(lambda x: (x.sum(axis=1), x), lambda d, x: 2 * d[:, None] * np.ones_like(x), np.ones((1, 3)))


def test_what_backward_raises_and_what_is_drawn_anew_is_told():
    with pytest.raises(GradientError, match=r"backward raises ZeroDivisionError, at line \d+ of .*test_others.py"):
        assert_proved(np.tanh, lambda d, x: 1 / 0, n(3))
    rng = np.random.default_rng(0)
    with pytest.raises(GradientError, match="another y in a second call: give it a seed"):
        assert_proved(lambda x: x * rng.random(), lambda d, x: d, n(3))


def filled(x):
    return np.exp(x) / (1 + np.exp(x)), x


def template(dout, cache):
    return None


def todo(*given):
    raise NotImplementedError


def slope(dout, x):
    return dout * np.exp(x) / (1 + np.exp(x)) ** 2


@pytest.mark.parametrize(
    ("forward", "backward", "says"),
    [
        (lambda x: (None, x), template, "forward returns None: it is not written yet, or lacks a `return`"),
        (filled, template, "backward returns None: it is not written yet, or lacks a `return`"),
        (filled, lambda dout, cache: (None,), "backward returns None: it is not written yet"),
        (filled, todo, r"backward is not written yet, at line \d+ of .*test_others.py"),
        (todo, slope, r"forward is not written yet, at line \d+ of .*test_others.py"),
        (lambda x: (0.0, np.zeros(3)), None, "forward returns 0 for every input: it is not written yet"),
    ],
)
def test_a_template_that_is_not_filled_is_told(forward, backward, says):
    functions = [forward] if backward is None else [forward, backward]
    with pytest.raises(GradientError, match=says):
        assert_proved(*functions, n(3))


@pytest.mark.parametrize(
    ("variance", "is_lost"),
    [(lambda x: (x**2).mean() - x.mean() ** 2, True), (lambda x: ((x - x.mean()) ** 2).mean(), False)],
)
def test_a_forward_that_loses_all_digits_is_told(variance, is_lost):
    report = assert_proved(variance, lambda d, x: d * 2 * (x - x.mean()) / len(x), n(5))
    assert ("Forward loses all digits if x is near 10⁸" in str(report)) == is_lost


def test_forward_is_compared_with_a_reference_and_tried_with_large_numbers():
    report = assert_proved(filled, slope, n(3), forward=lambda x: 1 / (1 + np.exp(-x)))
    assert "Forward returns NaN or ∞ if x is as large as 800" in str(report)
    with pytest.raises(GradientError, match=r"forward is wrong: y\[\d\] is 0\..*, but the reference has 0\."):
        assert_proved(filled, slope, n(3), forward=lambda x: 1 / (1 + np.exp(x)))
    with pytest.raises(GradientError, match=r"forward returns y of shape \(3,\), but the reference \(1, 3\)"):
        assert_proved(filled, slope, n(3), forward=lambda x: x[None])
    rest = assert_proved(lambda x: np.log(1 - 1 / (1 + np.exp(-x))), lambda d, x: -d / (1 + np.exp(-x)), n(3))
    assert "Forward returns NaN or ∞ if x is as large as 800" in str(rest)  # −∞ from 37 on
    assert "Forward" not in str(assert_proved(lambda x: (np.exp(x), x), lambda d, x: d * np.exp(x), n(3)))
    assert "Forward" not in str(assert_proved(np.maximum, lambda d, x, y: (d * (x > y), d * (x <= y)), n(3), -n(3)))


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
