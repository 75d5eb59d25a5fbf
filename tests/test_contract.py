"""What is true of every block of the catalogue, besides what gradcheck tries of each. Nothing depends on pieces."""

import numpy as np
import pytest

from npbert import Init, Tape
from npbert.catalogue import CATALOGUE
from tests.computing import in_pieces, nothing_is_nan, on_threads

NO_MODELS = [name for name, setting in CATALOGUE.items() if ".models." not in setting.layer_class.__module__]


@pytest.mark.parametrize("name", NO_MODELS)
def test_fresh_parameters_are_what_init_says(name):
    """Weights are drawn with its standard deviation, γ is 1, and all else is 0, in its dtype."""
    setting = CATALOGUE[name]
    one, three = (
        dict(setting.build(setting.layer_class, Init(np.random.default_rng(0), std, np.float32)).named_parameters())
        for std in (1.0, 3.0)
    )
    for name, parameter in three.items():
        assert parameter.value.dtype == np.float32
        if parameter.value.ndim > 1:
            assert 0.5 < one[name].value.std() < 2, name
            np.testing.assert_allclose(parameter.value, 3 * one[name].value, rtol=1e-6, err_msg=name)
        else:
            assert (parameter.value == ("gamma" in name)).all(), name


def parts_of(value):
    parts = value if isinstance(value, tuple) else (value,)
    return [np.array(part) for part in parts if part is not None]


def derived(name, dtype=np.float64, seed=None):
    """Everything that forward and backward make, all of one dtype, as is what is kept between them."""
    layer, inputs, _ = CATALOGUE[name].make(dtype=dtype)
    tape = Tape(None if seed is None else np.random.default_rng(seed))
    y = layer.forward(*inputs, tape=tape)
    assert dtype == np.float64 or "float64" not in repr(tape)
    dx = layer.backward(tuple(map(np.cos, y)) if isinstance(y, tuple) else np.cos(y), tape)
    arrays = parts_of(y) + parts_of(dx) + [parameter.grad for parameter in layer.parameters()]
    assert {array.dtype for array in arrays} == {np.dtype(dtype)}
    return arrays


def assert_same(got, wanted, tolerance):
    """But for so much of the largest of all."""
    scale = max(np.abs(array).max() for array in wanted)
    for one, another in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, another, rtol=0, atol=tolerance * scale, strict=True)


@pytest.mark.parametrize("name", CATALOGUE)
def test_pieces_and_threads_change_nothing_but_the_rounding(name):
    wanted = derived(name)
    for block, threads in ((1, 2), (7, 1), (7, 3), (50, 2)):
        with on_threads(threads), in_pieces(block, block), nothing_is_nan():
            assert_same(derived(name), wanted, 1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CATALOGUE)
def test_a_seed_drops_the_same_on_any_number_of_threads_and_gives_the_same_bits_on_as_many(name, dtype):
    with in_pieces(7, 7), nothing_is_nan():
        with on_threads(1):
            wanted = derived(name, dtype, seed=1)
        with on_threads(3):
            got, again = derived(name, dtype, seed=1), derived(name, dtype, seed=1)
    assert_same(got, wanted, 1e-14 if dtype == np.float64 else 3e-6)
    assert_same(again, got, 0)
