"""What the tests draw: shapes whose sizes differ, values of size 1, ragged masks, repeated ids.

Hypothesis draws sizes, masks, ids and a seed; NumPy draws the values of large arrays from the seed. Sizes start where a
check can see: one sequence, one token or one feature would hide a transposition, an attention that is always 1, or a
gradient summed over the wrong axis. test_linear.py and test_pretraining.py try those shapes by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from npbert.gradcheck import check_gradients, randomize
from npbert.layers import IGNORED, Array, Layer, ReLU

seeds = st.integers(0, 2**32 - 1)
rngs = seeds.map(np.random.default_rng)
sizes = st.integers(2, 5)


@st.composite
def values(draw: st.DrawFn, *shape: int) -> Array:
    """Normal numbers in float64, stretched and shifted by drawn amounts."""
    scale, shift = draw(st.sampled_from([0.3, 1.0, 3.0])), draw(st.sampled_from([-1.0, 0.0, 2.0]))
    return draw(rngs).normal(shift, scale, shape)


@st.composite
def batches_of_vectors(draw: st.DrawFn, features: int) -> Array:
    """x (..., features) with one to three axes."""
    leading = draw(st.lists(sizes, min_size=0, max_size=2))
    return draw(values(*leading, features))


def ids(limit: int, *shape: int) -> st.SearchStrategy[Array]:
    """Integers below `limit`; drawn one by one, so they repeat."""
    count = int(np.prod(shape))
    return st.lists(st.integers(0, limit - 1), min_size=count, max_size=count).map(
        lambda numbers: np.array(numbers).reshape(shape)
    )


@st.composite
def attention_masks(draw: st.DrawFn, batch_size: int, length: int) -> Array:
    """(B, T) with 1 for the first tokens of each sequence and 0 after them; one sequence is all padding."""
    lengths = draw(st.lists(st.integers(1, length), min_size=batch_size, max_size=batch_size))
    lengths[draw(st.integers(0, batch_size - 1))] = 0
    return (np.arange(length) < np.array(lengths)[:, None]).astype(int)


@st.composite
def targets(draw: st.DrawFn, num_classes: int, *shape: int) -> Array:
    """Labels below `num_classes`, about half of them IGNORED, but not all."""
    labels = draw(ids(num_classes, *shape))
    ignored = draw(ids(2, *shape)).astype(bool)
    ignored.flat[draw(st.integers(0, ignored.size - 1))] = False
    return np.where(ignored, IGNORED, labels)


def prove(layer: Layer, *inputs: Any, rng: np.random.Generator) -> None:
    """Give the layer parameters of size 1 and check every derivative, in both ways."""
    randomize(layer, rng)
    check_gradients(layer, *inputs, seed=int(rng.integers(2**32))).raise_if_wrong()


activations = st.sampled_from(["gelu", "gelu_new", "relu"])


@contextmanager
def away_from_kinks() -> Iterator[None]:
    """Reject examples in which a ReLU sees a number near 0, where it has no derivative for a difference to find."""

    def forward(relu: ReLU, x: Array) -> tuple[Array, Array]:
        assume(np.abs(x.real).min() > 0.01)
        return relu_forward(relu, x)

    relu_forward = ReLU.forward
    with mock.patch.object(ReLU, "forward", forward):
        yield
