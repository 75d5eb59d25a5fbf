"""Rotary: rotates queries and keys by their position, so that their dot product depends only on the distance."""

import numpy as np

from npbert.compute import Array, DTypeLike, rowwise
from npbert.core import NO_TAPE, Layer, Tape, check_integers
from npbert.layers.checks import check_like


class Rotary(Layer):
    """(a, b) -> (a cos φ − b sin φ,  b cos φ + a sin φ)  with  φ = t · base^(−2i/d), for pair i of a row at position t.

    x (N, D)   positions t (N,) integers, 0 and up   y (N, D)

    The d features of each head are d/2 pairs, feature i with feature i + d/2, and each pair is a point in a plane,
    rotated by an angle of its frequency. The dot product of two vectors rotated by s and by t depends only on t − s:
    attention sees distances, without a table of positions. (Su et al. 2021, "RoFormer", section 3.2; the pairs as in
    Hugging Face's `rotate_half`.) Chapter 11 of docs/ derives it.

    features: d, of one head   base: the larger, the slower the last pairs rotate   dtype: of x

    (The angles are always float32, as in Hugging Face's code, for the same numbers.)

    Raises: ValueError when d is odd or does not divide D; TypeError for positions that are not integers.
    """

    def __init__(self, features: int, base: float, dtype: DTypeLike = np.float32) -> None:
        if features % 2:
            raise ValueError(f"features is {features}, wanted an even number, as rotary positions rotate pairs")
        self.features, self.base, self.dtype = features, base, dtype

    def forward(self, x: Array, positions: Array, tape: Tape = NO_TAPE) -> Array:
        if x.ndim != 2 or x.shape[1] % self.features:
            raise ValueError(f"Rotary: x is {x.shape}, wanted (N, D) with D a multiple of {self.features}")
        check_integers(positions, name="positions")
        pairs = np.arange(self.features // 2)
        frequencies = np.float32(1 / self.base ** (2 * pairs / self.features))  # from one position to the next
        angles = np.arange(positions.max(initial=-1) + 1, dtype=np.float32)[:, None] * frequencies
        cos, sin = (f(angles, dtype=float).astype(self.dtype)[positions] for f in (np.cos, np.sin))  # (N, d/2)
        tape.keep(self, shape=x.shape, dtype=x.dtype, cos=cos, sin=sin)
        return rowwise(_turned, x, cos, sin)

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx is dy rotated back, by the angles −φ.

        A rotation is the matrix R = (cos, −sin; sin, cos), so dx = Rᵀ dy, and the transpose of a rotation is the
        rotation back. It keeps lengths: rotary positions neither shrink nor enlarge a gradient.
        """
        shape, dtype, cos, sin = tape.take(self)
        check_like(self, dy, shape, dtype)
        return rowwise(_turned, dy, cos, -sin)


def _turned(x: Array, cos: Array, sin: Array) -> Array:
    """Return x (N, D) with each pair of each head rotated; cos and sin of its angle (N, d/2)."""
    half = cos.shape[1]
    pairs = x.reshape(len(x), -1, 2, half)  # (N, H, 2, d/2)
    a, b = pairs[:, :, 0], pairs[:, :, 1]
    cos, sin = cos[:, None], sin[:, None]
    turned = np.empty_like(pairs)
    turned[:, :, 0] = a * cos - b * sin
    turned[:, :, 1] = b * cos + a * sin
    return turned.reshape(x.shape)
