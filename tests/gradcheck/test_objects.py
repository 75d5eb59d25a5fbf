"""Objects with state, as they are: judged rightly, their gradients found by one rule, and left as they were."""

import pickle
import re

import numpy as np
import pytest

from npbert.gradcheck import REFUTED, GradientError, check_gradients
from tests.gradcheck import objects
from tests.gradcheck.objects import n
from tests.gradcheck.small import changed
from tests.gradcheck.state import LAYERS, MISTAKES, made
from tests.tables import one_in

X, IDS, LABELS = n(5, 4), np.array([0, 3, 3, 1, 4]), np.array([0, 2, 1, 1, 2])
CASES = {  # by name: the inputs, and what the report says of parameters and gradients
    "Dense": ([X], "Parameters W, b; their gradients dW, db."),
    "Eta": ([X], "Parameters W, b; their gradients dW, db."),
    "Decayed": ([X], 'their gradients returned["W"], returned["b"].'),
    "Windows": ([X], ""),
    "Accuracy": ([X], ""),
    "InDicts": ([X], 'Parameters params["W"], params["b"]; their gradients grads["W"], grads["b"].'),
    "InLists": ([X], "Parameters params[0], params[1]; their gradients grads[0], grads[1]."),
    "Returned": ([X], "Parameters W, b; their gradients returned[1], returned[2]."),
    "OtherNames": ([X], "Parameters kernel, offset; their gradients g1, g2."),
    "Silent": ([X], "Parameters W, b; their gradients dW, db."),
    "Steps": ([X], "Parameters W, b; their gradients W -=, b -=."),
    "Traced": ([X], "Parameters W, b; their gradients dW, db."),
    "Network": ([IDS], "Parameters table.data, layers[0].W, layers[0].b, layers[1].W, layers[1].b; their gradients"),
    "SoftmaxLoss": ([n(5, 3), LABELS], ""),
    "Tied": ([X], "Parameters first.W, first.b, last.b; their gradients first.dW + last.dW, first.db, last.db."),
    "Beside": ([X], "first.dW + last.dW"),
    "Squares": ([X], ""),
    "Flat": ([X], ""),
    "CourseNet": ([X, LABELS], 'their gradients returned["W"], returned["b"].'),
}
WRONG = [  # what is right, and what makes it wrong; and which parameter is wrong by it
    ("Dense", "self.db = dout.sum(axis=0)", "self.db = dout.mean(axis=0)", "b"),
    ("Eta", "1.0 * eta", "np.ones_like(eta)", "x"),
    ("Eta", "1.0 * eta", "eta * eta", "x"),
    ("Accuracy", "np.zeros(self.x.shape, int)", "self.x > 0", "x"),
    ("OtherNames", "self.a.T @ out_grad", "-self.a.T @ out_grad", "kernel"),
    ("Steps", "learning_rate * grad.sum", "grad.mean", "b"),
    ("Traced", "upstream.sum(axis=0)", "-upstream.sum(axis=0)", "b"),
    ("Silent", "self.dinputs = ", "self.dinputs = -", "inputs"),
    ("Tied", "self.last.backward(dy)", "dy @ self.last.W.T", "first.W"),
    ("Squares", "self.x[0]", "dout * self.x[0] / 2", "x"),
    ("CourseNet", "+ self.reg *", "+ 2 * self.reg *", 'params["W"]'),
]


@pytest.mark.parametrize("name", CASES)
def test_what_is_right_is_proved_and_left_as_it_was(name):
    inputs, says = CASES[name]
    thing = getattr(objects, name)()
    before = pickle.dumps(thing)
    report = check_gradients(thing, *inputs)
    assert report.proof and says in str(report)
    assert pickle.dumps(thing) == before


