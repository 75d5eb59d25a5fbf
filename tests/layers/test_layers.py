"""Every layer against its formula, on ordinary and on awkward numbers. (Its derivatives: tests/test_gradients.py.)"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npbert
from npbert.gradcheck import randomize
from tests.computing import in_pieces, nothing_is_nan, on_threads
from tests.strategies import awkward, ids, read_of, rngs, rows, sequences, sizes, targets, values
from tests.textbook import FORMULAS

INIT = npbert.Init(None, dtype=np.float64)
SOME = sizes.flatmap(lambda count: sizes.flatmap(lambda features: awkward(count, features)))
MILD = sizes.flatmap(lambda count: st.integers(3, 6).flatmap(lambda features: awkward(count, features, largest=10)))


def attention(draw):
    heads, some, count = draw(st.integers(1, 3)), draw(st.none() | sequences()), draw(sizes)
    if some is not None and draw(st.booleans()):
        some = some.only(draw(read_of(some)))
    counts = (count, draw(sizes)) if some is None else (some.num_queries, some.num_rows)
    q, k, v = (draw(values(n, heads * count)) for n in (counts[0], counts[1], counts[1]))
    return npbert.DotProductAttention(heads), q, k, v, some


def layer_norm(draw, x, *epsilons):
    return npbert.LayerNorm(x.shape[1], INIT, eps=draw(st.sampled_from(epsilons))), x


def cross_entropy(draw, logits):
    return npbert.SoftmaxCrossEntropy(), logits, draw(targets(logits.shape[1], len(logits)))


def unpack(draw, x):
    return npbert.layers.Unpack(), x, np.array(draw(st.permutations(range(15)))[: len(x)]), (5, 3)


LAYERS = {
    "Linear": lambda draw, x: (npbert.Linear(x.shape[1], draw(sizes), INIT), x),
    "Linear, one by one": lambda draw, x: (npbert.Linear(1, 1, INIT), x[:1, :1]),
    "Tanh": lambda draw, x: (npbert.Tanh(), x),
    "ReLU": lambda draw, x: (npbert.ReLU(), x),
    "GELU": lambda draw, x: (npbert.GELU(), x),
    "TanhGELU": lambda draw, x: (npbert.TanhGELU(), x),
    "Softmax": lambda draw, x: (npbert.Softmax(), x),
    "LayerNorm": lambda draw, x: layer_norm(draw, draw(rows(draw(st.integers(3, 8)))), 1e-12, 0.3),
    "LayerNorm, awkward": lambda draw, x: layer_norm(draw, draw(MILD), 1e-2, 0.3),
    "Embedding": lambda draw, x: (npbert.Embedding(len(x), x.shape[1], INIT), draw(ids(len(x), draw(sizes)))),
    "Gather": lambda draw, x: (npbert.Gather(), x, draw(ids(len(x), draw(st.integers(0, 9))))),
    "Unpack": unpack,
    "SoftmaxCrossEntropy": lambda draw, x: cross_entropy(draw, np.clip(x, -2, 2)),
    "MeanSquaredError": lambda draw, x: (npbert.MeanSquaredError(), x % 40, draw(values(*x.shape))),
    "DotProductAttention": lambda draw, x: attention(draw),
}


@pytest.mark.parametrize("name", LAYERS)
@given(st.data(), SOME, rngs, st.sampled_from([1, 7, 10**6]), st.integers(1, 3))
def test_forward_is_the_formula_in_whatever_pieces(name, data, x, rng, block, threads):
    layer, *inputs = LAYERS[name](data.draw, x)
    randomize(layer, rng)
    with on_threads(threads), in_pieces(block), nothing_is_nan():
        y = layer(*inputs)
    wanted = np.asarray(FORMULAS[name.partition(",")[0]](layer, *inputs))
    terms = np.abs(x).max() if name.startswith("Linear") else 1  # a sum is as exact as its terms
    terms = np.minimum(np.abs(x), 1) if isinstance(layer, npbert.Elementwise) else terms
    np.testing.assert_array_equal(np.shape(y), wanted.shape)
    assert (np.abs(y - wanted) <= 1e-13 * (np.abs(wanted) + terms)).all()
