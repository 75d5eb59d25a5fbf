"""Objects with state, as they are: judged rightly, their gradients found by one rule, and left as they were."""

import copy
import inspect
import re

import numpy as np
import pytest

from npbert.gradcheck import REFUTED, GradientError, check_gradients
from tests.gradcheck import objects
from tests.gradcheck.objects import n
from tests.tables import one_in

X, IDS, LABELS = n(5, 4), np.array([0, 3, 3, 1, 4]), np.array([0, 2, 1, 1, 2])
CASES = {  # by name: the inputs, and what the report says of parameters and gradients
    "Dense": ([X], "Parameters W, b; their gradients dW, db."),
    "InDicts": ([X], 'Parameters params["W"], params["b"]; their gradients grads["W"], grads["b"].'),
    "InLists": ([X], "Parameters params[0], params[1]; their gradients grads[0], grads[1]."),
    "Added": ([IDS], "Parameters table.data, scale.data; their gradients table.grad, scale.grad."),
    "Returned": ([X], "Parameters W, b; their gradients returned[1], returned[2]."),
    "OtherNames": ([X], "Parameters kernel, offset; their gradients g1, g2."),
    "Silent": ([X], "Parameters W, b; their gradients dW, db."),
    "Steps": ([X], "Parameters W, b; their gradients W -=, b -=."),
    "Network": ([IDS], "…, out.b; their gradients"),
    "SoftmaxLoss": ([n(5, 3), LABELS], ""),
    "Tied": ([X], "Parameters first.W, first.b, last.b; their gradients first.dW + last.dW, first.db, last.db."),
    "CourseNet": ([X, LABELS], 'their gradients returned["W1"], returned["b1"], returned["W2"], returned["b2"].'),
}
WRONG = [  # what is right, and what makes it wrong; and which parameter is wrong by it
    ("Dense", "self.db = dout.sum(axis=0)", "self.db = dout.mean(axis=0)", "b"),
    (
        "Added",
        "np.add.at(self.table.grad, self.ids, dy * self.scale.data)",
        "self.table.grad[self.ids] += dy",
        "table.data",
    ),
    ("OtherNames", "self.a.T @ out_grad", "-self.a.T @ out_grad", "kernel"),
    ("Silent", "self.dinputs = dvalues", "self.dinputs = -dvalues", "inputs"),
    ("Steps", "learning_rate * grad.sum", "grad.mean", "b"),
    ("Tied", "self.last.backward(dy)", "dy @ self.last.W.T", "first.W"),
    ("CourseNet", "+ self.reg *", "+ 2 * self.reg *", 'params["W1"]'),
]


@pytest.mark.parametrize("name", CASES)
def test_what_is_right_is_proved_and_left_as_it_was(name):
    inputs, says = CASES[name]
    thing = getattr(objects, name)()
    before = copy.deepcopy(thing)
    report = check_gradients(thing, *inputs)
    assert report.proof and says in str(report)
    np.testing.assert_equal(vars_of(thing), vars_of(before))


def vars_of(thing):
    """All that an object holds, as dicts and lists."""
    if isinstance(thing, list):
        return list(map(vars_of, thing))
    named = thing if isinstance(thing, dict) else getattr(thing, "__dict__", None)
    return thing if named is None else {key: vars_of(value) for key, value in named.items()}


def changed(name, before, after):
    """The class with another line, in the module of the others."""
    source = inspect.getsource(getattr(objects, name))
    assert before in source
    things = dict(vars(objects))
    exec(source.replace(before, after), things)
    return things[name]()


@pytest.mark.parametrize(("name", "before", "after", "wrong"), one_in(2, WRONG))
def test_what_is_wrong_is_refuted(name, before, after, wrong):
    report = check_gradients(changed(name, before, after), *CASES[name][0])
    assert report.proof.verdict == REFUTED and report.wrong[wrong]


def test_a_gradient_of_an_earlier_backward_is_not_believed():
    thing = objects.Network()
    thing.backward(thing.forward(IDS))
    assert check_gradients(thing, IDS).proof
    forgets = changed("Network", "dh = self.out.backward(dlogits)", "dh = dlogits @ self.out.W.T")
    forgets.out.forward(n(5, 4))
    forgets.out.backward(n(5, 5))
    assert not check_gradients(forgets, IDS).ok


def test_where_several_readings_fit_one_word_is_asked_for():
    class Twins:
        def __init__(self):
            self.p, self.q = n(3), n(3)

        def forward(self, x):
            self.x = x
            return x**2 * self.p + x * self.q

        def backward(self, dy):
            self.one, self.two = (dy * self.x**2).sum(axis=0), (dy * self.x).sum(axis=0)
            return dy * (2 * self.x * self.p + self.q)

    x = n(4, 3)
    asks = (
        "backward writes one, two, and any may be the gradient of p, q; name it, as in grads={'p': 'one', 'q': 'two'}"
    )
    with pytest.raises(ValueError, match=re.escape(asks)):
        check_gradients(Twins(), x)
    assert check_gradients(Twins(), x, grads={"p": "one", "q": "two"}).proof
    assert check_gradients(Twins(), x, grads={"p": "two", "q": "one"}).wrong == {"x": 0, "p": 3, "q": 3}
    assert check_gradients(Twins(), x, grads={"p": "one", "q": None}).sizes == {"x": 12, "p": 3}
    with pytest.raises(ValueError, match="grads has 'three' for p, but backward writes nothing of that name"):
        check_gradients(Twins(), x, grads={"p": "three"})


def test_what_has_no_gradient_is_told():
    forgets = check_gradients(changed("InDicts", 'self.grads["b"] = grad.sum(axis=0)', "pass"), X)
    assert 'Backward writes no gradient for params["b"]; if it is a constant, give grads=' in forgets.unchecked

    class Shifted:
        def __init__(self):
            self.constant = n(4)

        def forward(self, x):
            return x + self.constant

        def backward(self, dy):
            return dy

    report = check_gradients(Shifted(), X)
    assert report.proof and "Taken for constants: constant." in str(report)


def test_a_backward_that_changes_a_parameter_or_raises_is_told_at_once():
    with pytest.raises(GradientError, match="backward changes the value of W: only an optimizer may"):
        check_gradients(
            changed("Dense", "return dout @ self.W.T", "self.W -= 0.1 * self.dW; return dout @ self.W.T"), X
        )
    with pytest.raises(GradientError, match="backward raises ValueError: matmul"):
        check_gradients(changed("Dense", "dout @ self.W.T", "dout @ self.W"), X)


def test_an_array_that_is_given_twice_is_one_input_and_those_of_a_list_are_several():
    class Product:
        def forward(self, pair, c):
            self.a, self.b, self.c = *pair, c
            return self.a * self.b * self.c

        def backward(self, dy):
            return dy * self.b * self.c, dy * self.a * self.c, dy * self.a * self.b

    assert check_gradients(Product(), [n(3), n(3)], n(3)).sizes == {"pair[0]": 3, "pair[1]": 3, "c": 3}
    square = type("Square", (Product,), {"backward": lambda self, dy: 2 * dy * self.a * self.c})
    a = n(3)
    assert check_gradients(square(), [a, a], np.array([1, 2, 3])).proof
