"""Parameter and its gradient, and Init."""

import gc
import re
import weakref

import numpy as np
import pytest

from npbert import Init, Linear, Parameter, Tape
from npbert.core.parameter import LazyGenerator

FIVES = np.full((2, 3), 5.0)


def ones(dtype=np.float64):
    return Parameter(np.ones((2, 3), dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gradient_starts_as_zeros_of_the_shape_and_dtype_of_the_value(dtype):
    np.testing.assert_array_equal(ones(dtype).grad, np.zeros((2, 3), dtype), strict=True)
    assert repr(ones(dtype)) == f"Parameter (2, 3) of {np.dtype(dtype)}: [[1. 1. 1.] [1. 1. 1.]]"


def test_the_first_gradient_is_adopted_and_later_ones_are_added_into_it():
    p, first, second = ones(), FIVES.copy(), np.arange(6.0).reshape(2, 3)
    second.flags.writeable = False
    for count in range(3):
        p.add_grad(second if count else first)
        assert p.grad is first
        np.testing.assert_array_equal(first, 5 + count * second)
    single = Parameter(np.array(2.0))
    for _ in range(3):
        single.add_grad(np.ones(4).sum())  # a NumPy scalar
    np.testing.assert_array_equal(single.grad, np.array(12.0), strict=True)


def test_rows_of_an_array_may_be_added_one_by_one_and_stay_as_they_are():
    dy, bias = np.ones((3, 2)), Parameter(np.zeros(2))
    for row in dy:
        bias.add_grad(row)
    assert (bias.grad == 3).all() and (dy == 1).all()


def test_zero_grad_gives_the_memory_of_the_gradient_back_but_writes_nothing():
    p, mine = ones(), FIVES.copy()
    p.add_grad(mine)
    p.zero_grad()
    np.testing.assert_array_equal([mine, p.grad], [FIVES, 0 * FIVES])
    p.zero_grad()
    p.add_grad(mine)
    there = weakref.ref(mine)
    del mine
    p.zero_grad()
    assert there() is None


def test_rows_are_added_to_those_that_are_named_each_time_that_they_are():
    p, dy = ones(), np.arange(9.0).reshape(3, 3)
    for count in (1, 2):
        p.add_grad(dy, rows=np.array([1, 0, 1]))
        np.testing.assert_array_equal(p.grad, count * np.array([[3, 4, 5], [6, 8, 10]]))
    with pytest.raises(ValueError, match=re.escape("grad has shape (3, 3), wanted (2, 3), as the parameter")):
        p.add_grad(dy, rows=np.array([0, 1]))


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("wrong", [(3, 2), (3,), (1, 3), (), "float32", "int64"])
def test_a_gradient_of_another_shape_or_dtype_is_refused(wrong, is_first):
    p = ones()
    if not is_first:
        p.add_grad(FIVES.copy())
    error, shape, dtype = (TypeError, (2, 3), wrong) if isinstance(wrong, str) else (ValueError, wrong, "float64")
    with pytest.raises(error, match=r"grad (has shape|is) .*, wanted (\(2, 3\)|float64), as the parameter"):
        p.add_grad(np.ones(shape, dtype))
    assert (p.grad == (0 if is_first else 5)).all()
    with pytest.raises(AttributeError, match="use add_grad"):
        p.grad = FIVES


@pytest.mark.parametrize("options", [{}, {"std": 0.5, "dtype": np.float64}])
def test_weights_start_normal_and_the_rest_at_0_or_1(options):
    init, dtype = Init(np.random.default_rng(0), **options), options.get("dtype", np.float32)
    z = init.normal(300, 400).value / options.get("std", 0.02)
    assert np.abs([z.mean(), z.var() - 1, (z**4).mean() - 3]).max() < 0.05
    starts = [init.zeros(2).value, init.ones(2).value, Init(None, **options).normal(2).value, z[0, :2] * 0]
    np.testing.assert_array_equal(starts, np.array([[0, 0], [1, 1], [0, 0], [0, 0]], dtype), strict=True)


def test_a_lazy_generator_is_drawn_from_when_a_value_is_first_read_and_not_where_it_is_set():
    rng, again = LazyGenerator(np.random.PCG64(0)), np.random.default_rng(0)
    set_, second, kept, first = (Init(rng, 0.5).normal(2, 3) for _ in range(4))
    set_.value, kept.start = FIVES, None
    for parameter in (first, second):
        assert (parameter.value == parameter.value.copy()).all(), "it is drawn once"
        parameter.value *= 2
        np.testing.assert_array_equal(parameter.value, 2 * again.normal(0, 0.5, (2, 3)).astype("f4"), strict=True)
    assert (set_.value == FIVES).all() and not kept.value.any()
    assert rng.random() == again.random()


NO_RNG = r"^rng is .*, wanted a Generator, such as np.random.default_rng\(0\), or None$"
WRONG = [(kind, (rng,), NO_RNG) for kind in (Init, Tape) for rng in (0, np.random)]
WRONG += [(Init, (None, 1, t), f"^dtype is {np.dtype(t)}, wanted a float, such as") for t in (int, complex)]


@pytest.mark.parametrize(("kind", "arguments", "message"), WRONG)
def test_what_draws_wants_a_generator_and_a_dtype_of_floats(kind, arguments, message):
    with pytest.raises(TypeError, match=message):
        kind(*arguments)


def test_a_layer_is_given_back_as_soon_as_nobody_holds_it():
    """A walk that leaves a circle of references behind would keep a whole model until the next collection."""
    gc.disable()
    try:
        linear = Linear(2, 3, Init(None))
        there = weakref.ref(linear)
        assert repr(linear) and linear.parameters()
        del linear
        assert there() is None
    finally:
        gc.enable()
