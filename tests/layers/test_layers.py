"""Every layer against its formula, and its derivative against two others, on ordinary and on awkward numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import (
    GELU,
    DotProductAttention,
    Embedding,
    Gather,
    Init,
    LayerNorm,
    Linear,
    MeanSquaredError,
    ReLU,
    SinusoidalPositions,
    Softmax,
    SoftmaxCrossEntropy,
    Tanh,
    TanhGELU,
    Unpack,
)
from npbert.gradcheck import COMPLEX_STEP, randomize
from tests import textbook
from tests.strategies import awkward, check, ids, read_of, rngs, rows, sequences, sizes, targets, values

INIT = Init(None, dtype=np.float64)


def places(draw, count, size):
    return np.array(draw(st.permutations(range(size)))[:count])


def attention(draw):
    heads, d, some = draw(st.integers(1, 3)), draw(sizes), draw(st.none() | sequences())
    length = draw(sizes) if some is None else some.num_rows
    asking = draw(sizes) if some is None else length
    if some is not None and draw(st.booleans()):
        some = some.only(draw(read_of(some)))
        asking = some.num_looking
    q, k, v = (draw(values(count, heads * d)) for count in (asking, length, length))
    return DotProductAttention(heads), q, k, v, some


def layer_norm(draw, x, epsilons):
    return LayerNorm(x.shape[1], INIT, eps=draw(st.sampled_from(epsilons))), x


SOME = sizes.flatmap(lambda count: sizes.flatmap(lambda features: awkward(count, features)))
MILD = sizes.flatmap(lambda count: st.integers(3, 6).flatmap(lambda features: awkward(count, features, largest=10)))
LAYERS = {
    "Linear": (textbook.linear, lambda draw: (Linear((x := draw(SOME)).shape[1], draw(sizes), INIT), x)),
    "Linear, one by one": (textbook.linear, lambda draw: (Linear(1, 1, INIT), draw(values(1, 1)))),
    "Tanh": (textbook.each(math.tanh), lambda draw: (Tanh(), draw(SOME))),
    "ReLU": (textbook.each(textbook.relu), lambda draw: (ReLU(), draw(SOME))),
    "GELU": (textbook.each(textbook.gelu), lambda draw: (GELU(), draw(SOME))),
    "TanhGELU": (textbook.each(textbook.tanh_gelu), lambda draw: (TanhGELU(), draw(SOME))),
    "Softmax": (textbook.softmax, lambda draw: (Softmax(), draw(SOME))),
    "LayerNorm": (textbook.layer_norm, lambda draw: layer_norm(draw, draw(rows(draw(st.integers(3, 8)))), [1e-12, 0.3])),
    "LayerNorm, awkward": (textbook.layer_norm, lambda draw: layer_norm(draw, draw(MILD), [1e-2, 0.3])),
    "Embedding": (
        textbook.embedding,
        lambda draw: (Embedding(v := draw(sizes), draw(sizes), INIT), draw(ids(v, draw(sizes)))),
    ),
    "Gather": (textbook.gather, lambda draw: (Gather(), x := draw(SOME), draw(ids(len(x), draw(st.integers(0, 9)))))),
    "Unpack": (textbook.unpack, lambda draw: (Unpack(), x := draw(SOME), places(draw, len(x), 15), (5, 3))),
    "SoftmaxCrossEntropy": (
        textbook.cross_entropy,
        lambda draw: (SoftmaxCrossEntropy(), x := draw(rows(draw(sizes))), draw(targets(x.shape[1], len(x)))),
    ),
    "MeanSquaredError": (
        textbook.squared_error,
        lambda draw: (MeanSquaredError(), x := draw(rows(draw(sizes))), x + draw(values(*x.shape))),
    ),
    "DotProductAttention": (textbook.dot_product, attention),
}
every_layer = pytest.mark.parametrize("name", LAYERS)


@every_layer
@settings(max_examples=25)
@given(st.data(), rngs)
def test_forward_is_the_formula(name, data, rng):
    formula, make = LAYERS[name]
    layer, *inputs = make(data.draw)
    randomize(layer, rng)
    y, wanted = layer(*inputs), np.asarray(formula(layer, *inputs))
    x = np.abs(inputs[0]).max(initial=1) if name.startswith("Linear") else 1  # a sum is as exact as its terms
    assert np.shape(y) == wanted.shape
    assert (np.abs(y - wanted) <= 1e-13 * (np.abs(wanted) + x)).all()


@every_layer
@given(st.data(), rngs)
def test_every_derivative_is_right(name, data, rng):
    """Where numbers are awkward, differences are of no use, but the complex step is."""
    layer, *inputs = LAYERS[name][1](data.draw)
    is_ordinary = name in ("Linear, one by one", "LayerNorm", "MeanSquaredError", "DotProductAttention")
    check(layer, *inputs, rng=rng, **({} if is_ordinary else {"tolerances": {COMPLEX_STEP: 1e-12}}))
