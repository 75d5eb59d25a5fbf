"""DotProductAttention: compares each query with all keys, and returns a weighted mean of their values."""

import math
from typing import Any

import numpy as np

from npbert.compute import Array, Piece, attention_pieces, run, strands
from npbert.core import NO_TAPE, Layer, Sequences, Tape
from npbert.layers.checks import check_like
from npbert.layers.dropout import Dropout
from npbert.layers.softmax import softmax, softmax_backward


class DotProductAttention(Layer):
    """C = A V  with  A = Dropout(P),  P = softmax(S),  S = Q Kᵀ/√d, for each head of each sequence.

    q (M, D) queries   k (N, D) keys   v (N, D) values   c (M, D)
    sequences: which rows belong together; None: all rows are one sequence.

    The D features are cut into H heads of d = D / H each, and each head computes the formula with its d columns. The
    score of two vectors with d independent features of mean 0 and variance 1 has variance d: without √d, softmax would
    give nearly all weight to the largest. (Vaswani et al. 2017, section 3.2.1; dropout as in BERT's code.)

    Rows are real tokens, and each sequence has a separate product, so no padding needs a mask. `attend` and
    `attend_backward` are the formula and its derivative, for R queries and T keys of d features; k.mT is Kᵀ, with the
    last two axes swapped. The other methods pass them a few heads of a few sequences of one length at a time, so that
    the scores stay in the processor's cache.
    Chapter 6 of docs/ derives it; in exercise 10 you do.

    Raises: ValueError if H does not divide D, or if q, k, v and the sequences do not fit together; TypeError if their
    dtypes differ.
    """

    def __init__(self, num_heads: int, dropout: float = 0.0) -> None:
        self.num_heads = num_heads
        self.dropout = Dropout(dropout)

    def attend(self, q: Array, k: Array, v: Array, mask: Array | None = None, **near: Any) -> tuple[Array, Array]:
        """Return C (…, R, d) and P (…, R, T) for q (…, R, d) and k, v (…, T, d): R queries and T keys of one sequence.

        mask: of dropout, not of padding: True where it keeps an element of P; None: no dropout.
        """
        p = softmax(self.scores(q, k, **near))
        a = self.dropout.apply(p, mask)
        return a @ v, p

    def scores(self, q: Array, k: Array) -> Array:
        """Return S = Q Kᵀ/√d. (Q is scaled before the product, as it is smaller than the result.)"""
        return (q * (1 / math.sqrt(q.shape[-1]))) @ k.mT

    def attend_backward(
        self, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """dV = Aᵀ dC,  dA = dC Vᵀ,  dP and dS by the backwards of dropout and softmax,  dQ = dS K/√d,  dK = dSᵀ Q/√d.

        In a product C = A V, the gradient of each factor is dC times the other factor, transposed so that shapes fit. S
        is Q Kᵀ divided by √d, so both gradients have the factor 1/√d. Between the products is softmax, row by row: dS =
        P · (dP − Σₖ dPₖ Pₖ), derived in softmax.py and in chapter 4 of docs/.
        """
        a = self.dropout.apply(p, mask)
        dv = a.mT @ dc
        da = dc @ v.mT
        ds = softmax_backward(self.dropout.apply(da, mask), p)
        dqk = np.multiply(ds, 1 / math.sqrt(q.shape[-1]), out=ds)  # the gradient of Q Kᵀ, as S = Q Kᵀ/√d
        return dqk @ k, dqk.mT @ q, dv

    def forward(self, q: Array, k: Array, v: Array, sequences: Sequences | None = None, tape: Tape = NO_TAPE) -> Array:
        # A piece is some heads of some sequences of one length. Of an array for all rows, piece.queries and piece.keys
        # are the part (n, heads, R or T, d) that belongs to it, as views. Dropout goes by its halves, draw and apply:
        # all masks are drawn before the work begins, one after another, so that a seed gives the same on any threads.
        # piece.given is empty: only a DistanceAttention gives `attend` more.
        sequences = self._sequences(q, k, v, sequences)
        pieces = self._heads(sequences, tape)
        masks = [self.dropout.draw(piece.scores_shape, tape.rng) for piece in pieces]
        c = np.empty(q.shape, q.dtype)

        def work(i: int) -> Array | None:
            piece = pieces[i]
            c_here, p = self.attend(piece.queries(q), piece.keys(k), piece.keys(v), masks[i], **piece.given)
            piece.queries(c)[...] = c_here  # a view: this writes into c
            return p if tape.keeps and not piece.is_long else None

        probabilities = run(work, range(len(pieces)))
        tape.keep(self, q=q, k=k, v=v, pieces=pieces, probabilities=probabilities, masks=masks)
        return c

    def backward(self, dc: Array, tape: Tape) -> tuple[Array, Array, Array]:
        """Return (dq, dk, dv), by `attend_backward` for each piece.

        The pieces of a long sequence share its keys, so dk and dv add up. Its P was too large to keep: computed again.
        """
        q, k, v, pieces, probabilities, masks = tape.take(self)
        check_like(self, dc, q.shape, q.dtype)
        dq, dk, dv = np.empty_like(q), np.zeros_like(k), np.zeros_like(v)

        def work(strand: list[int]) -> None:
            for i in strand:
                piece, p = pieces[i], probabilities[i]
                own_q, own_k = piece.queries(q), piece.keys(k)
                if p is None:
                    p = softmax(self.scores(own_q, own_k, **piece.given))
                dq_here, dk_here, dv_here = self.attend_backward(
                    piece.queries(dc), own_q, own_k, piece.keys(v), p, masks[i], **piece.given
                )
                piece.queries(dq)[...] = dq_here
                piece.keys(dk)[...] += dk_here
                piece.keys(dv)[...] += dv_here

        run(work, strands(pieces))
        return dq, dk, dv

    def probabilities(self, q: Array, k: Array, sequences: Sequences | None = None) -> list[Array]:
        """Return P of each sequence (H, R, T): a row for each query, with sum 1, and a column for each key."""
        sequences = self._sequences(q, k, k, sequences)
        pieces = self._heads(sequences, NO_TAPE, whole=True)
        return [softmax(self.scores(piece.queries(q), piece.keys(k), **piece.given))[0] for piece in pieces]

    def _heads(self, sequences: Sequences, tape: Tape, *, whole: bool = False) -> list[Piece]:
        """Return all heads of all sequences, in pieces; or in one piece for each sequence."""
        return attention_pieces(sequences, self.num_heads, whole=whole)

    def _sequences(self, q: Array, k: Array, v: Array, sequences: Sequences | None) -> Sequences:
        """Return the sequences, or all rows as one. Raises: as the class."""
        if sequences is None:
            sequences = Sequences([len(k)], [len(q)])
        features = q.shape[-1]
        if features % self.num_heads:
            raise ValueError(f"num_heads is {self.num_heads}, wanted a divisor of the {features} features")
        check_like(self, q, (sequences.num_queries, features), q.dtype, name="q")
        check_like(self, k, (sequences.num_rows, features), q.dtype, name="k")
        check_like(self, v, (sequences.num_rows, features), q.dtype, name="v")
        return sequences
