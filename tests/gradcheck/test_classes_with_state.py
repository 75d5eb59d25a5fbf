"""Mistakes in classes with state, as people publish them, are told at their line, in the file where they are."""

import numpy as np
import pytest

from npbert.gradcheck import check_gradients
from tests.gradcheck.state import LAYERS, MISTAKES, made
from tests.tables import one_in

WITHOUT_AN_EDIT = {
    "the diagonal alone",  # half of the formula
    "the mask is left out",
}
"""Refuted; without a line, or with another one that makes the numbers right."""
SLOW = {
    "both residuals lost",
    "softmax over another axis",
    "dV from undropped weights",
    "scores are not scaled back",
    "heads reshaped",
    "a mean for a sum",
    "a share in softmax",
    "key for query",
    "residual for the input",
    "dK is not transposed back",
    "the state of now",
    "the transposed recurrence",
}
"""Found as well, each in some seconds."""


def quick_first(name):
    return name in SLOW, name


@pytest.mark.parametrize("name", one_in(30, sorted(MISTAKES.keys() - WITHOUT_AN_EDIT, key=quick_first)))
def test_a_mistake_is_told_at_its_line_and_in_its_file_and_the_program_is_left_as_it_was(name, tmp_path):
    layer, inputs, file, lines = made(name, tmp_path)
    backward, names = type(layer).backward, set(type(layer).backward.__globals__)
    code, drawn = backward.__code__, np.random.get_state()[1].copy()
    found = [finding for finding in check_gradients(layer, *inputs).diagnosis if finding.line]
    assert found
    assert {(finding.file, finding.line) for finding in found} <= {(file, line) for line in lines}
    assert backward.__code__ is code and set(backward.__globals__) == names
    assert (np.random.get_state()[1] == drawn).all()


@pytest.mark.parametrize("name", one_in(4, sorted(LAYERS.keys() - {"block"})))  # it has three of the others
def test_the_classes_are_right_without_it(name, tmp_path):
    layer, inputs, *_ = made(name, tmp_path)
    assert check_gradients(layer, *inputs).ok
