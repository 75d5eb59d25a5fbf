"""The gradient of a Parameter, whose zeros are not written until somebody looks."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest

from npbert import Batch, BertForMaskedLM, BertForPreTraining, Embedding, Linear, MaskedLMHead, Parameter
from tests.models.small import fixed_batch, small_config


@pytest.fixture
def used():
    """A parameter with an old gradient that nothing may see again."""
    parameter = Parameter(np.ones((2, 3)))
    parameter.grad[...] = np.nan
    parameter.zero_grad()
    return parameter


def test_a_new_gradient_is_zero():
    np.testing.assert_array_equal(Parameter(np.ones((2, 3))).grad, np.zeros((2, 3)))


def test_zeros_are_there_when_they_are_read(used):
    np.testing.assert_array_equal(used.grad, np.zeros((2, 3)))


def test_what_is_added_is_kept(used):
    used.grad += 2
    used.grad += 1
    np.testing.assert_array_equal(used.grad, np.full((2, 3), 3))
    used.grad[0] = 7
    np.testing.assert_array_equal(used.grad, [[7] * 3, [3] * 3])


def test_what_is_set_is_kept(used):
    new = np.full((2, 3), 5.0)
    used.grad = new
    assert used.grad is new
    np.testing.assert_array_equal(used.grad, np.full((2, 3), 5))
    used.zero_grad()
    assert used.grad is new
    assert not new.any()


def test_the_array_stays_the_same(used):
    before = used.grad
    used.zero_grad()
    assert used.grad_to_overwrite() is before
    used.zero_grad()
    used.zero_grad()
    assert used.grad is before
    assert not before.any()


def test_what_is_overwritten_is_no_longer_zero(used):
    assert used.grad_is_zero
    used.grad_to_overwrite()[...] = 4
    assert not used.grad_is_zero
    np.testing.assert_array_equal(used.grad, np.full((2, 3), 4))


def test_overwriting_a_gradient_that_was_never_there():
    parameter = Parameter(np.ones((2, 3), np.float32))
    array = parameter.grad_to_overwrite()
    assert (array.shape, array.dtype) == ((2, 3), np.float32)
    array[...] = 4
    assert parameter.grad is array


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (3, 1), (1, 1)])
@pytest.mark.parametrize("rows", [1, 5])
def test_the_first_backward_overwrites_and_the_next_adds(shape, rows):
    rng = np.random.default_rng(0)
    linear = Linear(*shape, rng=rng, dtype=np.float64)
    x, dy = rng.standard_normal((rows, shape[0])), rng.standard_normal((rows, shape[1]))
    for parameter in linear.parameters():
        parameter.grad[...] = np.nan
    linear.zero_grad()
    for count in (1, 2, 3):
        linear.backward(dy, linear.forward(x)[1])
        np.testing.assert_allclose(linear.weight.grad, count * (x.T @ dy), rtol=1e-12)
        np.testing.assert_allclose(linear.bias.grad, count * dy.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("head_first", [True, False])
def test_a_tied_table_collects_from_both(head_first):
    rng = np.random.default_rng(0)
    embedding = Embedding(7, 4, rng=rng, dtype=np.float64)
    head = MaskedLMHead(embedding.weight, rng=rng, initializer_range=1.0, dtype=np.float64)
    x, dy, ids = rng.standard_normal((5, 4)), rng.standard_normal((3, 4)), np.array([6, 2, 6])
    logits, cache = head.forward(x)
    h = cache[-1]
    expected = logits.T @ h
    np.add.at(expected, ids, dy)
    for _ in range(2):
        head.zero_grad()
        for part in (True, False) if head_first else (False, True):
            if part:
                head.backward(logits, cache)
            else:
                embedding.backward(dy, ids)
        np.testing.assert_allclose(embedding.weight.grad, expected, rtol=1e-12)


def test_two_steps_of_a_model_are_two_fresh_starts():
    model = BertForPreTraining(small_config(), rng=np.random.default_rng(0), dtype=np.float64)
    batch = fixed_batch()
    model.backward(model.loss(batch)[1])
    first = {name: parameter.grad.copy() for name, parameter in model.named_parameters()}
    model.zero_grad()
    model.backward(model.loss(batch)[1])
    for name, parameter in model.named_parameters():
        np.testing.assert_array_equal(parameter.grad, first[name], err_msg=name)
    model.backward(model.loss(batch)[1])
    for name, parameter in model.named_parameters():
        np.testing.assert_allclose(parameter.grad, 2 * first[name], rtol=1e-12, atol=1e-18, err_msg=name)


def test_a_model_that_only_infers_has_no_gradients():
    """Its memory is that of the values; a zero_grad asks for none either."""
    tracemalloc.start()
    model = BertForMaskedLM(small_config(vocab_size=200_000), rng=None)
    values = sum(parameter.value.nbytes for parameter in model.parameters())
    ids = np.zeros((1, 2), int)
    model(Batch(ids, ids, labels=np.array([[-100, 3]])))
    model.zero_grad()
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert values < memory < 1.2 * values
    assert all(parameter._grad is None for parameter in model.parameters())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda parameter: pickle.loads(pickle.dumps(parameter))])
@pytest.mark.parametrize("state", ["new", "zeroed", "overwritten", "added to"])
def test_copies(copied, state):
    parameter = Parameter(np.ones((2, 3)))
    if state != "new":
        parameter.grad[...] = 5
    if state in ("zeroed", "overwritten"):
        parameter.zero_grad()
    if state == "overwritten":
        parameter.grad_to_overwrite()[...] = 5
    twin = copied(parameter)
    expected = np.full((2, 3), 5.0 if state in ("overwritten", "added to") else 0.0)
    twin.grad[0] += 1
    np.testing.assert_array_equal(parameter.grad, expected)
    expected[0] += 1
    np.testing.assert_array_equal(twin.grad, expected)
    twin.value[...] = 9
    assert (parameter.value == 1).all()
    assert twin.grad_is_zero is False
