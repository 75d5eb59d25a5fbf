"""Every derivative of every block, compared with a difference. Of all tests, read this file first.

A gradient says how fast the loss moves with one number. So move the number a little up and a little down, and see how
far the loss moves: nothing else has to be known, or believed. In what is put together from layers, all numbers of an
array move at once, each by an amount of its own. Hypothesis draws the sizes, the ids and the values. When a gradient is
wrong, it looks for the smallest example, and prints the arrays.
"""

import inspect

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from npbert import IGNORED, Batch, BertConfig, Init, Sequences, Tape, blocks, layers, models

STEP = 2.0**-11


def difference(loss, array, direction):
    """How fast the loss moves as the array moves that way, while all others stay.

    With f the loss and h the step, f′ = (8 (f(x + h) − f(x − h)) − (f(x + 2h) − f(x − 2h))) / 12h: two central
    differences, of which the second takes away what the first is off by, but for h⁴/30 of the fifth derivative.
    """
    start, slope = array.copy(), 0.0
    for step, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
        array[...] = start + step * STEP * direction
        slope += weight * loss() / (12 * STEP)
    array[...] = start
    return slope


def one_by_one(array):
    """Directions in which one number of the array moves, and no other."""
    return np.eye(array.size).reshape(array.size, *array.shape)


def check(layer, *inputs, rng, has_loss=False, directions=one_by_one):
    """Compare every derivative of Σ dy · y, or of a model's loss, with the difference; parameters and dy are random.

    They agree within 1e-6 of the array's largest, and within what rounding leaves where all of them are 0, as of a bias
    that softmax does not notice. A sum of numbers of size |y|, or of size 1 within the layer, is rounded by some
    2⁻⁵³ Σ |dy| max(|y|, 1). Eight times that is allowed, divided by the step.
    """
    for parameter in layer.parameters():
        parameter.value[...] = values(rng, *parameter.value.shape)
    seed = rng.integers(2**32)

    def forward():
        tape = Tape(np.random.default_rng(seed))  # each call drops the same
        return as_tuple(layer.loss(*inputs, tape).loss if has_loss else layer.forward(*inputs, tape=tape)), tape

    y, tape = forward()
    dy = tuple(values(rng, *np.shape(part)) for part in y)
    dx = (layer.loss_backward if has_loss else layer.backward)(dy if len(dy) > 1 else dy[0], tape)

    named = dict(zip(inspect.signature(layer.forward).parameters, inputs, strict=False))
    arrays = {name: x for name, x in named.items() if name != "target" and getattr(x, "dtype", None) == np.float64}
    arrays |= {name: parameter.value for name, parameter in layer.named_parameters()}
    gradients = [*as_tuple(dx), *(parameter.grad for parameter in layer.parameters())]
    note("\n".join(f"{name} = {value}" for name, value in {**named, **arrays, "dy": dy}.items()))
    size = sum((np.abs(dpart) * np.maximum(np.abs(part), 1)).sum() for dpart, part in zip(dy, y, strict=True))
    for (name, array), gradient in zip(arrays.items(), gradients, strict=True):
        ways = directions(array)
        found = np.array([np.vdot(gradient, way) for way in ways])
        slopes = np.array([difference(lambda: sum(map(np.vdot, dy, forward()[0])), array, way) for way in ways])
        error = np.abs(found - slopes)
        worst = error.argmax()
        numbers = f"{found[worst]} by backward, but {slopes[worst]} by difference"
        is_right = error.max() <= 1e-6 * np.abs(slopes).max() + 8 * 2.0**-53 * size / STEP
        assert is_right, f"{type(layer).__name__}: d{name} along {ways[worst].tolist()} is {numbers}"


def as_tuple(value):
    """The outputs of a layer, or the gradients of its inputs: several, one, or none."""
    return value if isinstance(value, tuple) else () if value is None else (value,)


def values(rng, *shape):
    """Tenths from −1 to 1 without 0: easy to read, and no constant γ, no bias of 0, no ReLU at its kink."""
    return rng.integers(1, 11, shape) * rng.choice([-1, 1], shape) / 10


STRATEGIES = {
    "lengths": st.lists(st.integers(1, 3), min_size=1, max_size=3),  # of sequences
    "features": st.sampled_from([1, 3, 4]),
    "outputs": st.integers(1, 4),
    "width": st.sampled_from([2, 4]),  # of rows in pairs, which rotary positions turn
    "ids": st.lists(st.integers(0, 3), min_size=1, max_size=5).map(np.array),  # of rows, some of them twice
    "p": st.sampled_from([0.0, 0.2, 0.7]),  # the rate of dropout
    "activation": st.sampled_from(["gelu", "gelu_new"]),
    "positions": st.sampled_from(["absolute", "sinusoidal"]),
    "token_pooler": st.booleans(),
    "rng": st.builds(np.random.default_rng, st.integers(0, 10**6)),  # of the values
}
INIT, V, EPS = Init(None, dtype=np.float64), 4, 0.1  # V: words in the vocabulary; EPS: of LayerNorm, so that it counts


