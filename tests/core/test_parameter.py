"""Parameter and its gradient, and Init."""

import copy
import pickle
import weakref

import numpy as np
import pytest

from npbert import Init, Parameter


def parameter(dtype=np.float64):
    return Parameter(np.ones((2, 3), dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gradient_starts_as_zeros_of_the_shape_and_dtype_of_the_value(dtype):
    fresh = parameter(dtype)
    np.testing.assert_array_equal(fresh.grad, np.zeros((2, 3)), strict=False)
    assert (fresh.grad.shape, fresh.grad.dtype) == ((2, 3), dtype)
    assert repr(fresh) == f"Parameter(shape=(2, 3), dtype={np.dtype(dtype)})"


def test_the_first_gradient_is_adopted_and_later_ones_are_added_into_it():
    p, first, second = parameter(), np.full((2, 3), 5.0), np.arange(6.0).reshape(2, 3)
    second.flags.writeable = False
    p.add_grad(first)
    assert p.grad is first
    p.add_grad(second)
    p.add_grad(second)
    assert p.grad is first
    np.testing.assert_array_equal(first, 5 + 2 * second)
    np.testing.assert_array_equal(p.value, np.ones((2, 3)))


def test_a_gradient_that_was_looked_at_or_changed_is_added_to_as_well():
    p = parameter()
    p.grad[0] += 7
    p.add_grad(np.full((2, 3), 5.0))
    np.testing.assert_array_equal(p.grad, [[12] * 3, [5] * 3])


def test_zero_grad_forgets_the_gradient_gives_its_memory_back_and_writes_nothing():
    p, mine = parameter(), np.full((2, 3), 5.0)
    p.add_grad(mine)
    p.zero_grad()
    np.testing.assert_array_equal(mine, np.full((2, 3), 5))
    np.testing.assert_array_equal(p.grad, np.zeros((2, 3)))
    p.zero_grad()
    p.add_grad(mine)
    there = weakref.ref(mine)
    del mine
    assert there() is not None
    p.zero_grad()
    assert there() is None


def test_a_single_number_can_be_a_parameter():
    """Its gradient, a sum over everything, is a NumPy scalar."""
    p = Parameter(np.array(2.0))
    for _ in range(3):
        p.add_grad(np.ones(4).sum())
    assert p.grad == 12
    assert p.grad.shape == ()


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("shape", [(3, 2), (3,), (1, 3), (2, 1), (), (2, 3, 1)])
def test_a_gradient_of_another_shape_is_refused(shape, is_first):
    p = parameter()
    if not is_first:
        p.add_grad(np.full((2, 3), 5.0))
    with pytest.raises(ValueError) as raised:
        p.add_grad(np.ones(shape))
    assert str(raised.value) == f"a gradient of shape {shape} for a parameter of shape (2, 3)"
    assert (p.grad == (0 if is_first else 5)).all()


@pytest.mark.parametrize(("got", "wanted"), [("float64", "float32"), ("float32", "float64"), ("int64", "float64")])
def test_a_gradient_of_another_dtype_is_refused(got, wanted):
    with pytest.raises(TypeError, match=f"^a gradient of {got} for a parameter of {wanted}$"):
        parameter(wanted).add_grad(np.ones((2, 3), got))


def test_a_gradient_cannot_be_set_past_add_grad():
    with pytest.raises(AttributeError):
        parameter().grad = np.ones((2, 3))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
@pytest.mark.parametrize("grad", [0.0, 5.0])
def test_a_copy_has_the_same_numbers_and_arrays_of_its_own(copied, grad):
    p = parameter()
    if grad:
        p.add_grad(np.full((2, 3), grad))
    twin = copied(p)
    twin.value[...] = 9
    twin.add_grad(np.ones((2, 3)))
    np.testing.assert_array_equal(twin.grad, np.full((2, 3), grad + 1))
    np.testing.assert_array_equal(p.grad, np.full((2, 3), grad))
    np.testing.assert_array_equal(p.value, np.ones((2, 3)))


@pytest.mark.parametrize("std", [0.02, 0.5])
def test_weights_start_normal_and_the_rest_at_0_or_1(std):
    init = Init(np.random.default_rng(0), std) if std != 0.02 else Init(np.random.default_rng(0))
    weights = init.normal(300, 400).value
    z = (weights / std).astype(np.float64)
    assert (z.shape, weights.dtype) == ((300, 400), np.float32)
    assert [abs(z.mean()), abs(z.var() - 1), abs((z**3).mean()), abs((z**4).mean() - 3)] < [0.01] * 4
    assert [(init.zeros(3).value == 0).all(), (init.ones(3).value == 1).all()] == [True, True]
    assert {init.zeros(2, 3).value.dtype, init.ones(2, 3).value.dtype} == {np.dtype(np.float32)}


def test_one_seed_gives_the_same_numbers_in_both_precisions():
    single, double = (Init(np.random.default_rng(1), dtype=dtype).normal(3, 4).value for dtype in ("f4", "f8"))
    np.testing.assert_array_equal(single, double.astype(np.float32))
    assert double.dtype == np.float64
    assert (double != single).any()


def test_two_parameters_of_one_init_are_drawn_one_after_the_other():
    init = Init(np.random.default_rng(1))
    assert (init.normal(3).value != init.normal(3).value).all()


def test_without_rng_weights_are_0():
    assert not Init(None).normal(3, 4).value.any()
    assert Init(None, dtype=np.float64).normal(3, 4).value.dtype == np.float64


@pytest.mark.parametrize("rng", [0, np.random, np.random.RandomState(0)], ids=["seed", "module", "old generator"])
def test_init_wants_a_generator(rng):
    with pytest.raises(TypeError, match=r"^rng is .*, wanted a Generator, such as np.random.default_rng\(0\), or None"):
        Init(rng)


@pytest.mark.parametrize("dtype", [int, bool, complex])
def test_init_wants_a_dtype_of_floats(dtype):
    with pytest.raises(TypeError, match=f"^dtype is {np.dtype(dtype)}, wanted a float, such as np.float32$"):
        Init(None, dtype=dtype)