@pytest.mark.parametrize(("name", "before", "after", "wrong"), one_in(2, WRONG))
def test_what_is_wrong_is_refuted(name, before, after, wrong, tmp_path):
    thing = getattr(changed(objects, before, after, tmp_path)[0], name)()
    report = check_gradients(thing, *CASES[name][0])
    assert report.proof.verdict == REFUTED and report.wrong[wrong]
    assert "wrong" in str(report)


def test_a_gradient_of_an_earlier_backward_is_not_believed(tmp_path):
    forgets = "+ self.layers[0].backward(da)", "+ da @ self.layers[0].W.T"
    for thing, is_right in ((objects.Network(), True), (changed(objects, *forgets, tmp_path)[0].Network(), False)):
        thing.layers[0].dW, thing.layers[0].db = n(4, 3), n(3)
        thing.table.grad += 1
        assert check_gradients(thing, IDS).ok == is_right


def test_where_several_readings_fit_one_word_is_asked_for():
    x = n(4, 3)
    asks = (
        "backward writes one, two, and any may be the gradient of p, q; name it, as in grads={'p': 'one', 'q': 'two'}"
    )
    with pytest.raises(ValueError, match=re.escape(asks)):
        check_gradients(objects.Twins(), x)
    assert check_gradients(objects.Twins(), x, grads={"p": "one", "q": "two"}).proof
    assert check_gradients(objects.Twins(), x, grads={"p": "two", "q": "one"}).wrong == {"x": 0, "p": 3, "q": 3}
    assert check_gradients(objects.Twins(), x, grads={"p": "one", "q": None}).sizes == {"x": 12, "p": 3}
    with pytest.raises(ValueError, match="grads has 'three' for p, but backward writes nothing of that name"):
        check_gradients(objects.Twins(), x, grads={"p": "three"})


def test_an_input_with_the_name_of_a_parameter_is_refused():
    clash = type("Clash", (objects.Dense,), {"forward": lambda self, x, b: objects.Dense.forward(self, x) + b})
    with pytest.raises(ValueError, match="b is an input of forward and an array of the object"):
        check_gradients(clash(), X, n(3))


def test_what_has_no_gradient_is_told(tmp_path):
    forgets, _ = changed(objects, 'self.grads["b"] = grad.sum(axis=0)', "pass", tmp_path)
    report = check_gradients(forgets.InDicts(), X)
    assert 'Backward writes no gradient for params["b"]; if it is a constant, give grads=' in report.unchecked
    assert report.wrong['params["b"]'] == 3
    constant = type("Constant", (objects.Twins,), {"backward": lambda self, dy: dy * (2 * self.x * self.p + self.q)})
    report = check_gradients(constant(), n(4, 3))
    assert report.proof and "Taken for constants: p, q." in str(report)


@pytest.mark.parametrize(
    ("after", "says"),
    [
        ("self.W -= 0.1 * dout.sum()", r"changes the value of W, at line \d+ of .*mine.py: only an optimizer may"),
        ("self.db = dout.sum()", r"returns a gradient of shape \(\) and float64 for b, wanted shape \(3,\)"),
        ("self.W @ dout", "backward raises ValueError, at line .*mine.py: matmul"),
        (
            "Tied().backward(dout)",
            r"AttributeError, at line \d+ of .*mine.py, called at line \d+ of .*, called at line \d+",
        ),
    ],
)
def test_a_backward_that_changes_a_parameter_or_raises_is_told_at_once(after, says, tmp_path):
    with pytest.raises(GradientError, match=says):
        check_gradients(changed(objects, "self.db = dout.sum(axis=0)", after, tmp_path)[0].Dense(), X)


def test_a_view_beyond_an_array_is_told_and_does_not_end_the_program(tmp_path):
    module, _ = changed(objects, "self.sums(np.pad(dy, ((0, 0), (1, 1))))", "self.sums(dy)", tmp_path)
    with pytest.raises(
        GradientError, match=r"at line \d+ of .*mine.py: as_strided reads outside an array of shape \(5, 4\)"
    ):
        check_gradients(module.Windows(), X)
    assert np.lib.stride_tricks.as_strided(X, (2, 30), (0, 8)).shape == (2, 30)  # outside a check as before


