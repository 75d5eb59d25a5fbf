"""Every layer is in the catalogue, and right. (`npbert gradcheck` tries each number by finite differences as well.)"""

import numpy as np
import pytest

from npbert import Layer, SinusoidalPositions
from npbert.catalogue import CATALOGUE
from npbert.gradcheck import COMPLEX_STEP, TOLERANCES, LossOf, check_directions, check_gradients
from npbert.layers import Elementwise
from npbert.models import PreTrainedModel, TaskModel
from tests.planted.checks import dtypes

each_block = pytest.mark.parametrize("name", CATALOGUE)


@each_block
def test_every_derivative_is_right(name):
    """Each of them by the complex step, and along directions in both ways."""
    layer, inputs, rng = CATALOGUE[name].make()
    check_gradients(layer, *inputs, rng=rng, tolerances={COMPLEX_STEP: TOLERANCES[COMPLEX_STEP]}).raise_if_wrong()
    check_directions(layer, *inputs, rng=rng).raise_if_wrong()


@each_block
def test_float32_stays_float32_and_the_numbers_are_the_same(name):
    layer, inputs, rng = CATALOGUE[name].make(dtype=np.float32)
    assert dtypes(layer, inputs, rng) == {np.dtype(np.float32)}
    for one, other in zip(layer.parameters(), CATALOGUE[name].make()[0].parameters(), strict=True):
        np.testing.assert_array_equal(one.value, other.value.astype(np.float32))


def test_every_layer_is_in_the_catalogue():
    def subclasses(cls):
        return {cls}.union(*map(subclasses, cls.__subclasses__()))

    layers = {cls for cls in subclasses(Layer) if cls.__module__.startswith("npbert.")}
    found = {setting.layer_class for setting in CATALOGUE.values()}
    assert layers - found == {Layer, Elementwise, SinusoidalPositions, LossOf, PreTrainedModel, TaskModel}
