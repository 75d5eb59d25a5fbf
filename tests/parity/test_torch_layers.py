"""Every layer against torch in float64: the same outputs and the same gradients, to 1e-10."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F  # noqa: N812

import npbert
from npbert import BertConfig, Init, Tape, randomize
from npbert.blocks.activations import ACTIVATIONS
from npbert.blocks.bert_embeddings import POSITION_KINDS
from tests import torch_reference as reference
from tests.strategies import ids, read_of, rngs, rows, sequences, sizes, targets, values
from tests.torch_comparison import assert_close, assert_parity, assert_same_gradients, copy_parameters

pytestmark = pytest.mark.torch

INIT = Init(None, dtype=np.float64)  # assert_parity draws the parameters
widths = st.integers(3, 6)  # over 2 features, the derivative of LayerNorm is nearly 0
epsilons = st.sampled_from([1e-12, 1e-5, 0.1])  # only a large one shows that it is in the right place
each_activation = pytest.mark.parametrize("activation", ACTIVATIONS)


@given(st.data(), sizes, sizes, rngs)
def test_linear(data, in_features, out_features, rng):
    layer, module = npbert.Linear(in_features, out_features, INIT), nn.Linear(in_features, out_features)
    assert_parity(layer, module, data.draw(rows(in_features)), rng=rng)


ACTIVATION_MODULES = {
    npbert.Tanh: nn.Tanh(),
    npbert.ReLU: nn.ReLU(),
    npbert.GELU: nn.GELU(),
    npbert.TanhGELU: nn.GELU(approximate="tanh"),
}


@pytest.mark.parametrize("layer_class", ACTIVATION_MODULES)
@given(values(3, 4), rngs)
def test_activations(layer_class, drawn, rng):
    both_tails = np.linspace(-8, 8, 33)  # with 0, where the derivative of ReLU is a choice
    assert_parity(layer_class(), ACTIVATION_MODULES[layer_class], np.append(drawn, both_tails), rng=rng)


@given(st.data(), sizes, sizes, widths, rngs)
def test_softmax(data, batch_size, length, width, rng):
    assert_parity(npbert.Softmax(), nn.Softmax(dim=-1), data.draw(values(batch_size, length, width)), rng=rng)


@given(st.data(), widths, epsilons, rngs)
def test_layer_norm(data, width, eps, rng):
    layer, module = npbert.LayerNorm(width, INIT, eps=eps), nn.LayerNorm(width, eps=eps)
    assert_parity(layer, module, data.draw(rows(width)), rng=rng)


@given(values(4, 5), st.sampled_from([0.1, 0.4, 0.8]), rngs)
def test_dropout(x, p, rng):
    """torch is handed what npbert keeps: where an output of ones is not 0."""
    dropout, seed = npbert.Dropout(p), int(rng.integers(2**32))
    tape, dy = Tape(np.random.default_rng(seed)), rng.standard_normal(x.shape)
    y, torch_x = dropout.forward(x, tape), torch.tensor(x, requires_grad=True)
    torch_y = reference.Dropout(p, np.random.default_rng(seed))(torch_x)
    torch_y.backward(torch.tensor(dy))
    assert_close("y", y, torch_y)
    assert_close("dx", dropout.backward(dy, tape), torch_x.grad)


@given(st.data(), sizes, sizes, rngs)
def test_embedding(data, count, width, rng):
    layer, module = npbert.Embedding(count, width, INIT), nn.Embedding(count, width)
    assert_parity(layer, module, data.draw(ids(count, 7)), rng=rng)


@given(st.integers(2, 9), st.integers(5, 40))
def test_sinusoidal_positions(width, length):
    positions = np.arange(length)[::-1].copy()
    ours = npbert.SinusoidalPositions(length, width, INIT)(positions)
    assert_close("positions", ours, reference.SinusoidalPositions(width)(torch.tensor(positions)))


@pytest.mark.parametrize("kind", POSITION_KINDS)
@given(st.data(), sizes, sizes, widths, epsilons, rngs)
def test_bert_embeddings(kind, data, vocab_size, length, width, eps, rng):
    choices = {"position_embedding_type": kind, "layer_norm_eps": eps}
    sizes = {"max_position_embeddings": length + 1, "type_vocab_size": 3}
    config = BertConfig(vocab_size, width, num_attention_heads=1, **sizes, **choices)
    layer = npbert.BertEmbeddings(vocab_size, width, INIT, **sizes, **choices)
    inputs = (data.draw(ids(limit, 6)) for limit in (vocab_size, 3, length + 1))
    assert_parity(layer, reference.BertEmbeddings(config), *inputs, rng=rng)


@each_activation
@given(st.data(), sizes, sizes, rngs)
def test_feed_forward(activation, data, width, inner_width, rng):
    layer = npbert.FeedForward(width, inner_width, INIT, activation=activation)
    assert_parity(layer, reference.FeedForward(width, inner_width, activation), data.draw(rows(width)), rng=rng)


class FusedAttention(reference.MultiHeadAttention):
    """torch's own attention, which leaves padded keys out instead of giving them a low score."""

    def context(self, q, k, v, attention_mask):
        heads_first = (part.transpose(1, 2) for part in (q, k, v))
        real = attention_mask[:, None, None, :].bool()
        return F.scaled_dot_product_attention(*heads_first, attn_mask=real).transpose(1, 2)


