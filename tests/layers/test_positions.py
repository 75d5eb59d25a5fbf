"""SinusoidalPositions: fixed, so there is no gradient to prove."""

import math

import numpy as np
import pytest

from npbert import SinusoidalPositions


@pytest.mark.parametrize("features", [6, 7])
def test_formula(features):
    y = SinusoidalPositions(50, features, dtype=np.float64)(np.array([0, 3, 49]))
    for row, position in zip(y, (0, 3, 49), strict=True):
        for feature, value in enumerate(row):
            angle = position / 10000 ** ((feature - feature % 2) / features)
            assert value == pytest.approx(math.cos(angle) if feature % 2 else math.sin(angle), abs=1e-14)


def test_it_has_no_parameters_and_keeps_its_dtype():
    positions = SinusoidalPositions(5, 4)
    assert positions.parameters() == []
    assert positions(np.arange(5)).dtype == np.float32


def test_too_far():
    with pytest.raises(IndexError, match=r"positions\[5\] is 5, but the number of positions is 5"):
        SinusoidalPositions(5, 4)(np.arange(6))
