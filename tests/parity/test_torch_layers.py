"""Every layer against torch in float64: the same outputs and the same gradients, to 1e-10."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F  # noqa: N812

from npbert import (
    GELU,
    BertConfig,
    BertEmbeddings,
    Dropout,
    Embedding,
    Encoder,
    EncoderLayer,
    FeedForward,
    Gather,
    LayerNorm,
    Linear,
    MaskedLMHead,
    MeanSquaredError,
    MultiHeadAttention,
    NextSentenceHead,
    Pooler,
    ReLU,
    SinusoidalPositions,
    Softmax,
    SoftmaxCrossEntropy,
    Tanh,
    TanhGELU,
)
from npbert.gradcheck import randomize
from npbert.layers import ACTIVATIONS, POSITION_KINDS
from tests import torch_reference as reference
from tests.strategies import attention_masks, batches_of_vectors, ids, rngs, sizes, targets, values
from tests.torch_comparison import assert_close, assert_parity, assert_same_gradients, copy_parameters

pytestmark = pytest.mark.torch

INIT = {"rng": None, "dtype": np.float64}  # assert_parity draws the parameters
widths = st.integers(3, 6)  # over 2 features, the derivative of LayerNorm is nearly 0
epsilons = st.sampled_from([1e-12, 1e-5, 0.1])  # only a large one shows that it is in the right place


class Function(nn.Module):
    """A plain function as a module without parameters."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


@given(st.data(), sizes, sizes, rngs)
def test_linear(data, in_features, out_features, rng):
    x = data.draw(batches_of_vectors(in_features))
    assert_parity(Linear(in_features, out_features, **INIT), nn.Linear(in_features, out_features), x, rng=rng)


@pytest.mark.parametrize(
    ("layer", "module"),
    [
        (Tanh(), nn.Tanh()),
        (ReLU(), nn.ReLU()),
        (GELU(), nn.GELU()),
        (TanhGELU(), nn.GELU(approximate="tanh")),
    ],
    ids=lambda side: type(side).__name__,
)
@given(values(3, 4), rngs)
def test_activations(layer, module, drawn, rng):
    both_tails = np.linspace(-8, 8, 33)  # with 0, where the derivative of ReLU is a choice
    assert_parity(layer, module, np.append(drawn, both_tails), rng=rng)


@given(st.data(), sizes, sizes, widths, rngs)
def test_softmax(data, batch_size, length, width, rng):
    assert_parity(Softmax(), nn.Softmax(dim=-1), data.draw(values(batch_size, length, width)), rng=rng)


@given(st.data(), widths, epsilons, rngs)
def test_layer_norm(data, width, eps, rng):
    x = data.draw(batches_of_vectors(width))
    assert_parity(LayerNorm(width, eps=eps, dtype=np.float64), nn.LayerNorm(width, eps=eps), x, rng=rng)


@given(values(4, 5), st.sampled_from([0.1, 0.4, 0.8]), rngs)
def test_dropout(x, p, rng):
    dropout = Dropout(p)
    y, keep = dropout.forward(x, rng)
    dy = rng.standard_normal(x.shape)
    torch_x = torch.tensor(x, requires_grad=True)
    torch_y = torch_x * torch.tensor(keep) / (1 - p)
    torch_y.backward(torch.tensor(dy))
    assert_close("y", y, torch_y)
    assert_close("dx", dropout.backward(dy, keep), torch_x.grad)


@given(st.data(), sizes, sizes, sizes, sizes, rngs)
def test_embedding(data, rows, width, batch_size, length, rng):
    assert_parity(
        Embedding(rows, width, **INIT), nn.Embedding(rows, width), data.draw(ids(rows, batch_size, length)), rng=rng
    )


@given(st.integers(2, 9), st.integers(5, 40))
def test_sinusoidal_positions(width, length):
    positions = np.arange(length)[::-1].copy()
    ours = SinusoidalPositions(length, width, dtype=np.float64)(positions)
    assert_close("positions", ours, reference.SinusoidalPositions(width)(torch.tensor(positions)))


@pytest.mark.parametrize("kind", POSITION_KINDS)
@given(st.data(), sizes, sizes, sizes, widths, epsilons, rngs)
def test_bert_embeddings(kind, data, vocab_size, batch_size, length, width, eps, rng):
    config = BertConfig(
        vocab_size=vocab_size,
        hidden_size=width,
        num_attention_heads=1,
        max_position_embeddings=length + 1,
        type_vocab_size=3,
        position_embedding_type=kind,
        layer_norm_eps=eps,
    )
    embeddings = BertEmbeddings(
        vocab_size,
        width,
        max_position_embeddings=length + 1,
        type_vocab_size=3,
        position_embedding_type=kind,
        layer_norm_eps=eps,
        **INIT,
    )
    input_ids = data.draw(ids(vocab_size, batch_size, length))
    token_type_ids = data.draw(ids(3, batch_size, length))
    assert_parity(embeddings, reference.BertEmbeddings(config), input_ids, token_type_ids, rng=rng)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@given(st.data(), sizes, sizes, rngs)
def test_feed_forward(activation, data, width, inner_width, rng):
    layer = FeedForward(width, inner_width, activation=activation, **INIT)
    module = reference.FeedForward(width, inner_width, activation)
    assert_parity(layer, module, data.draw(values(2, 3, width)), rng=rng)


