"""RelativeBias: a learned number for each head and each distance between two words."""

import math

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.layers.embedding import Embedding


class RelativeBias(Embedding):
    """y = W[bucket(δ)], for distances δ = j − i from query i to key j.

    distances (n,) integers of any sign   weight W (buckets, H)   y (n, H), one number for each head

    Short distances have a bucket each. From a quarter of the buckets on, buckets grow with the logarithm of the
    distance, and all distances beyond `max_distance` share the last. Half of the buckets are for later keys. All layers
    share one table. It is an `Embedding` of buckets: its backward adds up the gradients of a bucket's distances.
    (Raffel et al. 2020, "T5", section 2.1; MPNet's code, whose buckets these are.) Chapter 11 of docs/ derives it.
    """

    def __init__(self, num_buckets: int, num_heads: int, init: Init, *, max_distance: int = 128) -> None:
        super().__init__(num_buckets, num_heads, init)
        self.max_distance = max_distance

    def forward(self, distances: Array, tape: Tape = NO_TAPE) -> Array:
        return super().forward(self.buckets(distances), tape)

    def buckets(self, distances: Array) -> Array:
        """Return the bucket of each distance."""
        half = len(self.weight.value) // 2
        near = half // 2
        far = np.abs(distances)
        growth = np.log(np.maximum(far, 1) / near) / math.log(self.max_distance / near)
        bucket = np.where(far < near, far, np.minimum(near + (growth * (half - near)).astype(int), half - 1))
        return bucket + half * (distances > 0)
