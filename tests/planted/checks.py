"""Checks of what no derivative can show: forwards that are wrong, and optimisers. Each fails with AssertionError."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from unittest import mock

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from npbert.data import Batch, Example
from npbert.layers import (
    IGNORED,
    Array,
    Dropout,
    Embedding,
    Encoder,
    Layer,
    Linear,
    Parameter,
    SoftmaxCrossEntropy,
    blockwise,
    rows,
)
from npbert.models import BertForPreTraining, TaskModel
from npbert.optim import Adam
from tests.planted.settings import (
    ATTENTION,
    CONFIG,
    ENCODER,
    IDS,
    LABELS,
    LAYER_NORM,
    MASK,
    MEAN_POOLING,
    PRETRAINING,
    TOKEN_CLASSIFICATION,
    B,
    D,
    H,
    T,
    V,
)


def constant_row_is_finite(layer_class: type[Layer]) -> None:
    """A row without variance carries nothing, so β is all that is left; its gradient is finite."""
    layer, _ = LAYER_NORM.make(layer_class)
    y, cache = layer.forward(np.full((B, D), 3.0))
    assert_allclose(y, np.broadcast_to(layer.beta.value, y.shape))
    assert np.isfinite(layer.backward(np.ones_like(y), cache)).all()


def padded_row_is_finite(layer_class: type[Layer]) -> None:
    """A sequence that is all padding gives numbers, forward and backward."""
    layer, (x, mask, rng) = ATTENTION.make(layer_class)
    y, cache = layer.forward(x, mask, rng)
    assert np.isfinite(y).all()
    assert np.isfinite(layer.backward(np.ones_like(y), cache)).all()


def padding_has_no_say_in_the_loss(model_class: type[TaskModel]) -> None:
    """The loss is that of the labelled tokens alone."""
    layer, (batch, _) = TOKEN_CLASSIFICATION.make(model_class)
    targets = batch.labels != IGNORED
    loss, _ = layer.forward(batch)
    assert_allclose(loss, SoftmaxCrossEntropy()(layer.model(batch)[targets], batch.labels[targets]))


def padding_is_not_pooled(layer_class: type[Layer]) -> None:
    """What stands at padded positions is not in the mean."""
    layer, (x, mask) = MEAN_POOLING.make(layer_class)
    assert_allclose(layer(x, mask), layer(np.where(mask[..., None] == 1, x, 9.0), mask))


def padding_has_no_say(layer_class: type[Layer]) -> None:
    """What stands at padded positions cannot reach the real ones, and what stands at real ones can."""
    layer, (x, mask, _) = ATTENTION.make(layer_class)
    real = mask == 1
    y = layer.forward(x, mask)[0][real]
    assert_allclose(layer.forward(np.where(real[..., None], x, 9.0), mask)[0][real], y)
    moved = x.copy()
    moved[0, 1] += 1
    assert not np.allclose(layer.forward(moved, mask)[0][0, 0], y[0])


def float32_stays_float32(layer_class: type[Layer]) -> None:
    """Forward, backward and the gradients keep the dtype of the parameters."""
    layer = layer_class(D, H, dropout=0.3, rng=np.random.default_rng(0))  # type: ignore[call-arg]
    rng = np.random.default_rng(1)
    x = rng.standard_normal((B, T, D), np.float32)
    y, cache = layer.forward(x, MASK, rng)
    dx = layer.backward(y, cache)
    assert {y.dtype, dx.dtype, *(parameter.grad.dtype for parameter in layer.parameters())} == {np.dtype(np.float32)}


def ignored_rows_have_no_say(loss: SoftmaxCrossEntropy) -> None:
    """The loss and its gradient are those of the rows that have a target. (C > 100, so that −100 is a valid index.)"""
    logits = np.random.default_rng(0).standard_normal((B, T, 103))
    kept = LABELS != IGNORED
    of_all, cache = loss.forward(logits, LABELS)
    of_kept, kept_cache = loss.forward(logits[kept], LABELS[kept])
    assert_allclose(of_all, of_kept)
    dlogits = loss.backward(1.0, cache)
    assert_allclose(dlogits[kept], loss.backward(1.0, kept_cache))
    assert_array_equal(dlogits[~kept], 0)


def padding_is_no_target(collate: Callable[..., Batch]) -> None:
    """Padding a batch to a greater length does not change its loss."""
    example = Example([1, 5, 2], [0, 0, 1], [IGNORED, 4, IGNORED], 1)
    model, _ = PRETRAINING.make(BertForPreTraining)
    loss, _ = model.forward(collate([example], pad_id=0))
    padded, _ = model.forward(collate([example], pad_id=0, length=5))
    assert_allclose(padded, loss)


def rows_are_those_of_the_whole(encoder_class: type[Encoder]) -> None:
    """An encoder that computes only what is read gives what it would have given of the whole."""
    layer, (x, mask, _, positions) = ENCODER.make(encoder_class)
    chosen, _ = layer.forward(x, mask, None, positions)
    whole, _ = layer.forward(x, mask)
    assert_allclose(chosen, rows(whole)[positions])


def blocks_cover_all_rows(cut: Callable[..., list[slice]]) -> None:
    """An expression over blocks of two rows is that over all of them at once, whatever their number.

    What is not written is NaN, where it could be what an earlier call left behind.
    """
    nothing = mock.patch.object(np, "empty", lambda shape, dtype: np.full(shape, np.nan, dtype))
    with mock.patch.multiple(blockwise, cut=cut, BLOCK=6), nothing:
        for count in range(3, 9):
            x = np.random.default_rng(0).standard_normal((count, 3))
            assert_allclose(blockwise.blockwise(np.square, x), np.square(x))


def bad_ids_are_refused(layer_class: type[Embedding]) -> None:
    """An id that is no row of the table is an error, on either side."""
    layer = layer_class(V, D, rng=np.random.default_rng(0))
    for bad in (-1, V):
        ids = np.where(IDS == 3, bad, IDS)
        try:
            layer(ids)
        except IndexError as error:
            assert str(bad) in str(error)
        else:
            raise AssertionError(f"id {bad} was read from a table of {V} rows")


def dropout_rests_in_evaluation(layer_class: type[Dropout]) -> None:
    x = np.random.default_rng(0).standard_normal((B, T))
    assert_array_equal(layer_class(0.3)(x), x)


def dropout_keeps_the_mean(layer_class: type[Dropout]) -> None:
    """Of 100,000 ones the mean stays 1, give or take five standard deviations of 0.002."""
    y, _ = layer_class(0.3).forward(np.ones(100_000), np.random.default_rng(0))
    assert abs(y.mean() - 1) < 0.01


def micro_batches_add_up(accumulate: Callable[..., None]) -> None:
    """Sequences one by one, with 3, 1 and 1 targets, give the gradient of all of them at once."""
    rng = np.random.default_rng(0)
    layer, loss = Linear(D, V, rng=rng, initializer_range=1.0, dtype=np.float64), SoftmaxCrossEntropy()
    x = rng.standard_normal((B, T, D))
    accumulate(layer, loss, [(x, LABELS)])
    at_once = layer.weight.grad.copy()
    layer.zero_grad()
    accumulate(layer, loss, list(zip(x, LABELS, strict=True)))
    assert_allclose(layer.weight.grad, at_once)


def adam_is_that_of_the_paper(adam_class: type[Adam]) -> None:
    """Two optimisers, stepped in turn, follow algorithm 1 number by number for five steps."""
    rng = np.random.default_rng(0)
    options = {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3}
    optimizers, expected = [], []
    for shapes in ([(3,), (2, 2), (1,)], [(2,), (3, 1)]):
        parameters = [Parameter(rng.uniform(-1, 1, shape)) for shape in shapes]
        gradients = [rng.standard_normal((5, *shape)) * 10.0 ** rng.integers(-3, 2, shape) for shape in shapes]
        optimizers.append((adam_class(parameters, **options), parameters, gradients))
        expected.append([_adam_by_numbers(p.value, g, **options) for p, g in zip(parameters, gradients, strict=True)])
    for step in range(5):
        for optimizer, parameters, gradients in optimizers:
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad[...] = gradient[step]
            optimizer.step()
    for (_, parameters, _), values in zip(optimizers, expected, strict=True):
        for parameter, value in zip(parameters, values, strict=True):
            assert_allclose(parameter.value, value, rtol=1e-12)


def _adam_by_numbers(value: Array, gradients: Array, lr: float, betas: tuple[float, float], eps: float) -> Array:
    """Kingma & Ba 2015, algorithm 1, on one Python float at a time."""
    beta1, beta2 = betas
    result = []
    for theta, gs in zip(value.ravel().tolist(), gradients.reshape(len(gradients), -1).T.tolist(), strict=True):
        m = v = 0.0
        for t, g in enumerate(gs, start=1):
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g**2
            theta -= lr * (m / (1 - beta1**t)) / (math.sqrt(v / (1 - beta2**t)) + eps)
        result.append(theta)
    return np.reshape(result, value.shape)


def shared_table_is_stepped_once(adam_class: type[Adam]) -> None:
    """Also when the caller lists the parameters of the parts, and the tied table comes twice."""
    model = BertForPreTraining(CONFIG, rng=np.random.default_rng(0), dtype=np.float64)
    parameters = [*model.bert.parameters(), *model.predictions.parameters(), *model.seq_relationship.parameters()]
    _first_step_is_at_most_lr(model, adam_class(parameters, lr=0.01))


def models_table_is_stepped_once(model_class: type[BertForPreTraining]) -> None:
    model = model_class(CONFIG, rng=np.random.default_rng(0), dtype=np.float64)
    _first_step_is_at_most_lr(model, Adam(model.parameters(), lr=0.01))


def _first_step_is_at_most_lr(model: BertForPreTraining, optimizer: Adam) -> None:
    """Adam's first step is lr · g / (|g| + eps), so no number can go farther than lr, unless it goes twice."""
    _, (batch, _) = PRETRAINING.make(BertForPreTraining)
    table = model.bert.embeddings.word_embeddings.weight.value
    before = table.copy()
    model.backward(model.loss(batch)[1])
    optimizer.step()
    moves = np.abs(table - before)
    assert 0 < moves.max() <= optimizer.lr * (1 + 1e-9)


def clipping_keeps_the_direction(clip: Callable[[Iterable[Parameter], float], Any]) -> None:
    """All gradients shrink by one factor, to the joint norm that was asked for; below it they stay."""
    parameters = [Parameter(np.zeros(size)) for size in (3, 2, 1)]
    gradients: Sequence[Array] = [np.array([3.0, -4.0, 0.0]), np.array([0.1, 0.2]), np.array([-12.0])]
    norm = math.sqrt(sum(g * g for gradient in gradients for g in gradient.tolist()))
    for max_norm in (2.0, 20.0):
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad[...] = gradient
        clip(parameters, max_norm)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            assert_allclose(parameter.grad, gradient * min(1, max_norm / norm), rtol=1e-5)
