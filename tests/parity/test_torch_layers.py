"""Every layer that torch has, too, in float64: the same outputs and the same gradients, to 1e-10.

(Blocks and whole models stand beside those of transformers: test_transformers_models.py.)
"""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F  # noqa: N812

import npbert
from npbert import Init, Tape, randomize
from npbert.models.hugging_face.checkpoint import hugging_face_tensors
from tests.parity.torch_comparison import assert_close, assert_gradients_close, gradients
from tests.strategies import ids, read_of, rngs, rows, sequences, targets, values

pytestmark = pytest.mark.torch

INIT = Init(None, dtype=np.float64)  # the parameters are drawn below
D, V, C = 6, 7, 4
BOTH_TAILS = np.linspace(-8, 8, 30).reshape(-1, D)
BOTH_TAILS[0, 0] = 0  # where the derivative of ReLU is a choice


@st.composite
def queries_keys_values_sequences(draw):
    """Of some sequences only some rows are queries."""
    some = draw(sequences())
    some = draw(st.just(some) | read_of(some).map(some.only).filter(lambda some: some.num_queries > 0))
    return *(draw(values(n, D)) for n in (some.num_queries, some.num_rows, some.num_rows)), some


def attention(q, k, v, sequences):
    """torch's own, of 2 heads, one sequence after another."""
    parts = [q.split(sequences.query_lengths.tolist()), *(x.split(sequences.lengths.tolist()) for x in (k, v))]
    heads = ([part.unflatten(1, (2, -1)).swapaxes(0, 1) for part in parts] for parts in zip(*parts, strict=True))
    return torch.cat([F.scaled_dot_product_attention(*of_one).swapaxes(0, 1).flatten(1) for of_one in heads])


LAYERS = {
    "Linear": (npbert.Linear(D, 4, INIT), nn.Linear(D, 4), rows(D)),
    "Tanh": (npbert.Tanh(), nn.Tanh(), rows(D)),
    "ReLU": (npbert.ReLU(), nn.ReLU(), rows(D)),
    "GELU": (npbert.GELU(), nn.GELU(), rows(D)),
    "TanhGELU": (npbert.TanhGELU(), nn.GELU(approximate="tanh"), rows(D)),
    "Softmax": (npbert.Softmax(), nn.Softmax(dim=-1), rows(D)),
    **{
        f"LayerNorm, eps {eps}": (npbert.LayerNorm(D, INIT, eps=eps), nn.LayerNorm(D, eps=eps), rows(D))
        for eps in (1e-12, 1e-5, 0.1)  # only a large one shows that it is in the right place
    },
    "Embedding": (npbert.Embedding(V, D, INIT), nn.Embedding(V, D), ids(V, 9)),
    "Gather": (npbert.Gather(), lambda x, rows: x[rows], st.tuples(values(V, D), ids(V, 9))),
    "SoftmaxCrossEntropy": (npbert.SoftmaxCrossEntropy(), F.cross_entropy, st.tuples(values(5, C), targets(C, 5))),
    "MeanSquaredError": (
        npbert.MeanSquaredError(),
        lambda y, target: F.mse_loss(y, target.detach()),
        st.tuples(values(3, D), values(3, D)),
    ),
    "DotProductAttention": (npbert.DotProductAttention(2), attention, queries_keys_values_sequences()),
}


def as_torch(value):
    """A copy of an array, floats with a gradient; anything else as it is."""
    return torch.tensor(value, requires_grad=value.dtype.kind == "f") if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", LAYERS)
@given(st.data(), rngs)
def test_outputs_and_gradients(name, data, rng):
    layer, module, strategy = LAYERS[name]
    drawn = data.draw(strategy)
    inputs = drawn if isinstance(drawn, tuple) else (drawn,)
    if isinstance(layer, npbert.Elementwise):
        inputs = (np.concatenate([*inputs, BOTH_TAILS]),)
    randomize(layer, rng)
    layer.zero_grad()
    parameters = module.double() if isinstance(module, nn.Module) else nn.Identity()
    parameters.load_state_dict({key: torch.tensor(value) for key, value in hugging_face_tensors(layer).items()})
    parameters.zero_grad()

    tape, tensors = Tape(), [as_torch(value) for value in inputs]
    y, torch_y = layer.forward(*inputs, tape=tape), module(*tensors)
    assert_close("the output", y, torch_y)
    dy = np.asarray(rng.standard_normal(np.shape(y)))
    dx = layer.backward(dy, tape)
    torch_y.backward(torch.tensor(dy))
    dxs = dx if isinstance(dx, tuple) else () if dx is None else (dx,)
    wanted = [tensor.grad for tensor in tensors if isinstance(tensor, torch.Tensor) and tensor.grad is not None]
    of_inputs = {f"input {number}": pair for number, pair in enumerate(zip(dxs, wanted, strict=True))}
    assert_gradients_close({**of_inputs, **gradients(layer, parameters)})
