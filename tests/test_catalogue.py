"""Forward of every block of the catalogue is its formula, whatever pieces it is computed in.

(tests/test_gradients.py compares its derivatives with differences, and tests/gradcheck/test_prove.py proves them.)
"""

import inspect

import numpy as np
import pytest

import npbert
from npbert import Tape
from npbert.catalogue import CATALOGUE
from npbert.core import named_parts
from tests import textbook
from tests.computing import assert_same_but_for_rounding, in_pieces, nothing_is_nan, on_threads

NO_MODELS = [name for name, setting in CATALOGUE.items() if ".models." not in setting.layer_class.__module__]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 3e-6)])
@pytest.mark.parametrize("name", NO_MODELS)
def test_forward_is_the_formula(name, dtype, tolerance):
    layer, inputs, _ = CATALOGUE[name].make(dtype=dtype)
    formula = textbook.FORMULAS.get(name) or textbook.FORMULAS[name.partition(",")[0]]
    y = layer(*inputs)
    assert np.asarray(y).dtype == dtype
    np.testing.assert_allclose(y, formula(layer, *inputs), rtol=tolerance, atol=tolerance)
    assert {part.eps for _, part in named_parts(layer) if isinstance(part, npbert.LayerNorm)} <= {1e-2}, "handed on"


def test_every_public_layer_is_in_the_catalogue():
    """A layer that is not there is checked by nobody. (Elementwise and Loss have no formula, positions no gradient, and
    what stands for a layer that is left out has neither.)"""
    public = [getattr(room, name) for room in (npbert.layers, npbert.blocks) for name in room.__all__]
    layers = {thing for thing in public if inspect.isclass(thing) and issubclass(thing, npbert.Layer)}
    known = {setting.layer_class for setting in CATALOGUE.values()}
    assert layers - known == {
        npbert.Elementwise,
        npbert.Loss,
        npbert.SinusoidalPositions,
        npbert.Identity,
        npbert.NoEmbedding,
    }


def parts_of(value):
    parts = value if isinstance(value, tuple) else (value,)
    return [np.array(part) for part in parts if part is not None]


def derived(name, dtype=np.float64, seed=None):
    """Everything that forward and backward make, all of one dtype, as is what is kept between them."""
    layer, inputs, _ = CATALOGUE[name].make(dtype=dtype)
    tape = Tape(None if seed is None else np.random.default_rng(seed))
    y = layer.forward(*inputs, tape=tape)
    kept = [array for entry in tape.entries for array in entry.values.values() if isinstance(array, np.ndarray)]
    assert dtype == np.float64 or np.float64 not in {array.dtype for array in kept}
    dx = layer.backward(tuple(map(np.cos, y)) if isinstance(y, tuple) else np.cos(y), tape)
    arrays = parts_of(y) + parts_of(dx) + [parameter.grad for parameter in layer.parameters()]
    assert {array.dtype for array in arrays} == {np.dtype(dtype)}
    return arrays


@pytest.mark.parametrize("name", CATALOGUE)
def test_pieces_change_nothing_but_the_rounding(name):
    wanted = derived(name)
    with on_threads(2), in_pieces(3, 50), nothing_is_nan():
        assert_same_but_for_rounding(derived(name), wanted, 1e-14)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_seed_gives_the_same_bits_on_any_number_of_threads(name):
    found = []
    for threads in (1, 3):
        with on_threads(threads), in_pieces(7, 7), nothing_is_nan():
            found.append(derived(name, np.float32, seed=1))
    assert_same_but_for_rounding(found[1], found[0], 0)
