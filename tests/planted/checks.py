"""Checks of what no derivative can show: forwards that are wrong, and optimisers. Each fails as a test does."""

from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from npbert import IGNORED, BertConfig, Init, PackedBatch, Parameter, Reads, Tape
from npbert.catalogue import CATALOGUE
from npbert.compute import BLOCK
from npbert.data import Batch, Example
from npbert.shapes import AWKWARD
from tests.optim.test_optimizers import ADAM, test_steps_are_those_of_the_paper
from tests.optim.textbook import adam
from tests.textbook import FORMULAS

D, N, V = AWKWARD.D, AWKWARD.N, AWKWARD.V


def is_its_formula(layer_class):
    """What it computes, in each block of the catalogue, is what the textbook does."""
    is_right = any(setting.layer_class is layer_class for setting in CATALOGUE.values())
    right = layer_class if is_right else layer_class.__base__
    for name, setting in CATALOGUE.items():
        formula = FORMULAS.get(name, FORMULAS.get(name.partition(",")[0]))
        if formula and setting.layer_class is right:
            layer, inputs, _ = setting.make(layer_class)
            assert_allclose(layer(*inputs), formula(layer, *inputs), rtol=1e-6)


def constant_row_is_finite(layer_class):
    """A row without variance carries nothing, so β is all that is left; its gradient is finite."""
    layer, _, _ = CATALOGUE["LayerNorm"].make(layer_class)
    tape = Tape()
    with np.errstate(invalid="ignore"):
        y = layer(np.full((N, D), 3.0), tape)
        assert_allclose(y, np.broadcast_to(layer.beta.value, y.shape))
        assert np.isfinite(layer.backward(np.ones_like(y), tape)).all()


def a_batch_is_its_sequences(packed_class):
    """Each sequence of a batch gets what it would get alone, without padding; and padding gets 0."""
    layer, (batch,), _ = CATALOGUE["BertForPreTraining"].make()
    model, words = layer.model, []
    with mock.patch("npbert.models.pretrained.PackedBatch", packed_class):
        hidden, pooled = model.bert(batch)
        prediction_logits, relationship_logits = model(batch)
    for number, length in enumerate(batch.attention_mask.sum(axis=1)):
        alone = Batch(batch.input_ids[[number], :length], batch.token_type_ids[[number], :length])
        for got, wanted in zip((hidden[[number], :length], pooled[[number]]), model.bert(alone), strict=True):
            assert_allclose(got, wanted, rtol=1e-10)
        assert_array_equal(hidden[number, length:], 0)
        logits, relationship = model(alone)
        assert_allclose(relationship_logits[number], relationship[0], rtol=1e-10)
        words.append(logits[0, batch.labels[number, :length] != IGNORED])
    assert_allclose(prediction_logits, np.concatenate(words), rtol=1e-10)


def padding_alone_is_refused(make_batch):
    """A sequence without a single token is an error, and never a softmax over nothing."""
    with pytest.raises(ValueError, match=r"attention_mask\[1\] is all 0"):
        make_batch([[1, 2], [0, 0]], [[0, 0], [0, 0]], [[1, 1], [0, 0]])


def float32_stays_float32(layer_class):
    """y, and with it all that comes after it."""
    name = next(cls.__name__ for cls in layer_class.__mro__ if cls.__name__ in CATALOGUE)
    layer, inputs, _ = CATALOGUE[name].make(layer_class, np.float32)
    assert layer(*inputs).dtype == np.float32


def a_word_that_was_drawn_right_is_original(replaced):
    """Of three masked words, one is drawn right: its label is 0, and that of padding is −100."""
    shown = Batch([[1, 4, 4, 4, 0]], attention_mask=[[1, 1, 1, 1, 0]], labels=[[IGNORED, 5, 6, 7, IGNORED]])
    packed = PackedBatch(shown, BertConfig(9, 4, 1, 1, 4), Reads("labelled", "word"))
    batch = replaced(packed, np.array([5, 8, 3]))
    assert_array_equal(batch.input_ids, [[1, 5, 8, 3, 0]])
    assert_array_equal(batch.labels, [[0, 0, 1, 1, IGNORED]])


def bands_add_up(layer_class):
    """The gradients of a long sequence, in bands of one query, are those of the whole."""
    q, k, v, dc = np.random.default_rng(0).standard_normal((4, N, 4))

    def gradients():
        layer, tape = layer_class(2), Tape()
        layer(q, k, v, None, tape)
        return layer.backward(dc, tape)

    wanted = gradients()
    with mock.patch.multiple("npbert.compute.pieces", LONG=2, BAND=1):
        assert_allclose(gradients(), wanted, rtol=1e-9)


def padding_is_no_target(collate):
    """Padding a batch to a greater length does not change its targets."""
    example = Example([1, 5, 2], [0, 0, 1], [IGNORED, 4, IGNORED], 1)
    labels = collate([example, Example([1] * 5, [0] * 5, [IGNORED] * 5, 1)], pad_id=0).labels[:1]
    assert_array_equal(labels, [[IGNORED, 4, IGNORED, IGNORED, IGNORED]])


def all_rows_are_computed(rowwise):
    """An expression over blocks of two rows is that over all of them at once, whatever their number."""
    for count in range(3, 9):
        x = np.random.default_rng(0).standard_normal((count, BLOCK // 2))
        assert_array_equal(rowwise(np.square, x), np.square(x))


def bad_ids_are_refused(layer_class):
    """An id that is no row of the table is an error, on either side."""
    for bad in (-1, V):
        with pytest.raises(IndexError, match=rf"ids\[1\] is {bad}"):
            layer_class(V, D, Init(np.random.default_rng(0)))(np.array([0, bad]))


def dropout_keeps_the_mean(layer_class):
    """Of 100,000 ones the mean stays 1, give or take five standard deviations of 0.002."""
    y = layer_class(0.3)(np.ones(100_000), Tape(np.random.default_rng(0)))
    assert abs(y.mean() - 1) < 0.01


def adam_is_that_of_the_paper(adam_class):
    """Its steps are those of algorithm 1, and those of the next optimiser, too."""
    for _ in range(2):
        test_steps_are_those_of_the_paper(adam_class, adam, ADAM, 1.0)


def a_parameter_given_twice_is_stepped_once(adam_class):
    """Adam's first step is lr · g / (|g| + eps), so no number can go farther than lr, unless it goes twice."""
    parameter = Parameter(np.zeros(3))
    parameter.add_grad(np.array([0.1, -2.0, 30.0]))
    adam_class([parameter, parameter], lr=0.01).step()
    assert_allclose(parameter.value, [-0.01, 0.01, -0.01], rtol=1e-6)


def clipping_keeps_the_direction(clip):
    """All gradients shrink by one factor, to the joint norm that was asked for."""
    parameters = [Parameter(np.zeros(size)) for size in (3, 2)]
    for parameter, gradient in zip(parameters, ([3.0, -4.0, 0.0], [12.0, 0.0]), strict=True):
        parameter.add_grad(np.array(gradient))
    clip(parameters, 1.3)
    assert_allclose(np.concatenate([p.grad for p in parameters]), [0.3, -0.4, 0.0, 1.2, 0.0], rtol=1e-6)