class Product:
    """Two inputs in a list, and a third."""

    def forward(self, pair, c):
        self.a, self.b, self.c = *pair, c
        return self.a * self.b * self.c

    def backward(self, dy):
        return dy * self.b * self.c, dy * self.a * self.c, dy * self.a * self.b


def test_an_array_that_is_given_twice_is_one_input_and_those_of_a_list_are_several():
    assert check_gradients(Product(), [n(3), n(3)], n(3)).sizes == {"pair[0]": 3, "pair[1]": 3, "c": 3}
    stacked = type("Stacked", (Product,), {"backward": lambda self, dy: np.array(Product.backward(self, dy))})
    assert check_gradients(stacked(), [n(3), n(3)], n(3)).proof
    square = type("Square", (Product,), {"backward": lambda self, dy: 2 * dy * self.a * self.c})
    a = n(3)
    assert check_gradients(square(), [a, a], np.array([1, 2, 3])).proof
    assert check_gradients(Product(), [a, a], a).sizes == {"pair[0]": 3}  # the sum of its three gradients


@pytest.mark.parametrize("name", one_in(30, MISTAKES))
def test_a_mistake_is_told_at_its_line_and_in_its_file_and_the_program_is_left_as_it_was(name, tmp_path):
    layer, inputs, file, lines = made(name, tmp_path)
    backward, names = type(layer).backward, set(type(layer).backward.__globals__)
    code, drawn = backward.__code__, np.random.get_state()[1].copy()
    found = [finding for finding in check_gradients(layer, *inputs).diagnosis if finding.line]
    assert found
    assert {(finding.file, finding.line) for finding in found} <= {(file, line) for line in lines}
    assert backward.__code__ is code and set(backward.__globals__) == names
    assert (np.random.get_state()[1] == drawn).all()


@pytest.mark.parametrize("name", one_in(4, LAYERS))
def test_the_classes_are_right_without_it(name, tmp_path):
    layer, inputs, *_ = made(name, tmp_path)
    assert check_gradients(layer, *inputs).ok


def distance(x, y):
    return np.sum((x - y) ** 2), x - y


def half(x, y):
    return x - y


def test_a_loss_and_its_slope_have_the_same_inputs():
    assert check_gradients(distance, lambda x, y, cache: 2 * cache, X, X[::-1]).proof.derivatives == 20
    assert check_gradients(lambda x, y: distance(x, y)[0], lambda x, y: 2 * (x - y), X, X[::-1]).proof
    assert check_gradients(lambda x, y: distance(x, y)[0], half, X, X[::-1]).diagnosis[0].is_edit


def test_a_dy_of_two_arrays_may_come_beside_one_input():
    assert check_gradients(lambda x: (x**2, 3 * x), lambda dys, x: 2 * x * dys[0] + 3 * dys[1], X).proof


class Public:
    def __call__(self, x):
        self.slope = np.cos(x)
        return self.forward(x)

    def forward(self, x):
        return np.sin(x)

    def backward(self, dy):
        return dy * self.slope


def test_a_call_that_calls_forward_may_keep_what_backward_needs():
    assert check_gradients(Public(), X).proof


class Dead:
    def __init__(self):
        self.b, self.grads = np.full(4, -20.0), []

    def forward(self, x):
        return np.maximum(x + self.b, 0)

    def backward(self, dy):
        self.grads.append(dy.sum(axis=0))
        return 0 * dy


def test_the_gradient_of_a_parameter_is_checked_though_all_units_are_dead():
    assert check_gradients(Dead(), X).wrong["b"] == 4


def test_the_slope_of_a_loss_takes_its_inputs_by_place():
    assert check_gradients(lambda p, t: ((p - t) ** 2).sum(), lambda logits, labels: 2 * (logits - labels), X, -X).proof