class Drawn:
    """An example: d.p is drawn by the strategy of that name where it is used first, and then stays."""

    def __init__(self, name, data):
        self.name, self.data, self.targets = name, data, ()

    def __getattr__(self, name):
        self.__dict__[name] = self.data.draw(STRATEGIES[name], label=name)
        return self.__dict__[name]

    @property
    def encoder_layer(self):
        return self.model().bert.encoder.layers[0]

    @property
    def mask(self):
        """(B, T): True for a token, False for the padding behind the last of a sequence."""
        return np.arange(max(self.lengths)) < np.array(self.lengths)[:, None]

    @property
    def read(self):
        """Some of all tokens, some of them twice, in ascending order."""
        return np.sort(self.ids % sum(self.lengths))

    def rows(self, count=None):
        """A row for each token."""
        return values(self.rng, sum(self.lengths) if count is None else count, self.features)

    def pairs(self):
        """A row of an even number of features for each token."""
        return values(self.rng, sum(self.lengths), self.width)

    def pre_norm(self):
        return blocks.PreNormEncoderLayer(self.features, 1, self.outputs, INIT, layer_norm_eps=EPS)

    def looking(self):
        """x, z and sequences for attention: some tokens look at all tokens of their own sequence."""
        return self.rows(len(self.read)), self.rows(), Sequences(self.lengths).only(self.read)

    def each(self, count):
        """(B,): a whole number below `count` for each sequence."""
        return self.rng.integers(count, size=len(self.lengths))

    def labels(self, count):
        """(B, T): a label for the first token, and for about half of the others; IGNORED elsewhere."""
        is_target = self.mask & (self.rng.random(self.mask.shape) < 0.5)
        is_target[0, 0] = True
        return np.where(is_target, self.rng.integers(count, size=self.mask.shape), IGNORED)

    def model(self, name="BertForPreTraining", layers=1, **options):
        options |= {"hidden_dropout_prob": self.p, "attention_probs_dropout_prob": self.p, "layer_norm_eps": EPS}
        if self.token_pooler:
            options |= {"architecture": models.Architecture(token_pooler=True, pooler_norm=True, pools="mean")}
        options |= {"hidden_act": self.activation, "position_embedding_type": self.positions}
        heads = 1 if self.features % 2 else 2
        config = BertConfig(V, self.features, layers, heads, 2, max_position_embeddings=3, **options)
        return getattr(models, name)(config, rng=None, dtype=np.float64)

    def texts(self, mask=None, num_labels=3, **targets):
        """The model, and a batch of random texts as it reads them, with padding where the mask (B, T) is False."""
        model = self.model(self.name.partition(",")[0], num_labels=num_labels)
        self.targets, mask = targets, self.mask if mask is None else mask
        ids, types = (self.rng.integers(most, size=mask.shape) * mask for most in (V, 2))
        return model, model.pack(Batch(ids, types, mask.astype(int), **targets))