@st.composite
def rows_that_look(draw, width):
    """x, z and their sequences: of some sequences only some rows look, at rows of their own."""
    all_look = draw(sequences())
    looking = draw(st.just(all_look) | read_of(all_look).map(all_look.only).filter(lambda some: some.num_looking > 0))
    return draw(values(looking.num_looking, width)), draw(values(looking.num_rows, width)), looking


@pytest.mark.parametrize("kind", [reference.MultiHeadAttention, FusedAttention])
@given(st.data(), st.integers(1, 3), sizes, rngs)
def test_attention(kind, data, heads, head_width, rng):
    width = heads * head_width
    layer, module = npbert.MultiHeadAttention(width, heads, INIT), kind(width, heads)
    inputs = data.draw(rows_that_look(width))
    assert_parity(layer, module, *inputs, rng=rng, run=reference.on_rows(module))


@each_activation
@given(st.data(), epsilons, rngs)
def test_encoder_layer_and_encoder(activation, data, eps, rng):
    config = BertConfig(9, 6, 2, 2, 5, activation, layer_norm_eps=eps)
    layers = [npbert.EncoderLayer(6, 2, 5, INIT, activation=activation, layer_norm_eps=eps) for _ in range(2)]
    modules = [reference.EncoderLayer(config) for _ in range(2)]
    x, z, looking = data.draw(rows_that_look(6))
    assert_parity(layers[0], modules[0], x, z, looking, rng=rng, run=reference.on_rows(modules[0]))

    stack, whole = reference.Encoder(modules), npbert.Sequences(looking.lengths)
    read = data.draw(st.none() | read_of(whole).filter(len))

    def run(z, whole, read):
        y = reference.on_rows(lambda x, z, mask: stack(z, mask))(z, z, whole)
        return y if read is None else y[read]

    assert_parity(npbert.Encoder(layers), stack, z, whole, read, rng=rng, run=run)


@given(st.data(), sizes, rngs)
def test_pooler_and_next_sentence_head(data, width, rng):
    x = data.draw(rows(width))
    assert_parity(npbert.Pooler(width, INIT), reference.Pooler(width), x, rng=rng)
    assert_parity(npbert.NextSentenceHead(width, INIT), nn.Linear(width, 2), x, rng=rng)


@each_activation
@given(st.data(), sizes, sizes, epsilons, rngs)
def test_masked_lm_head_tied_to_the_embedding(activation, data, vocab_size, length, eps, rng):
    """Words in, words out: the table is read by id and as the decoder, and collects both gradients."""
    embedding, torch_embedding = npbert.Embedding(vocab_size, 5, INIT), nn.Embedding(vocab_size, 5)
    options = {"activation": activation, "layer_norm_eps": eps}
    head = npbert.MaskedLMHead(embedding.weight, INIT, **options)
    torch_head = reference.MaskedLMHead(torch_embedding.weight, **options)
    randomize(head, rng)
    copy_parameters(head, torch_head)

    input_ids, tape = data.draw(ids(vocab_size, 3 * length)), Tape()
    logits = head.forward(embedding.forward(input_ids, tape), tape)
    torch_logits = torch_head(torch_embedding(torch.tensor(input_ids)))
    assert_close("logits", logits, torch_logits)

    dlogits = rng.standard_normal(logits.shape)
    embedding.backward(head.backward(dlogits, tape), tape)
    torch_logits.backward(torch.tensor(dlogits))
    assert_same_gradients(head, torch_head)


@given(st.data(), sizes, sizes, rngs)
def test_gather(data, count, width, rng):
    inputs = data.draw(values(count, width)), data.draw(ids(count, 7))
    assert_parity(npbert.Gather(), nn.Identity(), *inputs, rng=rng, run=lambda x, rows: x[rows])


@given(st.data(), sizes, sizes, rngs)
def test_cross_entropy_ignores_what_is_no_target(data, num_classes, count, rng):
    inputs = data.draw(values(count, num_classes)), data.draw(targets(num_classes, count))
    assert_parity(npbert.SoftmaxCrossEntropy(), nn.CrossEntropyLoss(ignore_index=-100), *inputs, rng=rng)


@given(values(3, 4), values(3, 4), rngs)
def test_mean_squared_error(prediction, target, rng):
    assert_parity(npbert.MeanSquaredError(), nn.MSELoss(), prediction, target, rng=rng)


def test_no_parameter_is_left_over():
    """The tool above: two sides that do not fit each other are not compared in silence."""
    with pytest.raises(ValueError, match="torch has no parameter bias"):
        copy_parameters(npbert.Linear(2, 3, INIT), nn.Linear(2, 3, bias=False))
    with pytest.raises(ValueError, match="npbert has no parameters for torch's bias"):
        copy_parameters(npbert.Embedding(3, 2, INIT), nn.Linear(2, 3))
    with pytest.raises(ValueError, match="for torch, which wants"):
        copy_parameters(npbert.Linear(2, 3, INIT), nn.Linear(3, 2))
