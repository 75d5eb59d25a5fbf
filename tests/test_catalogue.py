"""Every block of the catalogue is right. (`npbert gradcheck` tries each number by finite differences as well.)"""

import inspect

import numpy as np
import pytest

import npbert
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import COMPLEX_STEP, TOLERANCES, check_directions, check_gradients


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_derivative_is_right(name):
    """Along directions in both ways; and each of them by the complex step, but for the thousands of whole models."""
    layer, inputs, rng = CATALOGUE[name].make()
    if ".models." not in CATALOGUE[name].layer_class.__module__:
        check_gradients(layer, *inputs, rng=rng, tolerances={COMPLEX_STEP: TOLERANCES[COMPLEX_STEP]}).raise_if_wrong()
    check_directions(layer, *inputs, rng=rng).raise_if_wrong()


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_numbers_are_the_same_in_every_dtype(name):
    ours, theirs = (CATALOGUE[name].make(dtype=dtype) for dtype in (np.float32, np.float64))
    arrays = zip([p.value for p in ours[0].parameters()], [p.value for p in theirs[0].parameters()], strict=True)
    for one, other in [*arrays, *zip(ours[1], theirs[1], strict=True)]:
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other.astype(one.dtype))


def test_every_public_layer_is_in_the_catalogue():
    """A layer that is not there is checked by nobody. (Elementwise has no formula, and positions no gradient.)"""
    public = [getattr(room, name) for room in (npbert.layers, npbert.blocks) for name in room.__all__]
    layers = {thing for thing in public if inspect.isclass(thing) and issubclass(thing, npbert.Layer)}
    known = {setting.layer_class for setting in CATALOGUE.values()}
    assert layers - known == {npbert.Elementwise, npbert.SinusoidalPositions}