PARTS = {
    "Linear": lambda d: (layers.Linear(d.features, d.outputs, INIT), d.rows()),
    "Tanh": lambda d: (layers.Tanh(), 3 * d.rows()),
    "ReLU": lambda d: (layers.ReLU(), 3 * d.rows()),
    "GELU": lambda d: (layers.GELU(), 3 * d.rows()),
    "TanhGELU": lambda d: (layers.TanhGELU(), 3 * d.rows()),
    "Softmax": lambda d: (layers.Softmax(), 3 * d.rows()),
    "SoftmaxCrossEntropy": lambda d: (layers.SoftmaxCrossEntropy(), d.rows(), d.labels(d.features)[d.mask]),
    "BinaryCrossEntropy": lambda d: (layers.BinaryCrossEntropy(), 3 * values(d.rng, *d.mask.shape), d.labels(2)),
    "ReplacedTokenHead": lambda d: (blocks.ReplacedTokenHead(d.features, INIT, activation=d.activation), d.rows()),
    "MeanSquaredError": lambda d: (layers.MeanSquaredError(), d.rows(), d.rows()),
    "LayerNorm": lambda d: (layers.LayerNorm(d.features, INIT, eps=EPS), d.rows()),
    "Dropout": lambda d: (layers.Dropout(d.p), d.rows()),
    "Embedding": lambda d: (layers.Embedding(V, d.features, INIT), d.ids),
    "Gather": lambda d: (layers.Gather(), d.rows(V), d.ids),
    "Unpack": lambda d: (layers.Unpack(), d.rows(), d.rng.permutation(np.flatnonzero(d.mask)), d.mask.shape),
    "DotProductAttention": lambda d: (d.encoder_layer.attention.dot_product, d.rows(), d.rows(), d.rows()),
    "MultiHeadAttention": lambda d: (d.encoder_layer.attention, *d.looking()),
    "FeedForward": lambda d: (blocks.FeedForward(d.features, d.outputs, INIT, activation=d.activation), d.rows()),
    "BertEmbeddings": lambda d: (d.model().bert.embeddings, d.ids, d.ids % 2, d.ids // 2),
    "Pooler": lambda d: (blocks.Pooler(d.features, INIT), d.rows()),
    "MeanPooling": lambda d: (blocks.MeanPooling(), d.rows(), Sequences(d.lengths)),
    "MaskedLMHead": lambda d: (d.model().predictions, d.rows()),
    "NextSentenceHead": lambda d: (blocks.NextSentenceHead(d.features, INIT), d.rows()),
    "SiLU": lambda d: (layers.SiLU(), 3 * d.rows()),
    "Rotary": lambda d: (layers.Rotary(2, 10.0, np.float64), d.pairs(), Sequences(d.lengths).positions),
    "RelativeBias": lambda d: (layers.RelativeBias(6, 2, INIT, max_distance=3), d.ids - 2),
    "DistanceAttention": lambda d: (
        layers.DistanceAttention(1, bias=layers.RelativeBias(6, 1, INIT, max_distance=3), reach=1),
        *(d.rows(), d.rows(), d.rows(), Sequences(d.lengths)),
    ),
    "RotaryAttention": lambda d: (
        blocks.RotaryAttention(d.width, 1, INIT, rotary=layers.Rotary(2, 10.0, np.float64)),
        *(d.pairs(), d.pairs(), Sequences(d.lengths)),
    ),
    "GatedFeedForward": lambda d: (blocks.GatedFeedForward(d.features, d.outputs, INIT), d.rows()),
    "Pooler, norm": lambda d: (
        blocks.Pooler(d.features, INIT, norm=layers.LayerNorm(d.features, INIT, eps=EPS)),
        d.rows(),
    ),
    "BertEmbeddings, projected": lambda d: (
        blocks.BertEmbeddings(V, d.features, INIT, max_position_embeddings=2, projected_size=d.outputs),
        *(d.ids, d.ids % 2, d.ids // 2),
    ),
}
WHOLES = {
    "EncoderLayer": lambda d: (d.encoder_layer, d.rows(), d.rows()),
    "EncoderLayer, padded": lambda d: (d.encoder_layer, *d.looking()),
    "Checkpointed": lambda d: (blocks.Checkpointed(d.encoder_layer), *d.looking()),
    "Encoder": lambda d: (d.model(layers=2).bert.encoder, d.rows(), Sequences(d.lengths), d.read),
    "PreNormEncoderLayer": lambda d: (d.pre_norm(), *d.looking()),
    "Encoder, pre-norm": lambda d: (
        blocks.Encoder([d.pre_norm(), d.pre_norm()], layers.LayerNorm(d.features, INIT, eps=EPS)),
        *(d.rows(), Sequences(d.lengths), d.read),
    ),
    "BertModel": lambda d: d.texts(),
    "BertForPreTraining": lambda d: d.texts(labels=d.labels(V), next_sentence_label=d.each(2)),
    "BertForMaskedLM": lambda d: d.texts(),  # without labels, it gives the logits of all tokens
    "BertForSequenceClassification": lambda d: d.texts(labels=d.each(3)),
    "BertForSequenceClassification, regression": lambda d: d.texts(num_labels=1, labels=values(d.rng, len(d.lengths))),
    "BertForTokenClassification": lambda d: d.texts(labels=d.labels(3)),
    "BertForQuestionAnswering": lambda d: d.texts(start_positions=d.each(d.lengths), end_positions=d.each(d.lengths)),
    "BertForMultipleChoice": lambda d: d.texts(np.stack([d.mask, d.mask[::-1]], axis=1), labels=d.each(2)),
}


FEW = max(2, settings.default.max_examples // 3)  # each compares every derivative


@pytest.mark.parametrize("name", PARTS)
@settings(max_examples=FEW)
@given(data=st.data())
def test_a_part(name, data):
    check(*PARTS[name](d := Drawn(name, data)), rng=d.rng)


@pytest.mark.parametrize("name", WHOLES)
@settings(max_examples=FEW)
@given(data=st.data())
def test_a_whole(name, data):
    layer, *inputs = WHOLES[name](d := Drawn(name, data))

    def at_once(array):
        return [values(d.rng, *array.shape)]

    check(layer, *inputs, rng=d.rng, has_loss=bool(d.targets), directions=at_once)
