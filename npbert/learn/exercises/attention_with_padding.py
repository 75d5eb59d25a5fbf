"""Exercise 10, part two: what goes wrong with padding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.layers.softmax import softmax
from npbert.learn.exercises.attention_padded import H, PaddedAttention
from npbert.learn.exercises.attention_products import WRONG
from npbert.learn.exercises.attention_steps import Steps
from npbert.learn.exercises.attention_with_heads import in_heads


@WRONG(
    "What comes back from queries that are padding was set to 0, but forward computed them like all others.",
    "The mask is for keys: nobody looks at padding, so p is 0 there. A query that is padding still gets a c, and "
    "where dc is not 0, it has a gradient. It is for the loss to give padding a dc of 0.",
)
def padded_queries_stopped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    is_key = p.sum(axis=(1, 2), keepdims=True) > 0  # (B, 1, 1, T)
    return tuple(map(self.merge, Steps().of(self.split(dc) * is_key.swapaxes(-1, -2), q, k, v, p, H)))


@WRONG(
    "In dQ the rows of queries that are padding are set to 0, but forward computed them like all others.",
    "The mask is for keys: nobody looks at padding, so p is 0 there. A query that is padding still gets a c, and "
    "where dc is not 0, it has a gradient.",
)
def padded_queries_zeroed(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    right = Steps().of(self.split(dc), q, k, v, p, H)
    is_key = p.sum(axis=(1, 2)) > 0  # (B, T)
    return self.merge(right.dq * is_key[:, None, :, None]), self.merge(right.dk), self.merge(right.dv)


@WRONG(
    "Padding gets a gradient: softmax was undone as if a padded key had a weight of its own.",
    "The score of a padded key is −∞ and its p is 0. Multiplied by p, everything that comes back to it is 0: "
    "dS = p · (dP − Σ dP p). Without the factor p the padding learns, too.",
)
def padding_learns(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    steps = Steps(to_scores=lambda dp, p, _: dp - (dp * p).sum(axis=-1, keepdims=True))
    return tuple(map(self.merge, in_heads(self, dc, tape, steps)))


@WRONG(
    "What comes back was set to 0 in whole sequences, those with padding, where only padded keys have nothing to do.",
    "p is 0 for a key that is padding, and that is enough. A query has a gradient, whatever else is in its sequence.",
)
def padded_sequences_stopped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    is_whole = (p != 0).all(axis=-1, keepdims=True)
    return tuple(map(self.merge, Steps().of(self.split(dc) * is_whole, q, k, v, p, H)))


@WRONG(
    "The weights are computed anew without 1/√d: they are those of other scores.",
    "p is what forward kept: use that, and compute nothing again. (S = Q Kᵀ/√d is what softmax was given.)",
)
def weights_unscaled(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    again = softmax(np.where(p > 0, q @ k.swapaxes(-1, -2), -np.inf))
    return tuple(map(self.merge, Steps().of(self.split(dc), q, k, v, again, H)))


@WRONG(
    "The weights are computed anew without the mask, so padded keys have a share in them.",
    "forward set the scores of padding to −∞ before softmax. What it kept, p, has the 0 at these keys: use that p.",
)
def mask_forgotten(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, _ = tape.take(self)
    p = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]))
    return tuple(map(self.merge, Steps().of(self.split(dc), q, k, v, p, H)))


__all__ = ["WRONG"]
