"""Every block of the catalogue against its formula, and whatever it is told against its effect."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npbert
from npbert.catalogue import CATALOGUE
from npbert.core import named_parts
from tests import textbook
from tests.strategies import read_of, sequences, values

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


@given(sequences(), st.data())
def test_probabilities_are_what_each_value_counts(some, data):
    some = some.only(data.draw(read_of(some)))
    q, k, v = (data.draw(values(count, 6)) for count in (some.num_queries, some.num_rows, some.num_rows))
    layer = npbert.DotProductAttention(3)
    c = np.split(layer(q, k, v, some), np.cumsum(some.query_lengths)[:-1])
    of_each = layer.probabilities(q, k, some)
    assert [p.shape for p in of_each] == [(3, *counts) for counts in zip(some.query_lengths, some.lengths, strict=True)]
    for p, rows, v_rows in zip(of_each, c, np.split(v, some.offsets[1:-1]), strict=True):
        np.testing.assert_allclose(p.sum(axis=-1), 1, rtol=1e-13)
        for head, features in enumerate(np.split(np.arange(6), 3)):
            np.testing.assert_allclose(p[head] @ v_rows[:, features], rows[:, features], rtol=1e-12, atol=1e-13)
