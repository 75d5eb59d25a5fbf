"""Where Python stops, what helps is said; and what is said works."""

import os
import re
import sys
from pathlib import Path

import pytest

from npbert.learn import WRONG
from npbert.learn.exception_help import help_with
from tests.learn.answers import answered, right, right_answer

NORM = """
self.gamma.add_grad((dy * x_hat).sum(axis=0))
self.beta.add_grad(dy.sum(axis=0))
u = self.gamma.value * dy
a, b = u.mean(axis=-1, keepdims=True), (u * x_hat).mean(axis=-1, keepdims=True)
"""
ATTENTION = right(10)["DotProductAttention.attend_backward"]
TABLE = "dW = np.zeros_like(self.weight.value)\n"
DENSITY = "density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)\n"

MODULES = [vars(module) for name, module in sys.modules.items() if name.startswith("npbert")]
NAMES = sorted(name for name in set().union(*MODULES) if name.isidentifier() and not name.startswith("__"))
P = "p = np.exp(scores - largest) / total\n"
FITS = "In A @ B the last axis of A and the last but one of B must be equal"
SAID = [
    # exercise, what stands in its first blank, and all that is said of it
    (2, "return dx", "stops with NameError: name 'dx' is not defined", ":  return dx"),
    (2, "return sum_rows(dy)", "name 'sum_rows' is not defined", "or write it out: sum_rows(x) is x.sum(axis=0)."),
    (2, "return math.pi", "name 'math' is not defined", "Write `import math` at the top of the file."),
    (2, "return Dropout(0.1)", "name 'Dropout' is not defined", "`from npbert import Dropout` at the top"),
    (2, "return dy @ self.weight.value", "the shapes do not fit", FITS, "dy (7, 3), self.weight.value (5, 3)"),
    (2, "return np.stack([x.T] * 2) @ np.stack([dy] * 3)", "stops with ValueError: matmul", FITS),
    (2, "return np.einsum('no,io->ni', x, dy)", "ValueError: einsum: a letter has two sizes", "one size: two"),
    (2, "return dy @ self.weight", "stops with ", "write self.weight.value for its numbers."),
    (2, "a = dy[None]\nreturn a.T @ x[:, :2]", "stops with ", "a has 3 axes, and a.T turns all of them around."),
    (2, "import pdb; pdb.set_trace()", "BdbQuit: breakpoint() ends the check", "pdb.set_trace()\n", "Take them out"),
    (2, "return input()", "stops with EOFError", "breakpoint() and input() wait for something"),
    (2, "import sys\nsys.exit(3)", "stops with SystemExit: the file ends the program", "sys.exit(3)"),
    (
        8,
        "dy *= 1 if mask is None else mask / (1 - self.p)\nreturn dy",
        "backward writes into dy, which is the caller's",
    ),
    (2, "pass", "Backward returns 0 gradients, for inputs ['x']: is `return` forgotten?", ""),
    (2, "return 3.0", "dx has shape (), and x has shape (7, 5)", ""),
    (2, "return dy", "dx has shape (7, 3), and x has shape (7, 5).", "dW is 0 everywhere", "db is 0"),
    (8, "return dy * (np.random.default_rng().random(dy.shape) > 0.3) / 0.7", "dx is another one in a second call"),
    (1, "return np.full(x.shape, 'much')", "central_difference:"),
    (10, ATTENTION, "PaddedAttention is not finished: the `raise ", "` in line ", "DotProductAttention is right."),
    (2, "return dy * self.weight.value.T", "@ is the matrix product: (7, 3) @ (3, 5) fits."),
    (2, "dW = np.zeros_like(self.weight)\ndW[0, 0] += 1", "dW has no axes, as if it was made like a Parameter"),
    (2, "self.weight += x.T @ dy", "Backward adds to the gradient: self.weight.add_grad(…)."),
    (
        2,
        "return x.T @ dy, dy.sum(axis=0), dy",
        "returns 3 gradients, for inputs ['x']",
        "not returned, but handed over",
    ),
    (3, "return x", "Value_and_slope returns 1 thing, wanted 2 arrays: return y, slope"),
    (3, "return x, x[0]", "the slope of value_and_slope has the shape (5,), wanted (7, 5)"),
    (10, "return q, _transposed(k), v", "wanted (2, 3, 11, 5): the last two axes are swapped"),
    (2, "return Lineer(dy)", "Did you mean Linear?"),
    (2, "return zeros(3)", "Did you mean np.zeros?"),
    (2, "_nama_ = len(x)\nreturn _name_", "Did you mean _nama_?"),  # and not __name__, which Python has put there
    (3, DENSITY + "return self.value(x), cdf(x) + x * density", "Did you mean _cdf?"),
    (3, "return x, math.exp(-x)", "For whole arrays write np.exp."),
    (3, "return x, math.erf(x)", "`from npbert.compute import erf` brings one that takes whole arrays."),
    (3, "return x, np.exp(-x^2)", "In Python ^ does not mean a power: write x ** 2, or x * x."),
    (3, "return x, x if x > 0 else 0", "An array holds many numbers, so it is neither true nor false."),
    (5, "p = softmax(scores)", "What it takes is there already: p = np.exp(scores - largest) / total."),
    (6, "np.add.at(self.weight, ids, dy)", "holds two arrays, .value and .grad. Backward adds to the gradient: self."),
    (6, "np.add.at(self.weight.value, ids, dy)", "Backward changes the value of weight", "belongs in the gradient"),
    (6, TABLE + "for id in ids:\n    dW[id] += dy[id]", "An id is a row of the table; dy has a row for each place n"),
    (6, TABLE + "return dW", "Backward returns 1 gradient, for inputs []", "ids have none"),
    (7, NORM + "return (u - u.mean(axis=-1)) / sigma", "With keepdims=True a sum or a mean stays a column, (7, 1)"),
    (8, "return dy * mask / (1 - self.p)", "mask is None when nothing is dropped: y is x then, and dx is dy."),
    (8, "return dy if mask == None else dy * mask", "Whether there is one at all is asked with `is None`."),
    (9, "return self.drop.backward(dy, tape), dy", "Did you mean dropout?"),
]


