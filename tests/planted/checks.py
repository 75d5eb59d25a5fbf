"""Checks of what no derivative can show, and no other test."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from npbert import IGNORED, Adam, BertConfig, PackedBatch, Parameter, Reads
from npbert.data import Batch
from npbert.models.electra import replaced


def a_word_that_was_drawn_right_is_original():
    """Of three masked words, one is drawn right: its label is 0, and that of padding is −100."""
    shown = Batch([[1, 4, 4, 4, 0]], attention_mask=[[1, 1, 1, 1, 0]], labels=[[IGNORED, 5, 6, 7, IGNORED]])
    packed = PackedBatch(shown, BertConfig(9, 4, 1, 1, 4), Reads("labelled", "word"))
    batch = replaced(packed, np.array([5, 8, 3]))
    assert_array_equal(batch.input_ids, [[1, 5, 8, 3, 0]])
    assert_array_equal(batch.labels, [[0, 0, 1, 1, IGNORED]])


def a_parameter_given_twice_is_stepped_once():
    """Adam's first step is lr · g / (|g| + eps), so no number can go farther than lr, unless it goes twice."""
    parameter = Parameter(np.zeros(3))
    parameter.add_grad(np.array([0.1, -2.0, 30.0]))
    Adam([parameter, parameter], lr=0.01).step()
    assert_allclose(parameter.value, [-0.01, 0.01, -0.01], rtol=1e-6)
