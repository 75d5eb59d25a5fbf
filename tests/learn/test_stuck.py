"""Where Python stops, what helps is said; and what is said works."""

import importlib
import re
import sys
from types import ModuleType

import numpy as np
import pytest

from npbert.learn.stuck import help_with
from tests.learn.answering import answered

NORM = """
self.gamma.add_grad((dy * x_hat).sum(axis=0))
self.beta.add_grad(dy.sum(axis=0))
u = self.gamma.value * dy
a, b = u.mean(axis=-1, keepdims=True), (u * x_hat).mean(axis=-1, keepdims=True)
"""
LINEAR = """
self.weight.add_grad(x.T @ dy)
self.bias.add_grad(dy.sum(axis=0))
return dy @ self.weight.value.T
"""
TABLE = "dW = np.zeros_like(self.weight.value)\n"
HALVES = """
ds = self.output_norm.backward(dy, tape)
dh = ds + self.feed_forward.backward(self.dropout.backward(ds, tape), tape)
dt = self.attention_norm.backward(dh, tape)
dx, dz = self.attention.backward(self.dropout.backward(dt, tape), tape)
"""
BACKWARD = {
    2: "Linear.backward",
    3: "GELU.value_and_slope",
    4: "Softmax.backward",
    5: "SoftmaxCrossEntropy.backward",
    6: "Embedding.backward",
    7: "LayerNorm.backward",
    8: "Dropout.backward",
    9: "EncoderLayer.backward",
}
DENSITY = "density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)\n"

NAMES = sorted(
    {
        name
        for module in list(sys.modules)
        if module.startswith("npbert")
        for name in vars(sys.modules[module])
        if not name.startswith("__")
    }
)
P = "p = np.exp(scores - largest) / total\n"
SAID = [
    (2, "return dy * self.weight.value.T", "@ is the matrix product: (7, 3) @ (3, 5) fits."),
    (2, "dW = np.zeros_like(self.weight)\ndW[0, 0] += 1", "dW has no axes, as if it was made like a Parameter"),
    (2, "self.weight += x.T @ dy", "Backward adds to the gradient: self.weight.add_grad(…)."),
    (2, "self.weight[0] = 0", "Backward adds to the gradient: self.weight.add_grad(…)."),
    (2, "return x.T @ dy, dy.sum(axis=0), dy", "not returned, but handed over: self.weight.add_grad(…), self.bias"),
    (2, LINEAR.replace("return dy", "return 3 #"), "Backward returns an int for dx, wanted an array."),
    (2, "return Lineer(dy)", "Did you mean Linear?"),
    (2, "return zeros(3)", "Did you mean np.zeros?"),
    (3, DENSITY + "return self.value(x), cdf(x) + x * density", "Did you mean _cdf?"),
    (3, "return x, math.exp(-x)", "For whole arrays write np.exp."),
    (3, "return x, math.erf(x)", "`from npbert.compute import erf` brings one that takes whole arrays."),
    (3, "return x, np.exp(-x^2)", "In Python ^ is no power: write x ** 2, or x * x."),
    (3, "return x, x if x > 0 else 0", "An array holds many numbers, so it is neither true nor false."),
    (5, "p = softmax(scores)", "What it takes is there already: p = np.exp(scores - largest) / total."),
    (6, "np.add.at(self.weight, ids, dy)", "holds two arrays, .value and .grad. Backward adds to the gradient: self."),
    (6, "np.add.at(self.weight.value, ids, dy)", "Backward changes the value of weight, which only an optimiser may"),
    (6, TABLE + "for id in ids:\n    dW[id] += dy[id]", "An id is a row of the table; dy has a row for each place n"),
    (7, NORM + "return (u - u.mean(axis=-1)) / sigma", "With keepdims=True a sum or a mean stays a column, (7, 1)"),
    (8, "return dy * mask / (1 - self.p)", "mask is None when nothing is dropped: y is x then, and dx is dy."),
    (8, "return dy if mask == None else dy * mask", "Whether there is one at all is asked with `is None`."),
    (9, HALVES.replace("dropout.b", "drop.b"), "Did you mean dropout?"),
]


@pytest.fixture
def said(wrong):
    """said(number, text) -> all that is said of a file with this text."""

    def said(number, text):
        verdict = wrong(number, text)
        return f"{verdict.says}\n\n{verdict.because}"

    return said


def test_an_import_that_is_advised_works():
    advised = (re.search(r"from (\S+) import (\w+)", help_with(NameError(name=name), "", {})) for name in NAMES)
    pairs = {found.groups() for found in advised if found is not None}
    assert len(pairs) > 100
    for module, name in pairs:
        thing = getattr(importlib.import_module(module), name)
        assert not isinstance(thing, ModuleType), (module, name)
        assert getattr(thing, "__module__", "npbert").startswith("npbert"), (module, name)


def test_a_function_is_imported_from_its_module_where_both_have_one_name():
    assert "`from npbert.layers.softmax import softmax`" in help_with(NameError(name="softmax"), "", {})
    assert "`from npbert import Dropout`" in help_with(NameError(name="Dropout"), "", {})


@pytest.mark.parametrize(("number", "body", "says"), SAID)
def test_what_helps_is_said(number, body, says, said):
    assert says.lower() in said(number, answered(number, {BACKWARD[number]: body})).lower()


def test_the_mask_of_another_dropout_can_be_applied_where_it_is_none():
    class Attention:
        dropout = type("Dropout", (), {"apply": None})()

    error = TypeError("unsupported operand type(s) for *: 'float' and 'NoneType'")
    code, variables = "return dy * mask", {"mask": None, "self": Attention()}
    assert "self.dropout.apply(x, mask) takes a mask that is None, too" in help_with(error, code, variables)
    assert "apply" not in help_with(error, code, {"mask": None})


def test_what_is_kept_on_self_and_not_on_the_tape_is_said_before_all_else(said):
    text = answered(2, {"backward": LINEAR.replace("x.T", "self.x.T").replace("return", "self.dy = dy\nreturn")})
    text = text.replace("tape.keep(self, x)", "tape.keep(self, x)\n        self.x = x")
    assert "dx is right after one forward" not in said(2, text)
    text = answered(8, {"backward": "return self.apply(dy, self.mask)"})
    text = text.replace("tape.keep(", "self.mask = mask\n        tape.keep(")
    assert said(8, text).startswith("dx is right after one forward, but not when another forward comes between")


@pytest.mark.parametrize("rows", [(7,), (3, 7), (2, 3, 7)])
def test_shapes_that_differ_by_the_last_axis_are_told_apart_from_others(rows):
    with pytest.raises(ValueError, match="broadcast") as caught:
        np.zeros((*rows, 5)) + np.zeros(rows)
    assert f"{rows} has one number for each row of {(*rows, 5)}" in help_with(caught.value, "return a + b", {})
    with pytest.raises(ValueError, match="broadcast") as caught:
        np.zeros((*rows, 5)) + np.zeros(4)
    assert help_with(caught.value, "return a + b", {}) == ""
