"""Autograd engines, as they are: proved by what y.backward() leaves, with the values that a model holds; and wrong."""

import pytest

from npbert.gradcheck import check_gradients
from tests.gradcheck import engines
from tests.gradcheck.engines import Tensor, Value
from tests.gradcheck.objects import n
from tests.gradcheck.small import changed

NUMBERS = "lambda a, b: (a * b + a).tanh() * a"
WRONG = [  # what is right, what makes it wrong, what is checked, and its inputs; how the edit is called
    ("self.grad += other.data * out.grad", "self.grad = other.data * out.grad", NUMBERS, "= or +="),
    ("(1 - t**2) * out.grad", "(1 + t**2) * out.grad", NUMBERS, "sign"),
    ("(self.exponent - 1)", "self.exponent", "Power(3)", ""),
]


def test_values_are_proved_and_left_as_they_were():
    a, b = Value(0.3), Value(-1.2)
    a.grad = 7  # of an earlier backward
    report = check_gradients(eval(NUMBERS), a, b)
    assert report.proof and list(report.sizes) == ["a", "b"]
    assert (a.data, a.grad, b.data, b.grad) == (0.3, 7, -1.2, 0)


def test_the_values_that_a_model_holds_are_inputs_too():
    neuron = engines.Neuron(0.5, -0.7)
    report = check_gradients(neuron, [Value(0.3), Value(2)])
    assert report.proof
    assert list(report.sizes) == ["inputs[0]", "inputs[1]", "weights[0]", "weights[1]", "bias"]
    assert check_gradients(lambda x: neuron([x, x]), Value(0.4)).proof.derivatives == 4


@pytest.mark.parametrize(
    ("f", "count"), [(engines.Product(), 2), (engines.Power(3), 1), (lambda a, b: a * b * engines.Power(2)(a), 2)]
)
def test_an_engine_whose_gradients_are_its_values(f, count):
    report = check_gradients(f, *(Tensor(n(3, 2)) for _ in range(count)))
    assert report.proof and report.count == 6 * count


def test_a_model_with_a_forward_of_values_that_may_be_constant():
    report = check_gradients(engines.Scaled(n(3)), engines.Array(n(3)))
    assert report.proof and list(report.sizes) == ["w"]


@pytest.mark.parametrize(("before", "after", "f", "kind"), WRONG)
def test_a_wrong_operation_is_told_at_its_own_line(before, after, f, kind, tmp_path):
    module, line = changed(engines, before, after, tmp_path)
    inputs = [module.Value(0.3), module.Value(-1.2)] if f == NUMBERS else [module.Tensor(n(3, 2))]
    report = check_gradients(eval(f, vars(module)), *inputs)
    found = [each for each in report.diagnosis if each.line]
    assert {(each.line, each.file) for each in found} == {(line, "mine.py")}
    assert kind in found[0].kind


UNRELATED = Value(1.0)


def loss_beside_a_value(x):
    return UNRELATED.data * (x**2).sum(), UNRELATED.data * 2 * x


def test_a_loss_that_names_a_value_is_no_engine():
    assert list(check_gradients(loss_beside_a_value, n(3)).sizes) == ["x"]


def test_what_is_no_value_is_refused():
    with pytest.raises(TypeError, match="wanted one value of the engine"):
        check_gradients(lambda a: [a, a], Value(1.0))
