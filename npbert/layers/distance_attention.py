"""DistanceAttention: attention whose scores also depend on the distance of two words."""

import math

import numpy as np

from npbert.compute import Array, attention_pieces, run, scatter_add
from npbert.core import NO_TAPE, Sequences, Tape
from npbert.layers.dot_product_attention import DotProductAttention
from npbert.layers.relative_bias import RelativeBias
from npbert.layers.softmax import softmax, softmax_backward


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

    def forward(self, q: Array, k: Array, v: Array, sequences: Sequences | None = None, tape: Tape = NO_TAPE) -> Array:
        sequences = self._sequences(q, k, v, sequences)
        lengths, at = sequences.lengths, sequences.query_positions
        if (at >= np.repeat(lengths, sequences.query_lengths)).any():
            raise ValueError(f"query_positions are {at}, wanted each below the length of its sequence: {lengths}")
        pieces = attention_pieces(
            sequences.query_lengths, lengths, self.num_heads, reach=self.reach, query_positions=at
        )
        distances = [piece.distances(at, sequences.positions) for piece in pieces]
        masks = [self.dropout.draw(piece.scores_shape, tape.rng) for piece in pieces]
        b = self._bias_by_distance(int(lengths.max()), tape)
        probabilities: list[Array | None] = [None] * len(pieces)
        c = np.empty(q.shape, q.dtype)

        def work(i: int) -> None:
            piece = pieces[i]
            p = self._probabilities(piece.queries(q), piece.keys(k), distances[i], b[:, piece.heads])
            piece.queries(c)[...] = self.dropout.apply(p, masks[i]) @ piece.keys(v)
            probabilities[i] = p if tape.keeps else None

        run(work, range(len(pieces)))
        tape.keep(self, q=q, k=k, v=v, pieces=pieces, probabilities=probabilities, masks=masks)  # for dq, dk and dv
        tape.keep(self, v=v, pieces=pieces, distances=distances, p=probabilities, masks=masks, b=b)
        return c

    def backward(self, dc: Array, tape: Tape) -> tuple[Array, Array, Array]:
        """(dq, dk, dv) as in DotProductAttention, and db[δ] = Σ dSᵢⱼ over all i and j with j − i = δ.

        S is a sum, so both terms get dS unchanged. A number of b is part of every score at its distance, so their
        gradients add up. Out of reach P is 0, and so is dS. A key within reach of two bands adds up both gradients.
        """
        v, pieces, distances, probabilities, masks, b = tape.take(self)
        dqkv = DotProductAttention.backward(self, dc, tape)
        if self.bias is None:
            return dqkv
        dbs = [np.zeros_like(b) for _ in pieces]

        def work(i: int) -> None:
            piece = pieces[i]
            da = piece.queries(dc) @ piece.keys(v).swapaxes(-1, -2)
            ds = softmax_backward(self.dropout.apply(da, masks[i]), probabilities[i])
            of_distance = distances[i].reshape(-1) + len(b) // 2  # (n·R·T,)
            of_heads = np.moveaxis(ds, 1, -1).reshape(-1, ds.shape[1])  # (n·R·T, heads)
            scatter_add(dbs[i][:, piece.heads], of_distance, of_heads)  # each head of each distance adds up its dS

        run(work, range(len(pieces)))
        self.bias.backward(np.sum(dbs, axis=0), tape)
        return dqkv

    def probabilities(self, q: Array, k: Array, sequences: Sequences | None = None) -> list[Array]:
        """Return P of each sequence (H, R, T): a row for each query, with sum 1, and a column for each key."""
        sequences = self._sequences(q, k, k, sequences)
        b = self._bias_by_distance(int(sequences.lengths.max()), NO_TAPE)
        edges = np.cumsum(sequences.query_lengths)[:-1]
        queries, keys = np.split(q, edges), np.split(k, sequences.offsets[1:-1])
        at, places = np.split(sequences.query_positions, edges), map(np.arange, sequences.lengths)
        return [
            self._probabilities(self._heads(own_q), self._heads(own_k), here - there[:, None], b)
            for own_q, own_k, there, here in zip(queries, keys, at, places, strict=True)
        ]

    def _bias_by_distance(self, longest: int, tape: Tape) -> Array:
        """Return b (2·longest − 1, H) for the distances 1 − longest … longest − 1; without a bias (0, H)."""
        if self.bias is None:
            return np.zeros((0, self.num_heads))
        return self.bias(np.arange(1 - longest, longest), tape)

    def _probabilities(self, q: Array, k: Array, distances: Array, b: Array) -> Array:
        """Return P (…, heads, R, T) from q (…, heads, R, d), k (…, heads, T, d), distances (…, R, T) and b by
        distance."""
        s = (q * (1 / math.sqrt(q.shape[-1]))) @ k.swapaxes(-1, -2)
        if self.bias:
            s = s + np.moveaxis(b[distances + len(b) // 2], -1, -3)
        if self.reach is not None:
            s = np.where(np.abs(distances)[..., None, :, :] > self.reach, -np.inf, s)
        return softmax(s)