@given(st.data(), st.integers(1, 3), sizes, sizes, sizes, rngs)
def test_attention(data, heads, head_width, batch_size, length, rng):
    width = heads * head_width
    mask = data.draw(st.none() | attention_masks(batch_size, length))
    layer, module = MultiHeadAttention(width, heads, **INIT), reference.MultiHeadAttention(width, heads)
    assert_parity(layer, module, data.draw(values(batch_size, length, width)), mask, rng=rng)


class FusedAttention(reference.MultiHeadAttention):
    """torch's own attention, which leaves padded keys out instead of giving them a low score."""

    def context(self, q, k, v, attention_mask):
        heads_first = (part.transpose(1, 2) for part in (q, k, v))
        real = attention_mask[:, None, None, :].bool()
        return F.scaled_dot_product_attention(*heads_first, attn_mask=real).transpose(1, 2)


@given(st.data(), st.integers(1, 3), sizes, sizes, sizes, rngs)
def test_attention_where_every_sequence_has_a_token_leaves_padding_out(
    data, heads, head_width, batch_size, length, rng
):
    width = heads * head_width
    mask = data.draw(attention_masks(batch_size, length))
    mask[:, 0] = 1  # with no key at all, torch's own attention has no answer
    layer, module = MultiHeadAttention(width, heads, **INIT), FusedAttention(width, heads)
    assert_parity(layer, module, data.draw(values(batch_size, length, width)), mask, rng=rng)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@given(st.data(), sizes, sizes, epsilons, rngs)
def test_encoder_layer_and_encoder(activation, data, batch_size, length, eps, rng):
    heads, width, inner_width = 2, 6, 5
    config = BertConfig(
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=inner_width,
        hidden_act=activation,
        layer_norm_eps=eps,
    )

    def layer():
        return EncoderLayer(width, heads, inner_width, activation=activation, layer_norm_eps=eps, **INIT)

    x, mask = data.draw(values(batch_size, length, width)), data.draw(attention_masks(batch_size, length))
    assert_parity(layer(), reference.EncoderLayer(config), x, mask, rng=rng)
    stack = reference.Encoder([reference.EncoderLayer(config), reference.EncoderLayer(config)])
    assert_parity(Encoder([layer(), layer()]), stack, x, mask, rng=rng)


@given(st.data(), sizes, sizes, sizes, rngs)
def test_pooler_and_next_sentence_head(data, batch_size, length, width, rng):
    x = data.draw(values(batch_size, length, width))
    assert_parity(Pooler(width, **INIT), reference.Pooler(width), x, rng=rng)
    assert_parity(NextSentenceHead(width, **INIT), nn.Linear(width, 2), x[:, 0], rng=rng)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@given(st.data(), sizes, sizes, epsilons, rngs)
def test_masked_lm_head_tied_to_the_embedding(activation, data, vocab_size, length, eps, rng):
    """Words in, words out: the table is read by id and as the decoder, and collects both gradients."""
    width = 5
    embedding, torch_embedding = Embedding(vocab_size, width, **INIT), nn.Embedding(vocab_size, width)
    options = {"activation": activation, "layer_norm_eps": eps}
    head = MaskedLMHead(embedding.weight, **options, **INIT)
    torch_head = reference.MaskedLMHead(torch_embedding.weight, **options)
    randomize(head, rng)
    copy_parameters(head, torch_head)

    input_ids = data.draw(ids(vocab_size, 3, length))
    x, embedding_cache = embedding.forward(input_ids)
    logits, head_cache = head.forward(x)
    torch_logits = torch_head(torch_embedding(torch.tensor(input_ids)))
    assert_close("logits", logits, torch_logits)

    dlogits = rng.standard_normal(logits.shape)
    embedding.backward(head.backward(dlogits, head_cache), embedding_cache)
    torch_logits.backward(torch.tensor(dlogits))
    assert_same_gradients(head, torch_head)


@given(st.data(), sizes, sizes, sizes, rngs)
def test_gather(data, batch_size, length, width, rng):
    x = data.draw(values(batch_size, length, width))
    positions = data.draw(ids(batch_size * length, 7))
    assert_parity(Gather(), Function(lambda x, positions: x.flatten(0, 1)[positions]), x, positions, rng=rng)


@given(st.data(), sizes, st.lists(sizes, min_size=1, max_size=2), rngs)
def test_cross_entropy_ignores_what_is_no_target(data, num_classes, shape, rng):
    logits, labels = data.draw(values(*shape, num_classes)), data.draw(targets(num_classes, *shape))

    def cross_entropy(logits, labels):
        return F.cross_entropy(logits.reshape(-1, num_classes), labels.flatten(), ignore_index=-100)

    assert_parity(SoftmaxCrossEntropy(), Function(cross_entropy), logits, labels, rng=rng)


@given(values(3, 4), values(3, 4), rngs)
def test_mean_squared_error(prediction, target, rng):
    assert_parity(MeanSquaredError(), nn.MSELoss(), prediction, target, rng=rng)


def test_no_parameter_is_left_over():
    """The tool above: two sides that do not fit each other are not compared in silence."""
    with pytest.raises(ValueError, match="torch has no parameter bias"):
        copy_parameters(Linear(2, 3, **INIT), nn.Linear(2, 3, bias=False))
    with pytest.raises(ValueError, match="npbert has no parameters for torch's bias"):
        copy_parameters(Embedding(3, 2, **INIT), nn.Linear(2, 3))
    with pytest.raises(ValueError, match="for torch, which wants"):
        copy_parameters(Linear(2, 3, **INIT), nn.Linear(3, 2))
