"""DistanceAttention: attention whose scores also depend on the distance of two words."""

from typing import Any

import numpy as np

from npbert.compute import Array, Piece, attention_pieces, scatter_add
from npbert.core import Sequences, Tape
from npbert.layers.dot_product_attention import DotProductAttention
from npbert.layers.relative_bias import RelativeBias
from npbert.layers.softmax import softmax_backward


class DistanceAttention(DotProductAttention):
    """C = A V  with  A = Dropout(P),  P = softmax(S),  Sᵢⱼ = qᵢ·kⱼ/√d + b[j − i],  for each head of each sequence.

    q (M, D) queries   k (N, D) keys   v (N, D) values   c (M, D)

    bias: b, a `RelativeBias` that all layers share (MPNet); None: 0.
    reach: the largest distance, beyond which b is −∞ and P is 0; None: no limit. ModernBERT's local layers have a
    window of 128, a reach of 64. A sequence is cut into bands of neighboring queries, and only scores within reach of a
    band are computed.

    (Raffel et al. 2020, "T5", section 2.1, for the bias; Beltagy et al. 2020, "Longformer", section 3.1, for the
    window.) Chapter 11 of docs/ derives it. Raises: as DotProductAttention.
    """

    def __init__(
        self, num_heads: int, dropout: float = 0.0, *, bias: RelativeBias | None = None, reach: int | None = None
    ) -> None:
        super().__init__(num_heads, dropout)
        self.bias, self.reach = bias, reach

    def scores(self, q: Array, k: Array, near: Any = None) -> Array:
        """Return S, for the distances (n, R, T) and b by distance in `near`."""
        distances, b, _ = near
        s = super().scores(q, k)
        if self.bias:
            s = s + np.moveaxis(b[distances + len(b) // 2], -1, 1)
        if self.reach is not None:
            s = np.where(np.abs(distances)[:, None] > self.reach, -np.inf, s)
        return s

    def attend_backward(
        self, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None, near: Any = None
    ) -> tuple[Array, Array, Array]:
        """(dQ, dK, dV) as in DotProductAttention, and db[δ] = Σ dSᵢⱼ over all i and j with j − i = δ.

        S is a sum, so both terms get dS unchanged. A number of b is part of every score at its distance, so their
        gradients add up. Out of reach P is 0, and so is dS.
        """
        distances, _, db = near
        if self.bias:
            ds = softmax_backward(self.dropout.apply(dc @ v.mT, mask), p)
            of_distance = distances.reshape(-1) + len(db) // 2  # (n·R·T,)
            of_heads = np.moveaxis(ds, 1, -1).reshape(-1, ds.shape[1])  # (n·R·T, heads)
            scatter_add(db, of_distance, of_heads)  # each head of each distance adds up its dS
        return super().attend_backward(dc, q, k, v, p, mask)

    def backward(self, dc: Array, tape: Tape) -> tuple[Array, Array, Array]:
        """(dq, dk, dv), piece by piece. A number of b is in all pieces, so their db add up, and so does a key's
        gradient from two bands within its reach."""
        dqkv = super().backward(dc, tape)
        dbs = tape.take(self)
        if self.bias:
            self.bias.backward(dbs.sum(axis=0), tape)
        return dqkv

    def _heads(self, sequences: Sequences, tape: Tape, *, whole: bool = False) -> list[Piece]:
        """Return the pieces, each with its distances, b (2·longest − 1, heads) by distance, and a place for db."""
        queries, lengths, at = sequences.query_lengths, sequences.lengths, sequences.query_positions
        if (at >= np.repeat(lengths, queries)).any():
            raise ValueError(f"query_positions are {at}, wanted each below the length of its sequence: {lengths}")
        pieces = attention_pieces(sequences, self.num_heads, reach=self.reach, whole=whole)
        longest = int(lengths.max())
        b = self.bias(np.arange(1 - longest, longest), tape) if self.bias else np.empty((0, self.num_heads))
        dbs = np.zeros((len(pieces), *b.shape), b.dtype)
        tape.keep(self, dbs=dbs)
        found = []
        for piece, db in zip(pieces, dbs, strict=True):
            near = piece.distances(at, sequences.positions), b[:, piece.heads], db[:, piece.heads]
            found.append(piece._replace(given={"near": near}))
        return found
