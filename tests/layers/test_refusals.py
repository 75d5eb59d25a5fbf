"""What does not fit is refused by the layer that it is given to: NumPy alone would stretch it, or turn its dtype."""

import math
from functools import partial

import numpy as np
import pytest

import npbert
from npbert import IGNORED, Init, Sequences, Tape
from npbert.blocks import make_activation
from npbert.catalogue import CATALOGUE

WRONG = {
    "one row": (lambda a: a[:1], ValueError),
    "a row more": (lambda a: np.concatenate([a, a[:1]]), ValueError),
    "one feature": (lambda a: a[..., :1], ValueError),
    "a feature more": (lambda a: np.concatenate([a, a[..., :1]], axis=-1), ValueError),
    "an axis more": (lambda a: a[None], ValueError),
    "an axis less": (lambda a: a.reshape(-1), ValueError),
    "float32": (lambda a: a.astype(np.float32), TypeError),
    "a list": (lambda a: a.tolist(), TypeError),
}
BLOCKS = [name for name, setting in CATALOGUE.items() if ".models." not in setting.layer_class.__module__]
WITH_ROWS = [name for name in BLOCKS if np.ndim((made := CATALOGUE[name].make())[0](*made[1])) > 1]
ANY_WIDTH = npbert.Elementwise, npbert.Softmax, npbert.Dropout, npbert.Gather, npbert.Unpack, npbert.MeanPooling
OF_IDS = npbert.Embedding, npbert.BertEmbeddings
WITH_WIDTH = [name for name in WITH_ROWS if not issubclass(CATALOGUE[name].layer_class, (*ANY_WIDTH, *OF_IDS))]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", WITH_ROWS)
def test_a_dy_that_does_not_fit(name, wrong):
    layer, inputs, _ = CATALOGUE[name].make()
    change, error = WRONG[wrong]
    tape = Tape()
    dy = change(layer.forward(*inputs, tape=tape))
    with pytest.raises(error):
        layer.backward(dy, tape)


