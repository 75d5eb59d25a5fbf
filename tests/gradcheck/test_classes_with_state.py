"""Mistakes in classes with state, as people publish them, are told at their line, in the file where they are."""

import numpy as np
import pytest

from npbert.gradcheck import check_gradients
from tests.gradcheck.state import LAYERS, MISTAKES, made
from tests.tables import one_in


@pytest.mark.parametrize("name", one_in(30, MISTAKES))
def test_a_mistake_is_told_at_its_line_and_in_its_file_and_the_program_is_left_as_it_was(name, tmp_path):
    layer, inputs, file, lines = made(name, tmp_path)
    backward, names = type(layer).backward, set(type(layer).backward.__globals__)
    code, drawn = backward.__code__, np.random.get_state()[1].copy()
    found = [finding for finding in check_gradients(layer, *inputs).diagnosis if finding.line]
    assert found
    assert {(finding.file, finding.line) for finding in found} <= {(file, line) for line in lines}
    assert backward.__code__ is code and set(backward.__globals__) == names
    assert (np.random.get_state()[1] == drawn).all()


@pytest.mark.parametrize("name", one_in(4, LAYERS))
def test_the_classes_are_right_without_it(name, tmp_path):
    layer, inputs, *_ = made(name, tmp_path)
    assert check_gradients(layer, *inputs).ok