@pytest.fixture
def said(judge):
    """said(number, text) -> all that is said of a file with this text, which is not right."""
    return lambda number, text: "{0.status}: {0.says}\n\n{0.because}".format(judge(number, text, mends=False))


def test_an_import_that_is_advised_works():
    advised = {name: re.search(r"Write `(.*)` at the top", help_with(NameError(name=name), "", {})) for name in NAMES}
    imports = {name: found[1] for name, found in advised.items() if found}
    assert len(imports) > 100
    assert imports["softmax"] == "from npbert.layers.softmax import softmax", "not its module, which has the same name"
    for name, line in imports.items():
        exec(line, brought := {})
        assert name in brought


@pytest.mark.parametrize("row", SAID, ids=[f"{number} {body[:30]}" for number, body, *_ in SAID])
def test_what_is_wrong_and_what_helps_is_said(row, said, monkeypatch):
    number, body, *wanted = row
    with Path(os.devnull).open() as nothing, monkeypatch.context() as patch:
        patch.setattr("sys.stdin", nothing)
        found = said(number, answered(number, body)).lower()
    assert [words for words in (WRONG, *wanted) if words.lower() not in found] == []


def test_what_is_kept_on_self_and_not_on_the_tape_is_said_before_all_else(said):
    linear = right_answer(2).replace("x.T", "self.x.T").replace("tape.keep(", "self.x = x\n        tape.keep(")
    assert "dx is right after one forward" not in said(2, linear)  # it is x that is another one then, so dW
    text = answered(8, "return self.apply(dy, self.mask)").replace("tape.keep(", "self.mask = mask\n        tape.keep(")
    assert "dx is another one when another call comes between (is something kept on self" in said(8, text)