@pytest.mark.parametrize("wrong", [wrong for wrong in WRONG if "row" not in wrong and "list" not in wrong])
@pytest.mark.parametrize("name", WITH_WIDTH)
def test_an_x_that_does_not_fit(name, wrong):
    layer, inputs, _ = CATALOGUE[name].make()
    change, error = WRONG[wrong]
    for position in (i for i, value in enumerate(inputs) if isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        values = list(inputs)
        values[position] = change(values[position])
        with pytest.raises(error):
            layer.forward(*values, tape=Tape())


@pytest.mark.parametrize(
    "x", [[[1.0, 2.0]], np.ones((2, 3), int), np.ones((2, 3), bool), np.full((2, 3), "a")], ids=str
)
@pytest.mark.parametrize("name", ["Tanh", "ReLU", "GELU", "TanhGELU", "Softmax", "Dropout"])
def test_numbers_that_are_no_floats(name, x):
    """NumPy would make float64 of them, and a model would go on in it without a word."""
    layer, _, _ = CATALOGUE[name].make()
    for tape in (npbert.NO_TAPE, Tape(np.random.default_rng(0))):
        with pytest.raises(
            TypeError, match=rf"{type(layer).__name__}: x is (a list|of \S+), wanted an array of floats"
        ):
            layer.forward(x, tape=tape)


INIT, X, FEW = Init(None), np.zeros((5, 4), np.float32), np.arange(4)
LINEAR, NORM, HEADS = npbert.Linear(4, 3, INIT), npbert.LayerNorm(4, INIT), npbert.DotProductAttention(2)
TABLE, WAVES, GATHER = npbert.Embedding(4, 2, INIT), npbert.SinusoidalPositions(5, 4, INIT), npbert.Gather()
LOSS, SQUARES, POOLING = npbert.SoftmaxCrossEntropy(), npbert.MeanSquaredError(), npbert.MeanPooling()
EMBEDDINGS = partial(npbert.BertEmbeddings, 5, 6, INIT, max_position_embeddings=3)
TWO, LONG = Sequences([2, 3]).only(np.array([1, 2])), Sequences([2, 4])
REFUSED = [
    (lambda: LINEAR(X[:, :1]), ValueError, "Linear: x is (5, 1) of float32, wanted an array (N, 4) of float32"),
    (lambda: LINEAR([[0.0] * 4]), TypeError, "Linear: x is a list, wanted an array (N, 4) of float32"),
    (lambda: NORM(X.astype("f8")), TypeError, "LayerNorm: x is (5, 4) of float64, wanted an array (N, 4) of float32"),
    (lambda: HEADS(X, X, X, TWO), ValueError, "DotProductAttention: q is (5, 4) of float32, wanted an array (2, 4)"),
    (lambda: HEADS(X[:, 2:], X, X), ValueError, "DotProductAttention: k is (5, 4) of float32, wanted an array (5, 2)"),
    (lambda: HEADS(*[X[:, :3]] * 3), ValueError, "3 features cannot be cut into 2 heads of one size"),
    (lambda: POOLING(X, LONG), ValueError, "MeanPooling: x is (5, 4) of float32, wanted an array (6, 4)"),
    (lambda: npbert.Unpack()(X, FEW, (2, 3)), ValueError, "Unpack: x is (5, 4) of float32, wanted an array (4, 4)"),
    (lambda: TABLE(FEW - 1), IndexError, "ids[0] is -1, but the number of embeddings is 4: wanted 0 to 3"),
    (lambda: WAVES(FEW + 2), IndexError, "positions[3] is 5, but the number of positions is 5: wanted 0 to 4"),
    (lambda: GATHER(X, FEW + 2), IndexError, "rows[3] is 5, but the number of rows is 5: wanted 0 to 4"),
    (lambda: LOSS(X[:4], FEW + 1), IndexError, "labels[3] is 4, but the number of classes is 4: wanted 0 to 3"),
    (lambda: LOSS(X, np.full(5, IGNORED)), ValueError, "labels hold no target: all 5 are -100"),
    (lambda: LOSS(X, FEW), ValueError, "logits are (5, 4) and labels (4,), wanted (N, C) and (N,)"),
    (lambda: LOSS(X[None, 1:], FEW[None]), ValueError, "logits are (1, 4, 4) and labels (1, 4), wanted (N, C)"),
    (lambda: SQUARES(X, X[:1]), ValueError, "prediction has shape (5, 4), but target (1, 4)"),
    (lambda: SQUARES(X[:0], X[:0]), ValueError, "prediction and target are empty, of shape (0, 4)"),
    (lambda: npbert.Dropout(-0.1), ValueError, "dropout probability p is -0.1, wanted 0 ≤ p < 1"),
    (lambda: npbert.DotProductAttention(2, math.nan), ValueError, "dropout probability p is nan, wanted 0 ≤ p < 1"),
    (lambda: npbert.MultiHeadAttention(6, 4, INIT), ValueError, "hidden_size 6 is not divisible by num_heads 4"),
    (lambda: npbert.MultiHeadAttention(6, 0, INIT), ValueError, "hidden_size 6 is not divisible by num_heads 0"),
    (lambda: npbert.Encoder([]), ValueError, "an encoder needs at least one layer"),
    (lambda: make_activation("selu"), ValueError, "is 'selu', wanted one of gelu, gelu_new, gelu_pytorch_tanh, relu"),
    (lambda: npbert.FeedForward(3, 4, INIT, activation="selu"), ValueError, "activation is 'selu', wanted one of"),
    (lambda: EMBEDDINGS(position_embedding_type="rotary"), ValueError, "is 'rotary', wanted absolute or sinusoidal"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED, ids=[message for *_, message in REFUSED])
def test_what_is_refused_is_named_with_what_was_wanted(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)
